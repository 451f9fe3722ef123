"""Read windows of time into raw pages on disk.

Belongs here: choosing the windows, reading them in parallel, landing each page as a checkpoint, proving a window
complete. Keep out: HTTP (``service``), the content of records (``flatten``).
"""
