"""What keeps an installation healthy between loads: forget, retention, recovery of lost or damaged files.

Belongs here: whatever removes or restores what other packages made. Does not: reading from the service.
"""
