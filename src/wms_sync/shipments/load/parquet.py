"""Queries for the rows of a table in Parquet files, whatever release wrote them."""

from __future__ import annotations

from collections.abc import Sequence

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote


def rows_in_files(table: Table, files: str = "files", *, alike: bool = False) -> str:
    """Return the query for all rows in the files of the statement's parameter ``files``.

    With ``alike`` all files have the columns that flattening writes now, which the table has too; it may have more.
    """
    return sql_files.read(f"merge/rows_{'alike' if alike else 'in_files'}.sql").format(
        table=table.qualified, files=files
    )


def chosen_rows(table: Table, chosen: str, *, alike: bool = False) -> str:
    """Return the query for the rows of versions that the temporary table ``chosen`` lists, from ``$files``."""
    return sql_files.read("merge/chosen_rows.sql").format(
        columns="*" if alike else ", ".join(map(quote, table.column_names)),
        incoming=rows_in_files(table, alike=alike),
        chosen=chosen,
        root_key=quote(table.root_key),
    )


def rows_of(table: Table, files: Sequence[str]) -> str:
    """Return what to select from for the rows in these files of one load; without files it is empty."""
    if not files:
        return f"(from {table.qualified} limit 0)"
    return f"read_parquet([{', '.join(map(literal, files))}])"
