"""Read slices of old shipments again, and find, repair and report what changed without a new ``updated_at``.

Belongs here: choosing and reading a slice, comparing it with the tables, marking what the service no longer has. Does
not: how windows are read (``extract``) and merged (``analytics``).
"""
