"""Turn Parquet files into the tables that analysts query, and publish the file that they open.

Belongs here: merging windows (newer wins, children as sets, receipts), checks, marts, publishing by rename. Does not:
parsing JSON (``flatten``), deciding which windows exist (``extract``, ``state``).
"""
