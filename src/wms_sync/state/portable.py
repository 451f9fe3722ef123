"""The state store as text that any database can restore: every row of every table, read at one moment.

A copy of ``state.db`` would need SQLite, and a copy of PostgreSQL its own tools. The table ``turns`` records the
process that writes here now, so it is not copied. A copy of a newer release raises ``MigrationsUnknown``, a copy of an
older release ``CopyOlder``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Column, Connection, Engine, Table, select
from sqlalchemy.exc import DBAPIError

from wms_sync.state.errors import CopyOlder, MigrationsUnknown, StateError
from wms_sync.state.schema import METADATA, MIGRATIONS, migrations_table, turns

ROWS_PER_STATEMENT = 1000
INTEGER_BITS = 64
Row = dict[str, Any]


class Snapshot(Struct, frozen=True):
    """Every row of every table but ``turns``, and the migrations in order."""

    migrations: tuple[str, ...]
    tables: Mapping[str, tuple[Row, ...]]

    def rows(self, table: Table) -> tuple[Row, ...]:
        """Return the rows of a table."""
        return self.tables[table.name]

    def with_rows(self, table: Table, rows: Iterable[Row]) -> Snapshot:
        """Return the snapshot with other rows in one table."""
        return replace(self, tables={**self.tables, table.name: tuple(rows)})


_SNAPSHOT = msgspec.json.Decoder(Snapshot)


def read_snapshot(engine: Engine) -> Snapshot:
    """Read the whole state store as of one moment, even while another process writes. Raise ``StateError``."""
    try:
        with engine.connect() as connection:
            _see_one_moment(connection)
            names = tuple(connection.scalars(select(migrations_table.c.name).order_by(migrations_table.c.name)))
            tables = {table.name: select(table).order_by(*table.primary_key) for table in _copied()}
            rows = {name: tuple(dict(row._mapping) for row in connection.execute(tables[name])) for name in tables}
            return Snapshot(names, rows)
    except DBAPIError as error:
        raise StateError(f"The state store could not be read: {error.orig}") from None


def put_back(engine: Engine, snapshot: Snapshot) -> None:
    """Replace the rows of every table but ``turns`` with the snapshot's, in one transaction. Raise ``StateError``."""
    _refuse_others(snapshot)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("begin immediate")
            for table in reversed(_copied()):
                connection.execute(table.delete())
            for table in _copied():
                _insert(connection, table, snapshot.rows(table))
            now = datetime.now(UTC)
            connection.execute(migrations_table.delete())
            _insert(
                connection,
                migrations_table,
                [{"name": migration, "applied_at": now} for migration in snapshot.migrations],
            )
    except DBAPIError as error:
        raise StateError(f"The state store could not be written: {error.orig}") from None


def encoded(snapshot: Snapshot) -> bytes:
    """Return the snapshot as JSON."""
    return msgspec.json.encode(snapshot)


def decoded(content: bytes) -> Snapshot:
    """Decode a snapshot from ``encoded``.

    Raise ``MigrationsUnknown`` if a newer release made it, ``CopyOlder`` if an older one did, ``ValueError`` if it is
    invalid.
    """
    snapshot = _SNAPSHOT.decode(content)
    _refuse_others(snapshot)
    if lacking := {table.name for table in _copied()} - snapshot.tables.keys():
        raise ValueError(f"it lacks {min(lacking)}")
    return replace(snapshot, tables={table.name: _decoded_rows(table, snapshot.rows(table)) for table in _copied()})


def _decoded_rows(table: Table, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    if any(row.keys() != set(table.columns.keys()) for row in rows):
        raise ValueError(f"the columns of a row of {table.name} differ from those of the table")
    return tuple({column.name: _value(column, row[column.name]) for column in table.columns} for row in rows)


def _value(column: Column[Any], value: object) -> object:
    """Return the decoded value of a column. Raise ``ValueError`` if it cannot be a value of this column."""
    if value is None and column.nullable:
        return None
    kind = column.type.python_type
    if kind is datetime and isinstance(value, str):
        return _moment(value)
    if kind is float and isinstance(value, int | float):
        return value
    if isinstance(value, kind) and not (isinstance(value, int) and value.bit_length() >= INTEGER_BITS):
        return value
    raise ValueError(f"{value!r:.80} is not a valid {column.name} of {column.table.name}")


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text} is outside the range of times") from None


def _refuse_others(snapshot: Snapshot) -> None:
    names = [name for name, _ in MIGRATIONS]
    if snapshot.migrations and names[0] not in snapshot.migrations:
        raise CopyOlder
    if unknown := [name for name in snapshot.migrations if name not in names]:
        raise MigrationsUnknown(unknown)


def _copied() -> list[Table]:
    """Return the tables of a copy, each after the tables that it refers to."""
    return [table for table in METADATA.sorted_tables if table is not turns]


def _see_one_moment(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("begin")  # the driver itself begins a transaction only before a change
    else:
        connection.execution_options(isolation_level="REPEATABLE READ")


def _insert(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    given = list(rows)
    for start in range(0, len(given), ROWS_PER_STATEMENT):
        connection.execute(table.insert(), given[start : start + ROWS_PER_STATEMENT])
