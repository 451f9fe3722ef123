"""The working database: opened for writing, its tables, views and comments brought to what ``sql/`` says.

What is there is compared with the definitions at each opening, so an added column, table, mart or comment needs no
migration, nor does a whole number that may have decimals now. Another changed type does: ``wms-sync rebuild``.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from wms_sync import sql_files
from wms_sync.analytics.errors import DatabaseOpenError, SchemaChangedError
from wms_sync.analytics.foreign_log import set_aside_log
from wms_sync.catalogue import Table, literal, marts, ops_tables, quote, tables
from wms_sync.durable import make_private, make_private_file
from wms_sync.layout import Layout, spill
from wms_sync.settings import memory_bytes

TableColumns = dict[str, tuple[str, str | None]]
"""Type and comment by column."""


@dataclass(frozen=True)
class _Relation:
    """A table or view that is there; ``definition`` is a view's query, empty for a table."""

    definition: str
    comment: str | None
    columns: TableColumns


Relations = dict[tuple[str, str], _Relation]
"""By schema and name."""

WIDENED = ("BIGINT", "DECIMAL(18,4)")
"""Quantities that release 0.1.0 had as whole numbers."""
SCHEMAS = ("main", "pii", "ops", "marts")


# Virtual processors come two to a core, and two threads on one core merge no faster than one.
THREADS = max(1, (os.cpu_count() or 1) // 2)


WITHOUT_LOG = {"checkpoint_threshold": "0b", "auto_checkpoint_skip_wal_threshold": "0"}
"""Each commit goes straight into the file. DuckDB 1.5.5 takes a question mark in a path for the beginning of options
and names the log before it, in a folder that is not there."""
FILLED = 0.6
"""Of the memory; a transaction that changes a thousand shipments took 300 MB at three million."""


@contextmanager
def opened(path: Path, *, memory_limit: str, called: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database at ``path``, made or completed as needed; checkpointed and closed at the end.

    ``called`` is what people know it by, where it was taken into a turn's folder.
    """
    make_private(path.parent)
    try:
        connection = duckdb.connect(path, config=_settings(path, memory_limit))  # type: ignore[arg-type]
    except duckdb.Error as error:
        shown = called or path
        raise DatabaseOpenError(
            f"The working file {shown} cannot be opened ({_told(error, path, shown)}). If another program holds it, "
            "end that; if it is damaged, delete it if it is still there, and run again: it is made again from the "
            "published file, or by `wms-sync rebuild`."
        ) from None
    try:
        connection.execute("set timezone = 'UTC'")
        _complete(connection)
        yield connection
        connection.execute("checkpoint")
    finally:
        connection.close()


@contextmanager
def reopened(path: Path, *, memory_limit: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database that was just written and closed, to be read with all the memory: what writing took is given back."""
    with duckdb.connect(path, read_only=True, config=_settings(path, memory_limit)) as connection:  # type: ignore[arg-type]
        connection.execute("set timezone = 'UTC'")
        yield connection


def is_filled(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> bool:
    """Whether more than ``FILLED`` of the memory is in use or spilled.

    What changed rows take is not given back before the file is closed, and the checkpoint then needs some too.
    """
    query = "select sum(memory_usage_bytes + temporary_storage_bytes) from duckdb_memory()"
    ((used,),) = connection.execute(query).fetchall()
    return bool(used > FILLED * memory_bytes(memory_limit))


def _settings(path: Path, memory_limit: str) -> dict[str, str]:
    return {
        "memory_limit": memory_limit,
        "threads": str(THREADS),
        "temp_directory": str(make_private(spill(path.parent))),
        "preserve_insertion_order": "false",
        "checkpoint_threshold": "64MB",  # a commit as large as this goes straight into the file, without the log
        "autoinstall_known_extensions": "false",
        **(WITHOUT_LOG if "?" in str(path) else {}),
    }


@contextmanager
def published(layout: Layout) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published file, which must exist, opened to be read, whoever has it open; times are UTC."""
    with reading(layout, layout.published) as connection:
        yield connection


@contextmanager
def reading(layout: Layout, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of ours, which must exist, opened to be read; times are UTC. Raises ``DatabaseOpenError``.

    An analyst who has the published file open for writing (as root) locks all others out of it; then a copy is read. A
    log beside it is set aside before.
    """
    if path == layout.published:
        set_aside_log(layout)
    try:
        with _connected(layout, path) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection
    except duckdb.IOException as error:  # a query may be what finds the damage
        raise _unreadable(path, str(error)) from None


def _connected(layout: Layout, path: Path) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(path, read_only=True)
    except duckdb.IOException:
        copy = make_private_file(make_private(layout.work) / f"reading-{secrets.token_hex(4)}.duckdb")
    try:
        shutil.copyfile(path, copy)  # as of the last checkpoint; what is newer is in a log beside the file
        return duckdb.connect(copy, read_only=True)
    except (duckdb.IOException, OSError) as error:
        raise _unreadable(path, _told(error, copy, path)) from None
    finally:
        copy.unlink()  # and it is there until it is closed


def _unreadable(path: Path, told: str) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"{path} cannot be read ({told}). If another program is changing it, close that and try again; if it is "
        "damaged, move it away and run `wms-sync sync`, which publishes the tables again."
    )


def _told(error: Exception, path: Path, shown: Path) -> str:
    """The words of an error with the name that a file is known by."""
    return f"{type(error).__name__}: {error}".replace(str(path), str(shown))


def records(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """What a query returned, a dictionary a row."""
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def replace_rows(connection: duckdb.DuckDBPyConnection, table: str, present: Iterable[object]) -> None:
    """Replace the rows of a table of ``ops``, named without its schema, by objects with its columns as attributes."""
    schema = connection.execute(f"from ops.{quote(table)} limit 0").to_arrow_table().schema
    rows = pa.Table.from_pylist([vars(one) for one in present], schema=schema)
    connection.register("present_rows", rows)
    connection.begin()
    connection.execute(f"delete from ops.{quote(table)}")
    connection.execute(f"insert into ops.{quote(table)} by name from present_rows")
    connection.commit()
    connection.unregister("present_rows")


def row_counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of each table, by ``Table.slug``."""
    counted = {}
    for table in tables():
        row = connection.execute(f"select count(*) from {table.qualified}").fetchone()
        counted[table.slug] = int(row[0]) if row else 0
    return counted


def _complete(connection: duckdb.DuckDBPyConnection) -> None:
    """In one transaction: hundreds of statements that each commit alone take ten times as long."""
    connection.begin()
    for schema in SCHEMAS:
        connection.execute(f"create schema if not exists {quote(schema)}")
    present, wanted = _present(connection), _defined()
    for table in (*tables(), *ops_tables()):
        if table.place in present:
            _adapt_columns(connection, table, present[table.place].columns, wanted[table.place].columns)
        else:
            connection.execute(table.create)
    for mart in marts():
        if not _is_same_view(present.get(mart.place), wanted[mart.place]):
            connection.execute(mart.create)
            present.pop(mart.place, None)  # it has lost its comments
    if missing := [*_missing_comments(present)]:
        connection.execute(";\n".join(missing))
    connection.commit()


@cache
def _defined() -> Relations:
    """The tables and views as ``sql/`` defines them, in DuckDB's own words."""
    with duckdb.connect() as scratch:
        for schema in SCHEMAS:
            scratch.execute(f"create schema if not exists {quote(schema)}")
        for relation in (*tables(), *ops_tables(), *marts()):
            scratch.execute(relation.create)
        return _present(scratch)


def _present(connection: duckdb.DuckDBPyConnection) -> Relations:
    found: Relations = {}
    rows = connection.execute(sql_files.read("queries/present_relations.sql")).fetchall()
    for schema, name, definition, comment in rows:
        found[schema, name] = _Relation(definition, comment, {})
    rows = connection.execute(sql_files.read("queries/present_columns.sql")).fetchall()
    for schema, name, column, kind, comment in rows:
        found[schema, name].columns[column] = (kind, comment)
    return found


def _is_same_view(present: _Relation | None, wanted: _Relation) -> bool:
    """Whether it is the same query with the same columns, of the same types.

    Until the file is opened again, DuckDB writes some names in quotes that it writes without them afterwards.
    """
    if present is None:
        return False
    one, other = (
        (relation.definition.replace('"', ""), [(name, kind) for name, (kind, _) in relation.columns.items()])
        for relation in (present, wanted)
    )
    return one == other


def _adapt_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, present: TableColumns, wanted: TableColumns
) -> None:
    for column, (kind, _) in wanted.items():
        if column not in present:
            connection.execute(f"alter table {table.qualified} add column {quote(column)} {kind}")
        elif (present[column][0], kind) == WIDENED:
            connection.execute(f"alter table {table.qualified} alter column {quote(column)} type {kind}")
        elif present[column][0] != kind:
            raise SchemaChangedError(
                f"Column {column} of {table.schema}.{table.name} is {present[column][0]} in the database and {kind} in "
                "sql/tables. Run `wms-sync rebuild`: it makes every table again from the raw pages."
            )


def _missing_comments(present: Relations) -> Iterator[str]:
    """The statements that bring the comments of tables, marts and columns to what the catalogue says."""
    for kind, relations in (("table", (*tables(), *ops_tables())), ("view", marts())):
        for relation in relations:
            there = present.get(relation.place, _Relation("", None, {}))
            if there.comment != relation.comment:
                yield f"comment on {kind} {relation.qualified} is {literal(relation.comment)}"
            for column in relation.columns:
                if there.columns.get(column.name, ("", None))[1] != column.comment:
                    name = f"{relation.qualified}.{quote(column.name)}"
                    yield f"comment on column {name} is {literal(column.comment)}"
