"""Load Parquet into the tables that analysts query: merge, check, publish.

``refresh`` is one load. Belongs here: merging windows (newer wins, children as sets, receipts), data that a window
omits, history, checks. Keep out: parsing JSON (``flatten``), the place of the tables (``targets``).
"""
