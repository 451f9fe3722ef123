"""Keep an installation healthy between loads: forget orders, drop old pages, recover lost files, back up, restore.

Belongs here: code that removes, copies or restores files and rows of other packages. Keep out: requests to the service.
"""
