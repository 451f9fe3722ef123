"""The tables, which are in a DuckDB file or in a lake (``ducklake``, an extra).

``target`` is the protocol of both. Belongs here: opening the tables, loading them as a private copy, publishing it,
erasing data from it. Keep out: which rows a load merges and checks (``shipments.load``).
"""
