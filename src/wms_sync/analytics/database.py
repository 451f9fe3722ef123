"""Open DuckDB files, and bring the tables, views and comments of the working database to what ``sql/`` defines.

When the working database is opened, existing tables are compared with their definitions, unless the last load had the
same ones. So an added column, table, mart or comment needs no migration, nor does an integer column that becomes a
decimal. Any other type, and an unknown column, is a newer release's, and refused. A table of schema ``history`` with
other columns is dropped, and the load makes it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import msgspec
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.analytics.errors import DatabaseForbidden, DatabaseNewer, DatabaseOpenError, TablesNewer
from wms_sync.analytics.foreign_log import set_aside_log
from wms_sync.analytics.lake_rows import committed_rows
from wms_sync.analytics.one_transaction import OneTransaction, filled, is_known_empty
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
from wms_sync.durable import Inaccessible, make_private, make_private_file
from wms_sync.layout import Layout, spill
from wms_sync.settings import memory_bytes

TableColumns = dict[str, tuple[str, str | None]]
"""Type and comment, by column."""


class PresentRelation(Struct, frozen=True):
    """An existing table or view; ``definition`` is a view's query, empty for a table."""

    definition: str
    comment: str | None
    columns: TableColumns


Relations = dict[tuple[str, str], PresentRelation]
"""By schema and name, sorted."""
Places = Mapping[tuple[str, str], int]
"""By schema and table: how many rows were ever written to it, without those that a compaction or checkpoint removed."""

WIDENED = ("BIGINT", "DECIMAL(18,4)")
"""Release 0.1.0 stored quantities as whole numbers."""
_HEADER = struct.Struct("<8x4sQ")
_VIEW = re.compile(r"^CREATE VIEW (\w+\.)?")
SCHEMAS = ("main", "pii", "ops", "history", "marts")


# A core usually has two virtual processors, and two threads on one core merge no faster than one.
THREADS = max(1, (os.cpu_count() or 1) // 2)


WITHOUT_LOG = {"checkpoint_threshold": "0b", "auto_checkpoint_skip_wal_threshold": "0"}
"""Settings that make each commit go straight into the file. DuckDB 1.5.5 takes a question mark in a path as the start
of options: it cuts the log's path off there, so that the log's folder does not exist."""
BLOCK = "65536"
"""Bytes of a block of a new file, DuckDB's default being 262144: each column that a load writes to takes a block, in
memory and of the processor's time. A night's statements cost a quarter less, the file is 7 % larger, and with smaller
blocks twice as large. Existing files have theirs until they are compacted or rebuilt; DuckDB 1.1 reads both."""
COSTLY = "fsst"
"""Compression that the checkpoint at the end does without. To look whether it suits a column takes a third of a night's
checkpoint, even for few rows. Large commits, which go straight into the file, and compaction use it."""
FILLED = 0.7
"""A share of the memory limit. A transaction that writes to every table takes 300 MB of it, however few the rows."""
TO_CLOSE = 100 * 1000**2
"""What the checkpoint at the end may take beyond the limit, which what was changed may use up; nothing else runs."""
FULL = 0.9
"""Likewise, with what was only read. DuckDB does not tell what of it can go: where a few rows of many blocks were
deleted, hardly any of it can."""
ROOM = 0.3
"""Likewise, where the next step is to have the memory for itself."""
LOOKS = 1 / 3
"""Likewise, which a checkpoint may take to look where rows are deleted."""
ROWS_PER_GROUP, BYTES_PER_GROUP = 122_880, 1024**2
"""What DuckDB keeps in memory of which rows of a row group are deleted, once it has looked, if each part has some."""


@contextmanager
def open_for_writing(
    path: Path, *, memory_limit: str, called: Path | None = None, like: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the database at ``path``, create what it lacks, and checkpoint and close it at the end.

    ``called`` is the path to show in errors if the file was moved into a turn's folder. ``like`` is a database with the
    definitions of this release, which a new file takes over from it: to make them takes twenty times as long. Raise
    ``DatabaseOpenError`` or ``TablesNewer``.
    """
    make_private(path.parent)
    try:
        connection = duckdb.connect(path, config=settings_of(path, memory_limit))  # type: ignore[arg-type]
    except duckdb.Error as error:
        shown = called or path
        _refuse_newer(path, shown)
        raise DatabaseOpenError(
            f"The working file {shown} cannot be opened ({_error_text(error, path, shown)}). If another program has it "
            "open, end that program. If it is damaged, delete it if it still exists. Then run again: the working file "
            "is made again from the published file, or by `wms-sync rebuild`."
        ) from None
    try:
        connection.execute("set timezone = 'UTC'")
        if like is not None:
            _define_like(connection, like)
        elif not is_as_defined(connection):
            _complete(connection)
        yield connection
        _checkpoint(connection, memory_limit)
    finally:
        connection.close()


def make_room(connection: duckdb.DuckDBPyConnection, memory_limit: str, share: float = ROOM) -> None:
    """Open the file anew if more than this share of the memory is in use."""
    if not has_room(connection, memory_limit, share):
        open_anew(connection, memory_limit)


def open_anew(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> None:
    """Close the file and open it again under the same connection, which frees its memory.

    Temporary tables stay. No transaction may be under way; a connection that is one transaction stays as it is.
    """
    if isinstance(connection, OneTransaction):
        return
    _checkpoint(connection, memory_limit)
    query = "select database_name, path from duckdb_databases() where database_name = current_database()"
    ((name, path),) = connection.execute(query).fetchall()
    connection.execute(f"attach ':memory:' as aside; use aside; detach {quote(name)}")
    connection.execute(f"attach {literal(path)} as {quote(name)}; use {quote(name)}; detach aside")
    connection.execute(f"set memory_limit = '{memory_limit}'")


def has_room(connection: duckdb.DuckDBPyConnection, memory_limit: str, share: float = ROOM) -> bool:
    """Return whether at most this share of the memory is in use, whatever for."""
    _, everything = memory_in_use(connection)
    return everything <= share * memory_bytes(memory_limit)


def _checkpoint(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> None:
    """Write what was changed into the file.

    DuckDB then looks in all tables for row groups of which most rows are deleted, and puts them together, unless there
    are too many to have in memory where rows are deleted. Compaction frees that space in the end.
    """
    limit = memory_bytes(memory_limit)
    connection.execute(f"set memory_limit = '{limit + TO_CLOSE}B'")
    looks = where_deleted(places(connection).values()) <= LOOKS * limit
    connection.execute(f"set disabled_compression_methods = '{COSTLY}'")
    with nullcontext() if looks else _older_reader(connection):
        connection.execute("checkpoint")


@contextmanager
def _older_reader(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Keep a reader of an earlier state open: as long as there is one, DuckDB leaves all rows where they are."""
    with connection.cursor() as reader:
        reader.begin()
        reader.execute("from ops.loads limit 0")
        connection.execute("delete from ops.loads where false")  # commits, or the reader's state would be the newest
        yield


def is_filled(connection: duckdb.DuckDBPyConnection, memory_limit: str, share: float = FILLED) -> bool:
    """Return whether more than this share of the memory limit is in use or spilled, without what was only read.

    With what was only read, all but ``FULL`` may be in use. DuckDB frees the memory of changed rows only when the file
    is closed, and the checkpoint then needs some as well. What is one transaction cannot be closed half done.
    """
    if isinstance(connection, OneTransaction):
        return False
    changed, everything = memory_in_use(connection)
    limit = memory_bytes(memory_limit)
    return changed > share * limit or everything > FULL * limit


def where_deleted(rows: Iterable[int]) -> float:
    """Return the bytes that DuckDB keeps in memory once it has read tables with so many rows, some of them deleted."""
    return sum(rows) / ROWS_PER_GROUP * BYTES_PER_GROUP


def memory_in_use(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Return the bytes that changes take, and that everything takes."""
    ((changed, everything),) = connection.execute(sql_files.read("queries/memory_in_use.sql")).fetchall()
    return int(changed), int(everything)


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
        "python_enable_replacements": "false",  # no variable is a table; to look imports numpy
        **(WITHOUT_LOG if "?" in str(path) else {}),
    }


@contextmanager
def open_for_reading(
    layout: Layout, path: Path, *, memory_limit: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database of ours, which must exist, for reading; times are UTC. Raise ``DatabaseOpenError``.

    With ``memory_limit``, queries take no more than that and spill into the writer's folder, as those of a load do.

    An analyst who has the published file open for writing (as root) locks all others out: then a copy is read. A
    foreign log beside the published file is renamed first.
    """
    if path == layout.published:
        set_aside_log(layout)
    try:
        with _connected(layout, path, memory_limit) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection
    except duckdb.IOException as error:  # damage may show only in a query
        raise _unreadable(path, str(error)) from None


def _connected(layout: Layout, path: Path, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    config = settings_of(layout.working_database, memory_limit) if memory_limit else {}
    try:
        return duckdb.connect(path, read_only=True, config=config)  # type: ignore[arg-type]
    except duckdb.IOException:
        _refuse_forbidden(path)
        _refuse_newer(path, path)
        copy = make_private_file(make_private(layout.work) / f"reading-{secrets.token_hex(4)}.duckdb")
    try:
        shutil.copyfile(path, copy)  # as of the last checkpoint: newer changes are in the log beside the file
        return duckdb.connect(copy, read_only=True, config=config)  # type: ignore[arg-type]
    except (duckdb.IOException, OSError) as error:
        raise _unreadable(path, _error_text(error, copy, path)) from None
    finally:
        copy.unlink()  # an open file stays readable after this, until it is closed


def _refuse_forbidden(path: Path) -> None:
    """Raise ``DatabaseForbidden`` for a file of another user, which is neither damaged nor in use."""
    try:
        path.open("rb").close()
    except PermissionError as error:
        raise DatabaseForbidden(str(Inaccessible.by(path, error))) from None
    except OSError:  # named with what is to be done about it when the file is copied
        return


def _refuse_newer(path: Path, shown: Path) -> None:
    """Raise ``DatabaseNewer`` for a file of a later storage version than this DuckDB writes at the latest."""
    with suppress(duckdb.Error, OSError), TemporaryDirectory() as folder:  # such as where that has no room either
        latest = Path(folder) / "latest.duckdb"
        duckdb.connect(latest, config={"storage_compatibility_version": "latest"}).close()
        if (_storage_version(path) or 0) > (_storage_version(latest) or 0):
            raise DatabaseNewer(shown, duckdb.__version__)


def _storage_version(path: Path) -> int | None:
    """Return the number that DuckDB's documentation of its storage puts behind the magic bytes; None if none is."""
    with suppress(OSError, struct.error), path.open("rb") as file:
        magic, version = _HEADER.unpack(file.read(_HEADER.size))
        return int(version) if magic == b"DUCK" else None
    return None


def _unreadable(path: Path, reason: str) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"{path} cannot be read ({reason}). If another program is changing it, close that program and try again. If it "
        "is damaged, move it away and run `wms-sync sync`, which publishes the tables again."
    )


def _error_text(error: Exception, path: Path, shown: Path) -> str:
    """Return the text of an error with ``shown`` in place of ``path``."""
    return f"{type(error).__name__}: {error}".replace(str(path), str(shown))


def places(connection: duckdb.DuckDBPyConnection) -> Places:
    """Read from the metadata how far each table reaches: rows are appended, and deleted ones keep their place.

    Nothing is known of a connection that is one transaction: a lake's rows have no place, and to list its tables takes
    longer than to count them.
    """
    if isinstance(connection, OneTransaction):
        return {}
    rows = connection.execute(sql_files.read("queries/places.sql")).fetchall()
    return {(schema, name): size for schema, name, size in rows}


def records(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of a query, each as a dictionary."""
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def stored_rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    """Return the rows of the ``ops`` table ``name``, with the columns in the order of its definition."""
    of = table(f"ops_{name}")
    if is_known_empty(connection, of.place):
        return []
    return connection.execute(f"select {_listed(of.column_names)} from {of.qualified}").fetchall()


def replace_rows(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    present: Iterable[object],
    stored: Iterable[tuple[object, ...]] | None = None,
) -> None:
    """Make the rows of the ``ops`` table ``name`` those of objects with its columns as attributes, in a transaction.

    Only rows that differ are written: each column of a table that is written costs the commit a block of memory.
    ``stored`` are the rows that there are, if they were read already.
    """
    of = table(f"ops_{name}")
    stored = set(stored_rows(connection, name) if stored is None else stored)
    wanted = dict.fromkeys(tuple(getattr(one, column, None) for column in of.column_names) for one in present)
    if gone := [tuple(row[of.column_names.index(key)] for key in of.keys) for row in stored - wanted.keys()]:
        keys = _listed(of.keys)
        given = _given(of, of.keys)
        connection.execute(
            f"delete from {of.qualified} where ({keys}) in (select ({keys}) from ({given}))", [_as_json(of.keys, gone)]
        )
    if new := [row for row in wanted if row not in stored]:
        given = _given(of, of.column_names)
        connection.execute(f"insert into {of.qualified} by name {given}", [_as_json(of.column_names, new)])
        filled(connection, of.place)


def _given(of: Table, columns: Collection[str]) -> str:
    """Return a query for rows of a table that are bound as one value: a value each takes seven times as long."""
    types = {one.name: "varchar" if one.type == "json" else one.type for one in of.columns if one.name in columns}
    return f"select unnest(from_json(?, {literal(json.dumps([types]))}), recursive := true)"


def _as_json(columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> str:
    return msgspec.json.encode([dict(zip(columns, row, strict=True)) for row in rows]).decode()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quote, names))


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit at the end, and roll back after an error. A commit fails only if there is too little memory for it."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    try:
        connection.commit()
    except duckdb.TransactionException as error:  # it is rolled back; nobody else writes, so there are no conflicts
        raise duckdb.OutOfMemoryException(str(error)) from error


def has_ops_table(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Return whether there is this table of ``ops``; the next load adds it to what an older release has made."""
    try:
        connection.execute(f"select 1 from ops.{quote(table)} limit 0")
    except duckdb.CatalogException:
        return False
    return True


def row_counts(
    connection: duckdb.DuckDBPyConnection, of: Iterable[Table] | None = None, *, committed: bool = True
) -> dict[str, int]:
    """Return the number of rows of each table, by ``Table.slug``; by default of those that ``flatten`` fills.

    A table that there is not yet, because no load was made since it was defined, has none. Where there is none of them,
    the database is not ours: then DuckDB's ``CatalogException`` is raised. ``committed`` says that this connection has
    changed nothing that is not committed: then a lake's catalogue counts all tables at once.
    """
    asked = tuple(of or tables())
    if committed and (in_lake := committed_rows(connection)) is not None:
        return {one.slug: in_lake.get(one.place, 0) for one in asked}
    held = tuple(one for one in asked if not is_known_empty(connection, one.place))
    try:
        counted = _counted(connection, held)
    except duckdb.CatalogException:  # only now: to list the tables of a lake takes longer than to count them
        present = set(connection.execute("select schema_name, table_name from duckdb_tables()").fetchall())
        counted = _counted(connection, tuple(one for one in held if one.place in present) or held)
    return {one.slug: counted.get(one.slug, 0) for one in asked}


def rows_left(connection: duckdb.DuckDBPyConnection, *, is_as_left: bool) -> dict[str, int]:
    """Return the same of the published tables; if they are surely as a load left them, as its checks noted it."""
    known = {}
    if is_as_left:
        known = dict(connection.execute("select distinct table_slug, rows_in_table from ops.checks").fetchall())
    return known if known.keys() >= {one.slug for one in tables()} else row_counts(connection)


def _counted(connection: duckdb.DuckDBPyConnection, of: Iterable[Table]) -> dict[str, int]:
    if not of:
        return {}
    counts = (f"select {literal(one.slug)}, count(*) from {one.qualified}" for one in of)
    return dict(connection.execute("\nunion all\n".join(counts)).fetchall())


def create_empty(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every schema, table and mart of ``sql/`` in a database that has none of them."""
    _create_schemas(connection)
    for relation in relations():
        connection.execute(relation.create)


def _create_schemas(connection: duckdb.DuckDBPyConnection) -> None:
    for schema in SCHEMAS:
        connection.execute(f"create schema if not exists {quote(schema)}")


def _complete(connection: duckdb.DuckDBPyConnection) -> None:
    """Create or adapt schemas, tables, views and comments, as ``sql/`` defines them.

    This is one transaction: hundreds of statements that each commit alone take ten times as long.
    """
    connection.begin()
    complete(connection)
    connection.commit()


def complete(connection: duckdb.DuckDBPyConnection, *, comments_on_views: bool = True) -> None:
    """Do the same in the caller's transaction; without ``comments_on_views``, not for comments on columns of views."""
    _create_schemas(connection)
    present = relations_in(connection)
    wanted = defined() if present else {}  # which takes 0.1 s
    for one in (*tables(), *ops_tables()):
        if one.place in present:
            _adapt_columns(connection, one, present[one.place].columns, wanted[one.place].columns)
        else:
            connection.execute(one.create)
    for one in history_tables():
        if one.place in present and _types(present[one.place]) != _types(wanted[one.place]):
            present.pop(one.place)
            connection.execute(f"drop table {one.qualified}")
            connection.execute("update ops.loads set in_history = null")  # the load makes all of it from Parquet files
        if one.place not in present:
            connection.execute(one.create)
    for mart in marts():
        if mart.place not in present or not _is_same_view(present[mart.place], wanted[mart.place]):
            connection.execute(mart.create)
            present.pop(mart.place, None)  # replacing a view deletes its comments
    if changed := [*_changed_comments(present, on_views=comments_on_views)]:
        # there is nothing to optimize in a thousand comments, and DuckDB takes as long to find that out as for the rest
        connection.execute(";\n".join(("pragma disable_optimizer", *changed, "pragma enable_optimizer")))


def _define_like(connection: duckdb.DuckDBPyConnection, like: Path) -> None:
    ((own,),) = connection.execute("select current_database()").fetchall()
    connection.execute(f"attach {literal(str(like))} as alike (read_only)")
    connection.execute(f"copy from database alike to {quote(own)} (schema)")
    connection.execute("detach alike")


def drop_everything(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every table and view, in the caller's transaction."""
    for (schema, name), relation in relations_in(connection).items():
        kind = "view" if relation.definition else "table"
        connection.execute(f"drop {kind} {quote(schema)}.{quote(name)}")


@cache
def definitions() -> str:
    """Return a digest of the definitions of all tables and marts."""
    return hashlib.sha256("".join(one.create for one in relations()).encode()).hexdigest()[:16]


def is_as_defined(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the last load had the definitions of this release: comparing everything takes 0.1 s."""
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
    """Return whether a view has the wanted query and the wanted columns and types.

    Quotes are ignored: until the file is opened again, DuckDB quotes some names that it does not quote afterwards. So
    is the schema of the view, which DuckLake leaves out.
    """
    one, other = (
        (_VIEW.sub("", relation.definition.replace('"', "")), _types(relation)) for relation in (present, wanted)
    )
    return one == other


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
        elif (present[column][0], kind) == WIDENED:
            connection.execute(f"alter table {table.qualified} alter column {quote(column)} type {kind}")
        elif present[column][0] != kind:
            raise TablesNewer(
                f"{table.schema}.{table.name}.{column} is {present[column][0]}, and {kind} in this release"
            )


def _changed_comments(present: Relations, *, on_views: bool) -> Iterator[str]:
    """Yield the statements that bring the comments of tables, marts and columns to those of the catalogue."""
    for kind, of_kind in (("table", stored_tables()), ("view", marts())):
        for relation in of_kind:
            there = present.get(relation.place, PresentRelation("", None, {}))
            if there.comment != relation.comment:
                yield f"comment on {kind} {relation.qualified} is {literal(relation.comment)}"
            for column in relation.columns if on_views or kind == "table" else ():
                if there.columns.get(column.name, ("", None))[1] != column.comment:
                    name = f"{relation.qualified}.{quote(column.name)}"
                    yield f"comment on column {name} is {literal(column.comment)}"
