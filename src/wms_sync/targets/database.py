"""Open DuckDB files, and adapt tables, views and comments to the definitions in ``sql/``.

A load compares the existing tables with their definitions, unless the last load had the same definitions. So an added
column, table, mart or comment needs no migration. A changed type or an unknown column comes from a newer release and is
refused. If the columns of a table in schema ``history`` differ from its definition, the load rebuilds all tables.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import msgspec
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import (
    Table,
    history_tables,
    literal,
    marts,
    ops_tables,
    quote,
    relations,
    stored_tables,
    table,
    tables,
)
from wms_sync.layout import Layout, spill
from wms_sync.storage.durable import Inaccessible, make_private, make_private_file
from wms_sync.targets.errors import DatabaseForbidden, DatabaseNewer, DatabaseOpenError, TablesNewer
from wms_sync.targets.foreign_log import keep_foreign_log

TableColumns = dict[str, tuple[str, str | None]]
"""The type and comment of each column, by name."""


class PresentRelation(Struct, frozen=True):
    """An existing table or view; ``definition`` is a view's query, empty for a table."""

    definition: str
    comment: str | None
    columns: TableColumns


Relations = dict[tuple[str, str], PresentRelation]
"""Existing tables and views by schema and name, sorted."""
_HEADER = struct.Struct("<8x4sQ")
_VIEW = re.compile(r"^CREATE VIEW (\w+\.)?")
SCHEMAS = ("main", "pii", "ops", "history", "marts")


# A core usually has two virtual processors, and two threads on one core merge no faster than one.
THREADS = max(1, (os.cpu_count() or 1) // 2)


WITHOUT_LOG = {"checkpoint_threshold": "0b", "auto_checkpoint_skip_wal_threshold": "0"}
"""Settings that make each commit go straight into the file. DuckDB 1.5.5 reads a question mark in a path as the start
of options: it cuts off the log's path there, so the log's folder does not exist."""
BLOCK = "65536"
"""The block size of a new file in bytes; DuckDB's default is 262144. Each column that a load writes costs a block, in
memory and processor time. With this size a nightly load costs a quarter less and the file is 7 % larger; with smaller
blocks the file is twice as large. Existing files keep their block size until they are compacted or rebuilt; DuckDB 1.1
reads both sizes."""


class Session:
    """The tables of a load, open for writing. Each step is a transaction, unless the whole load is one."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, is_one_transaction: bool = False) -> None:
        self.connection = connection
        self._is_one_transaction = is_one_transaction

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, and roll back after an error. A commit fails only for lack of memory."""
        if self._is_one_transaction:
            yield
            return
        self.connection.begin()
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        try:
            self.connection.commit()
        except duckdb.TransactionException as error:  # rolled back; a single writer has no conflicts
            raise duckdb.OutOfMemoryException(str(error)) from error


@contextmanager
def open_for_writing(
    path: Path, *, memory_limit: str, called: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the database at ``path``, create missing objects, and checkpoint and close it at the end.

    ``called`` is the path to show in errors if the file is a copy. Raise ``DatabaseOpenError`` or ``TablesNewer``.
    """
    try:
        connection = duckdb.connect(path, config=settings_of(path, memory_limit))  # type: ignore[arg-type]
    except duckdb.Error as error:
        shown = called or path
        _refuse_newer(path, shown)
        raise _unreadable(shown, _error_text(error, path, shown)) from None
    try:
        connection.execute("set timezone = 'UTC'")
        if not is_as_defined(connection):
            _complete(connection)
        yield connection
        connection.execute("checkpoint")
    finally:
        connection.close()


def settings_of(path: Path, memory_limit: str) -> dict[str, str]:
    """Return DuckDB's settings for writing the file at ``path``."""
    return {
        "memory_limit": memory_limit,
        "threads": str(THREADS),
        "temp_directory": str(make_private(spill(path.parent))),
        "preserve_insertion_order": "false",
        "checkpoint_threshold": "64MB",  # a commit of this size goes straight into the file, without the log
        "default_block_size": BLOCK,
        "autoinstall_known_extensions": "false",
        "python_enable_replacements": "false",  # the lookup of variables as tables imports numpy
        **(WITHOUT_LOG if "?" in str(path) else {}),
    }


@contextmanager
def open_for_reading(
    layout: Layout, path: Path, *, memory_limit: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an existing database of wms-sync for reading; times are UTC. Raise ``DatabaseOpenError``.

    With ``memory_limit``, queries take no more than that and spill into the writer's folder, like the queries of a
    load.

    An analyst who has the published file open for writing (as root) locks everyone else out; then a copy is read. A log
    that another program left next to the published file is renamed first.
    """
    if path == layout.published:
        keep_foreign_log(layout)
    try:
        with _connected(layout, path, memory_limit) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection
    except duckdb.IOException as error:  # damage may appear only in a query
        raise _unreadable(path, str(error)) from None


def _connected(layout: Layout, path: Path, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    config = settings_of(layout.work / path.name, memory_limit) if memory_limit else {}
    try:
        return duckdb.connect(path, read_only=True, config=config)  # type: ignore[arg-type]
    except duckdb.IOException:
        _refuse_forbidden(path)
        _refuse_newer(path, path)
        copy = make_private_file(make_private(layout.work) / f"reading-{secrets.token_hex(4)}.duckdb")
    try:
        shutil.copyfile(path, copy)  # as of the last checkpoint: newer changes are in the log next to the file
        return duckdb.connect(copy, read_only=True, config=config)  # type: ignore[arg-type]
    except (duckdb.IOException, OSError) as error:
        raise _unreadable(path, _error_text(error, copy, path)) from None
    finally:
        copy.unlink()  # an open file stays readable after this, until it is closed


def _refuse_forbidden(path: Path) -> None:
    """Raise ``DatabaseForbidden`` if this user may not read the file, which then is neither damaged nor in use."""
    try:
        path.open("rb").close()
    except PermissionError as error:
        raise DatabaseForbidden(str(Inaccessible.by(path, error))) from None
    except OSError:  # copying the file reports it with advice
        return


def _refuse_newer(path: Path, shown: Path) -> None:
    """Raise ``DatabaseNewer`` if the file's storage version is later than the latest that this DuckDB writes."""
    with suppress(duckdb.Error, OSError), TemporaryDirectory() as folder:  # such as a full temporary folder
        latest = Path(folder) / "latest.duckdb"
        duckdb.connect(latest, config={"storage_compatibility_version": "latest"}).close()
        if (_storage_version(path) or 0) > (_storage_version(latest) or 0):
            raise DatabaseNewer(shown, duckdb.__version__)


def _storage_version(path: Path) -> int | None:
    """Return the number after the magic bytes (DuckDB's documentation of its storage); None if there is none."""
    with suppress(OSError, struct.error), path.open("rb") as file:
        magic, version = _HEADER.unpack(file.read(_HEADER.size))
        return int(version) if magic == b"DUCK" else None
    return None


def _unreadable(path: Path, reason: str) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"{path} cannot be read ({reason}). If another program is changing it, close that program and try again. If it "
        "is damaged, move it to another folder and run `wms-sync sync`, which publishes the tables again."
    )


def _error_text(error: Exception, path: Path, shown: Path) -> str:
    """Return the text of an error with ``shown`` in place of ``path``."""
    return f"{type(error).__name__}: {error}".replace(str(path), str(shown))


def records(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of a query, each as a dictionary."""
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def stored_rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    """Return the rows of the ``ops`` table ``name``, with the columns in the order of its definition."""
    of = table(f"ops_{name}")
    return connection.execute(f"select {_listed(of.column_names)} from {of.qualified}").fetchall()


def replace_rows(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    present: Iterable[object],
    stored: Iterable[tuple[object, ...]] | None = None,
) -> None:
    """Replace the rows of the ``ops`` table ``name``, in the caller's transaction.

    ``present`` are objects with the table's columns as attributes; ``stored`` are the existing rows, if the caller has
    read them. Only rows that differ are written: each written column costs the commit a block of memory.
    """
    of = table(f"ops_{name}")
    stored = set(stored_rows(connection, name) if stored is None else stored)
    wanted = dict.fromkeys(tuple(getattr(row, column, None) for column in of.column_names) for row in present)
    if gone := [tuple(row[of.column_names.index(key)] for key in of.keys) for row in stored - wanted.keys()]:
        keys = _listed(of.keys)
        given = _given(of, of.keys)
        connection.execute(
            f"delete from {of.qualified} where ({keys}) in (select ({keys}) from ({given}))", [_as_json(of.keys, gone)]
        )
    if new := [row for row in wanted if row not in stored]:
        given = _given(of, of.column_names)
        connection.execute(f"insert into {of.qualified} by name {given}", [_as_json(of.column_names, new)])


def _given(of: Table, columns: Collection[str]) -> str:
    """Return a query for rows that are bound as one parameter: one parameter per value takes seven times as long."""
    types = {
        column.name: "varchar" if column.type == "json" else column.type
        for column in of.columns
        if column.name in columns
    }
    return f"select unnest(from_json(?, {literal(json.dumps([types]))}), recursive := true)"


def _as_json(columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> str:
    return msgspec.json.encode([dict(zip(columns, row, strict=True)) for row in rows]).decode()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quote, names))


def row_counts(connection: duckdb.DuckDBPyConnection, of: Iterable[Table] | None = None) -> dict[str, int]:
    """Return the number of rows of each table, by ``Table.slug``; by default of the tables that ``flatten`` fills.

    A table that no load has created yet counts as empty. If none of the tables exists, the database is not wms-sync's:
    raise DuckDB's ``CatalogException``.
    """
    asked = tuple(of or tables())
    try:
        counted = _counted(connection, asked)
    except duckdb.CatalogException:
        present = set(connection.execute("select schema_name, table_name from duckdb_tables()").fetchall())
        counted = _counted(connection, tuple(table for table in asked if table.place in present) or asked)
    return {table.slug: counted.get(table.slug, 0) for table in asked}


def _counted(connection: duckdb.DuckDBPyConnection, of: Iterable[Table]) -> dict[str, int]:
    counts = (f"select {literal(table.slug)}, count(*) from {table.qualified}" for table in of)
    return dict(connection.execute("\nunion all\n".join(counts)).fetchall())


def create_empty(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every schema, table and mart of ``sql/`` in an empty database."""
    _create_schemas(connection)
    for relation in relations():
        connection.execute(relation.create)


def _create_schemas(connection: duckdb.DuckDBPyConnection) -> None:
    for schema in SCHEMAS:
        connection.execute(f"create schema if not exists {quote(schema)}")


def _complete(connection: duckdb.DuckDBPyConnection) -> None:
    """Create or adapt schemas, tables, views and comments to the definitions in ``sql/``.

    This is one transaction: hundreds of statements with a commit each take ten times as long.
    """
    connection.begin()
    complete(connection)
    connection.commit()


def complete(connection: duckdb.DuckDBPyConnection, *, comments_on_views: bool = True) -> None:
    """Create or adapt schemas, tables, views and comments, in the caller's transaction.

    Without ``comments_on_views``, skip comments on columns of views.
    """
    _create_schemas(connection)
    present = relations_in(connection)
    wanted = defined() if present else {}  # takes 0.1 s
    for defined_table in (*tables(), *ops_tables()):
        if (place := defined_table.place) in present:
            _adapt_columns(connection, defined_table, present[place].columns, wanted[place].columns)
        else:
            connection.execute(defined_table.create)
    for history in history_tables():
        if history.place not in present:
            connection.execute(history.create)
    for mart in marts():
        if mart.place not in present or not _is_same_view(present[mart.place], wanted[mart.place]):
            connection.execute(mart.create)
            present.pop(mart.place, None)  # replacing a view deletes its comments
    if changed := [*_changed_comments(present, on_views=comments_on_views)]:
        # a thousand comments have nothing to optimize, and the optimizer would double the time
        connection.execute(";\n".join(("pragma disable_optimizer", *changed, "pragma enable_optimizer")))


def has_other_history(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the columns of a table in schema ``history`` differ from ``sql/``, so that it must be rebuilt."""
    if is_as_defined(connection):
        return False
    present, wanted = relations_in(connection), defined()
    return any(
        history.place in present and _types(present[history.place]) != _types(wanted[history.place])
        for history in history_tables()
    )


def drop_everything(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every table and view, in the caller's transaction."""
    for (schema, name), relation in relations_in(connection).items():
        kind = "view" if relation.definition else "table"
        connection.execute(f"drop {kind} {quote(schema)}.{quote(name)}")


@cache
def definitions() -> str:
    """Return a digest of the definitions of all tables and marts."""
    return hashlib.sha256("".join(relation.create for relation in relations()).encode()).hexdigest()[:16]


def is_as_defined(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the last load had the definitions of this release. Comparing everything would take 0.1 s."""
    try:
        return connection.execute("select definitions from ops.latest_load").fetchall() == [(definitions(),)]
    except (duckdb.CatalogException, duckdb.BinderException):
        return False


@cache
def defined() -> Relations:
    """Return the tables and views that ``sql/`` defines, in DuckDB's own spelling."""
    with duckdb.connect() as scratch:
        create_empty(scratch)
        return relations_in(scratch)


def relations_in(connection: duckdb.DuckDBPyConnection) -> Relations:
    """Return every table and view of the open database."""
    found: Relations = {}
    rows = connection.execute(sql_files.read("queries/present_relations.sql")).fetchall()
    for schema, name, definition, comment in rows:
        found[schema, name] = PresentRelation(definition, comment, {})
    rows = connection.execute(sql_files.read("queries/present_columns.sql")).fetchall()
    for schema, name, column, kind, comment in rows:
        found[schema, name].columns[column] = (kind, comment)
    return found


def _is_same_view(present: PresentRelation, wanted: PresentRelation) -> bool:
    """Return whether a view has the defined query, columns and types.

    Quotes are ignored, because DuckDB quotes some names until the file is opened again. The schema of the view is
    ignored too, because DuckLake omits it.
    """
    mine, other = (
        (_VIEW.sub("", relation.definition.replace('"', "")), _types(relation)) for relation in (present, wanted)
    )
    return mine == other


def _types(relation: PresentRelation) -> list[tuple[str, str]]:
    return [(name, kind) for name, (kind, _) in relation.columns.items()]


def _adapt_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, present: TableColumns, wanted: TableColumns
) -> None:
    if unknown := sorted(present.keys() - wanted.keys()):
        raise TablesNewer(
            f"{table.schema}.{table.name} has columns that this release does not know ({', '.join(unknown)})"
        )
    for column, (kind, _) in wanted.items():
        if column not in present:
            connection.execute(f"alter table {table.qualified} add column {quote(column)} {kind}")
        elif present[column][0] != kind:
            raise TablesNewer(
                f"{table.schema}.{table.name}.{column} is {present[column][0]}, and {kind} in this release"
            )


def _changed_comments(present: Relations, *, on_views: bool) -> Iterator[str]:
    """Yield the statements that give tables, marts and columns the comments of the catalogue."""
    for kind, of_kind in (("table", stored_tables()), ("view", marts())):
        for relation in of_kind:
            there = present.get(relation.place, PresentRelation("", None, {}))
            if there.comment != relation.comment:
                yield f"comment on {kind} {relation.qualified} is {literal(relation.comment)}"
            for column in relation.columns if on_views or kind == "table" else ():
                if there.columns.get(column.name, ("", None))[1] != column.comment:
                    name = f"{relation.qualified}.{quote(column.name)}"
                    yield f"comment on column {name} is {literal(column.comment)}"
