"""Flatten raw pages to Parquet: DuckDB decodes a page once, into typed structs, and each table is a SELECT from them.

``batch`` is the entry point, ``page`` is one raw file, ``shape`` the tree of types (from ``sql/types``), ``gate`` the
check that decides whether a page can be read as it is, and ``repair`` mends one that cannot. Keep out: what a column
means (``sql/tables``), how it is computed (``sql/flatten``), merging (``load``). Specification: 2.3 to 2.6.
"""
