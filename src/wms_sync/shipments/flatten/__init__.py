"""Flatten raw pages to Parquet: DuckDB reads the objects of pages as typed rows, and each table is a SELECT from them.

``workers`` is the entry point, ``window`` flattens a window in batches, ``batch`` flattens some of its pages. ``page``
is one raw file, ``shape`` the tree of types (from ``sql/types``). ``gate`` checks whether a page can be read unchanged,
and ``repair`` fixes a page that cannot. Keep out: the meaning of columns (``sql/tables``), their computation
(``sql/flatten``), merging (``load``). Specification: 2.3 to 2.6.
"""
