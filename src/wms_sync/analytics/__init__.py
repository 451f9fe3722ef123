"""From Parquet to the tables that analysts query, and the file they open.

Belongs here: merging windows (newer wins, children as sets, receipts), checks, marts, publishing by rename. Does not:
JSON (``flatten``), which windows exist (``extract``, ``state``).
"""
