"""Raw pages to Parquet: a page is decoded once, by DuckDB, into typed structs, and each table is a SELECT of it.

``batch`` runs it, ``page`` is one raw file, ``shape`` the tree of types (from ``sql/types``), ``gate`` the check that
every page passes beside the read, ``repair`` the slow way of a page that does not. Does not belong here: what a column
means (``sql/tables``), how it is computed (``sql/flatten``), merging (``analytics``). Specification: 2.3 to 2.6.
"""
