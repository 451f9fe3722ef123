"""Read windows of time into raw pages on disk.

Belongs here: choosing the windows, reading them in parallel, landing each page as a checkpoint, proving a window
complete. Does not: HTTP (``api``), what a record means (``flatten``).
"""
