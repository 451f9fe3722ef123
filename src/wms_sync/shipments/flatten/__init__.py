"""Flatten raw pages to Parquet: DuckDB decodes a page once, into typed structs, and each table is a SELECT from them.

``batch`` is the entry point, ``page`` is one raw file, ``shape`` is the tree of types (from ``sql/types``), ``gate``
checks whether a page can be read unchanged, and ``repair`` fixes a page that cannot. Keep out: the meaning of columns
(``sql/tables``), their computation (``sql/flatten``), merging (``load``). Specification: 2.3 to 2.6.
"""
