"""From windows of time to raw pages on disk.

Belongs here: which windows to read, reading them side by side, landing each page as a checkpoint, proving a window
complete. Does not: HTTP (``api``), what a record means (``flatten``).
"""
