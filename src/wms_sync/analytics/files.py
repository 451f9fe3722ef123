"""Queries for the rows of a table in Parquet files, whatever release wrote them."""

from __future__ import annotations

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote


def rows_in_files(table: Table, files: str = "files") -> str:
    """Return the query for all rows in the files of the statement's parameter ``files``."""
    return sql_files.read("merge/rows_in_files.sql").format(table=table.qualified, files=files)


def chosen_rows(table: Table, chosen: str) -> str:
    """Return the query for the rows of versions that the temporary table ``chosen`` lists, from ``$files``."""
    return sql_files.read("merge/chosen_rows.sql").format(
        columns=", ".join(map(quote, table.column_names)),
        incoming=rows_in_files(table),
        chosen=chosen,
        root_key=quote(table.root_key),
    )
