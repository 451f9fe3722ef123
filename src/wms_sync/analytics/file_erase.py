"""Remove the personal data of orders from the working and the published file.

A file is written anew, because DuckDB leaves deleted rows in it; once, if both are the same.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Collection
from pathlib import Path

import duckdb

from wms_sync.analytics import database
from wms_sync.analytics.persons import concerned_tables, held_rows, kept_rows, prepare, present_columns
from wms_sync.analytics.publish import publish
from wms_sync.catalogue import literal, quote, stored_tables
from wms_sync.layout import Layout
from wms_sync.state.turns import Turn

OLD = "old"


def erase(turn: Turn, memory_limit: str, order_ids: Collection[int], *, anyway: bool) -> tuple[int, int]:
    """Clean the working and the published file; return how many rows of these orders each had."""
    layout = turn.layout
    is_published = _is_published(layout)
    held = _clean_database(turn, memory_limit, layout.working_database, order_ids, anyway=anyway)
    if not is_published:
        return held, _clean_database(turn, memory_limit, layout.published, order_ids, anyway=anyway)
    if held or anyway:
        publish(turn, layout, layout.working_database)
    return held, held


def _is_published(layout: Layout) -> bool:
    """Return whether the published file is a copy of the working file, as after every load that succeeded."""
    working, published = layout.working_database, layout.published
    if not (working.exists() and published.exists()) or layout.working_log.exists():
        return False
    return filecmp.cmp(working, published, shallow=False)


def _clean_database(turn: Turn, memory_limit: str, path: Path, order_ids: Collection[int], *, anyway: bool) -> int:
    """Write a database anew without the rows of these orders; return how many there were.

    ``anyway``: write it anew even if it has none, because the file may still contain rows that a merge replaced.
    """
    if not path.exists():
        return 0
    layout = turn.layout
    source = path
    if path == layout.published:  # work on a copy: an analyst may have it open
        source = turn.temporary("published.duckdb")
        shutil.copyfile(path, source)
    with duckdb.connect(source, read_only=True) as connection:
        held = sum(held_rows(connection, order_ids).values())
        like = source if database.is_as_defined(connection) else None
    if held or anyway:
        fresh = turn.temporary("forgetting.duckdb")
        with database.open_for_writing(fresh, memory_limit=memory_limit, like=like) as connection:
            _copy(connection, source, order_ids)
        if path == layout.working_database:
            turn.put_in_place(fresh, path)
        else:
            publish(turn, layout, fresh)
            fresh.unlink()
    if source != path:
        source.unlink()
    return held


def _copy(connection: duckdb.DuckDBPyConnection, source: Path, order_ids: Collection[int]) -> None:
    """Copy everything that stays into the empty tables of a new database."""
    prepare(connection, order_ids)
    connection.execute(f"attach {literal(str(source))} as {quote(OLD)} (read_only)")
    present = present_columns(connection, literal(OLD))
    concerned = concerned_tables()
    for table in stored_tables():
        there = present.get((table.schema, table.name), set())
        columns = ", ".join(quote(column) for column in table.column_names if column in there)
        if columns:
            stored = f"{quote(OLD)}.{table.qualified}"
            rows = kept_rows(table, there, stored) if table in concerned else f"select {columns} from {stored}"
            connection.execute(f"insert into {table.qualified} ({columns}) {rows}")
    connection.execute(f"detach {quote(OLD)}")
