"""Load Parquet into the tables that analysts query: merge, check, publish.

``refresh`` is one load. Belongs here: merging windows (the newest version wins, with its children; receipts), data that
a window omits, history, checks. Keep out: parsing JSON (``flatten``), where the tables are (``targets``).
"""
