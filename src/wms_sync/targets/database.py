"""Read and write rows, and adapt tables, views and comments to the definitions in ``sql/``.

A load compares the existing tables with their definitions, unless the last load had the same definitions. So an added
column, table, mart or comment needs no migration. A changed type or an unknown column comes from a newer release and is
refused. If the columns of a table in schema ``history`` differ from its definition, the load rebuilds all tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import duckdb
import msgspec
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import (
    Table,
    literal,
    marts,
    quote,
    relations,
    stored_tables,
    table,
    tables,
)
from wms_sync.targets.errors import TablesNewer

TableColumns = dict[str, tuple[str, str | None]]
"""The type and comment of each column, by name."""
SCHEMAS = ("main", "pii", "ops", "history", "marts")
Opened = AbstractContextManager[duckdb.DuckDBPyConnection]
"""An open connection for the length of a block; times are UTC."""


class PresentRelation(Struct, frozen=True):
    """An existing table or view; ``definition`` is a view's query, empty for a table."""

    definition: str
    comment: str | None
    columns: TableColumns


Relations = dict[tuple[str, str], PresentRelation]
"""Existing tables and views by schema and name, sorted."""


class Maintained(Struct, frozen=True):
    """The result of maintenance: the number of rewritten tables, of files before and after, and of deleted files."""

    tables: int
    files_before: int
    files: int
    deleted: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts for the record of the run."""
        return {"tables_put_together": self.tables, "files_left": self.files, "files_deleted": self.deleted}


class Session:
    """The tables of a load, open for writing. Each step is a transaction, unless the whole load is one."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, is_one_transaction: bool = False) -> None:
        self.connection = connection
        self._is_one_transaction = is_one_transaction

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, and roll back after an error. A refused commit means a lack of memory."""
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


def records(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of a query, each as a dictionary."""
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def number_in(result: duckdb.DuckDBPyConnection) -> int:
    """Return the only number of a result: a count, or the number of rows that a statement changed."""
    row = result.fetchone()
    return int(row[0]) if row else 0


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
    if gone := [_by_column(of, row) for row in stored - wanted.keys()]:
        keys, given = _listed(of.keys), _given(of, of.keys)
        connection.execute(
            f"delete from {of.qualified} where ({keys}) in (select ({keys}) from ({given}))",
            [msgspec.json.encode(gone).decode()],
        )
    if new := [row for row in wanted if row not in stored]:
        insert_rows(connection, of, [_by_column(of, row) for row in new])


def insert_rows(connection: duckdb.DuckDBPyConnection, of: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows, given by column; keys that are no column are left out."""
    connection.execute(
        f"insert into {of.qualified} by name {_given(of, of.column_names)}", [msgspec.json.encode(rows).decode()]
    )


def _given(of: Table, columns: Collection[str]) -> str:
    """Return a query for rows that are bound as one parameter: one parameter per value takes seven times as long."""
    types = {
        column.name: "varchar" if column.type == "json" else column.type
        for column in of.columns
        if column.name in columns
    }
    return f"select unnest(from_json(?, {literal(json.dumps([types]))}), recursive := true)"


def _by_column(of: Table, row: tuple[object, ...]) -> dict[str, object]:
    return dict(zip(of.column_names, row, strict=True))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quote, names))


def receipts(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the ids of the windows that are in the tables."""
    return frozenset(row[0] for row in connection.execute("select window_id from ops.loads").fetchall())


def row_counts(connection: duckdb.DuckDBPyConnection, of: Iterable[Table] | None = None) -> dict[str, int]:
    """Return the number of rows of each table, by ``Table.slug``; by default of the tables that ``flatten`` fills.

    A table that no load has created yet counts as empty. If none of the tables exists, the database is not wms-sync's:
    raise DuckDB's ``CatalogException``.
    """
    asked = tuple(of or tables())
    present = set(connection.execute("select schema_name, table_name from duckdb_tables()").fetchall())
    counted = [table for table in asked if table.place in present] or asked
    counts = (f"select {literal(table.slug)}, count(*) from {table.qualified}" for table in counted)
    return dict.fromkeys((table.slug for table in asked), 0) | dict(
        connection.execute("\nunion all\n".join(counts)).fetchall()
    )


def create_empty(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every schema, table and mart of ``sql/`` in an empty database."""
    _create_schemas(connection)
    for relation in relations():
        connection.execute(relation.create)


def _create_schemas(connection: duckdb.DuckDBPyConnection) -> None:
    for schema in SCHEMAS:
        connection.execute(f"create schema if not exists {quote(schema)}")


def complete(connection: duckdb.DuckDBPyConnection, *, comments_on_views: bool = True) -> None:
    """Create or adapt schemas, tables, views and comments, in the caller's transaction.

    Without ``comments_on_views``, skip comments on columns of views.
    """
    _create_schemas(connection)
    present = relations_in(connection)
    wanted = defined() if present else {}  # takes 0.1 s
    for stored in stored_tables():
        if (place := stored.place) in present:
            _adapt_columns(connection, stored, present[place].columns, wanted[place].columns)
        else:
            connection.execute(stored.create)
    for mart in marts():
        connection.execute(mart.create)
    # a thousand comments have nothing to optimize, and the optimizer would double the time
    connection.execute(
        ";\n".join(("pragma disable_optimizer", *_comments(on_views=comments_on_views), "pragma enable_optimizer"))
    )


def has_other_history(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the columns of a table in schema ``history`` differ from ``sql/``, so that it must be rebuilt.

    Return False if a table has columns that ``sql/`` does not know: a newer release wrote it.
    """
    if is_as_defined(connection):
        return False
    present, wanted = relations_in(connection), defined()
    there = [stored for stored in stored_tables() if stored.place in present]
    return not any(
        present[stored.place].columns.keys() - wanted[stored.place].columns.keys() for stored in there
    ) and any(
        stored.schema == "history" and _types(present[stored.place]) != _types(wanted[stored.place]) for stored in there
    )


def drop_everything(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every table and view, in the caller's transaction."""
    for (schema, name), relation in relations_in(connection).items():
        connection.execute(f"drop {'view' if relation.definition else 'table'} {quote(schema)}.{quote(name)}")


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
                f"{table.schema}.{table.name}.{column} is {present[column][0]}, but {kind} in this release"
            )


def _comments(*, on_views: bool) -> Iterator[str]:
    """Yield the statements that give tables, marts and columns the comments of the catalogue."""
    for relation in relations():
        kind = "table" if isinstance(relation, Table) else "view"
        yield f"comment on {kind} {relation.qualified} is {literal(relation.comment)}"
        for column in relation.columns if on_views or kind == "table" else ():
            yield f"comment on column {relation.qualified}.{quote(column.name)} is {literal(column.comment)}"
