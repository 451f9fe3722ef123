"""Load Parquet into the tables that analysts query: merge, check, publish.

``refresh`` is one load. Belongs here: merging windows (newer wins, children as sets, receipts), what a window did not
ask for, history, checks. Keep out: parsing JSON (``flatten``), where the tables are kept (``targets``).
"""
