"""Keep an installation healthy between loads: forget orders, drop old pages, recover lost files, back up, restore.

Belongs here: code that removes or restores what other packages wrote. Does not: reading from the service.
"""
