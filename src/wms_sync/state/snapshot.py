"""A snapshot: the state store as text that any database can restore, every row but the ledger's, read at one moment.

A copy of ``state.db`` would need SQLite, and a copy of PostgreSQL its own tools. The ledger has a copy of its own, the
journal of creates, so a snapshot has only the number of its rows; the table ``leases`` records the process that writes
here now. A snapshot of another release that this one cannot read raises ``StateError``.

Store and snapshots have the random id of their installation. Each snapshot has a number, which the store counts: a
store with a lower number than a snapshot of its installation is an old copy.
"""

from __future__ import annotations

import gzip
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict
from sqlalchemy import Column, Connection, Table, func, select, update
from sqlalchemy.exc import DBAPIError

from wms_sync.layout import flattened_key, is_of_window, raw_key
from wms_sync.state.engine import Values, add_rows
from wms_sync.state.errors import StateError
from wms_sync.state.leases import Guarded
from wms_sync.state.schema import (
    METADATA,
    MIGRATIONS,
    installation,
    leases,
    migrations_table,
    observations,
    pages,
    push_ledger,
    windows,
)


class Identity(Struct, frozen=True):
    """The row of ``installation``, or the head of a snapshot: the random id, and the number of the newest snapshot.

    ``trouble`` is the error that kept the newest snapshot from being written.
    """

    id: str
    snapshot: int
    trouble: str | None = None


class Head(Struct, frozen=True):
    """The part of a snapshot that says whose it is, and which release wrote it: its migrations in order."""

    installation: Identity
    migrations: tuple[str, ...]


class Snapshot(Head, frozen=True):
    """Every row of every table but ``leases`` and ``push_ledger``. ``creates`` is the number of rows of the ledger."""

    creates: int
    tables: Mapping[str, tuple[Values, ...]]

    def rows(self, table: Table) -> tuple[Values, ...]:
        """Return the rows of a table."""
        return self.tables[table.name]

    def observed(self, name: str) -> list[int]:
        """Return the value of the observation of this name; empty if there is none."""
        return [row["value"] for row in self.rows(observations) if row["name"] == name]

    def landed_until(self) -> datetime | None:
        """Return when its newest window landed; None if it has none."""
        return max((row["landed_at"] for row in self.rows(windows) if row["landed_at"] is not None), default=None)


class Snapshots(Guarded):
    """Takes snapshots of the state store, and puts them in place of its rows."""

    def installation(self) -> Identity | None:
        """Return the identity of the store; None if it is new: no run has begun with it."""
        return next((Identity(**row._mapping) for row in self._rows(select(installation))), None)

    def begin(self) -> None:
        """Make the store that of a new installation."""
        self._execute(installation.insert().values(id=secrets.token_hex(8), snapshot=0))

    def take(self) -> Snapshot:
        """Count up the number of snapshots, and read the whole store in the same transaction.

        So a snapshot with a higher number has everything that one with a lower number has. Raise ``StateError``.
        """
        try:
            with self._one_moment() as connection:
                connection.execute(update(installation).values(snapshot=installation.c.snapshot + 1, trouble=None))
                row = connection.execute(select(installation)).one()
                names = tuple(connection.scalars(select(migrations_table.c.name).order_by(migrations_table.c.name)))
                tables = {table.name: select(table).order_by(*table.primary_key) for table in _copied()}
                rows = {name: tuple(dict(row._mapping) for row in connection.execute(tables[name])) for name in tables}
                creates = connection.execute(select(func.count()).select_from(push_ledger)).scalar_one()
                return Snapshot(Identity(row.id, row.snapshot), names, creates, rows)
        except DBAPIError as error:
            raise StateError(f"The state store could not be read: {error.orig}") from None

    def put_back(self, snapshot: Snapshot) -> None:
        """Replace every row but those of the ledger and of ``leases``, in one transaction. Raise ``StateError``."""
        now = datetime.now(UTC)
        applied = [{"name": migration, "applied_at": now} for migration in snapshot.migrations]
        try:
            with self._transaction() as connection:
                for table in (*reversed(_copied()), installation, migrations_table):
                    connection.execute(table.delete())
                for table in _copied():
                    add_rows(connection, table, snapshot.rows(table))
                head = snapshot.installation
                connection.execute(installation.insert().values(id=head.id, snapshot=head.snapshot))
                add_rows(connection, migrations_table, applied)
        except DBAPIError as error:
            raise StateError(f"The state store could not be written: {error.orig}") from None

    def note(self, trouble: str) -> None:
        """Note why the newest snapshot could not be written."""
        self._execute(update(installation).values(trouble=trouble))

    @contextmanager
    def _one_moment(self) -> Iterator[Connection]:
        """Open a transaction that sees one moment, after every earlier one of its kind."""
        if self.engine.dialect.name == "sqlite":
            with self._transaction() as connection:
                yield connection
        else:
            with self.engine.execution_options(isolation_level="REPEATABLE READ").begin() as connection:
                connection.exec_driver_sql("lock table installation in exclusive mode")  # before it sees its moment
                self.lease.verify(connection)
                yield connection


def encoded(snapshot: Snapshot) -> bytes:
    """Return the snapshot as compressed JSON."""
    return gzip.compress(msgspec.json.encode(snapshot), compresslevel=1, mtime=0)


def head_of(content: bytes) -> Identity:
    """Return the installation and number of an encoded snapshot. Raise ``ValueError`` if it is damaged."""
    return _HEAD.decode(_unpacked(content)).installation


def decoded(content: bytes) -> Snapshot:
    """Decode a snapshot from ``encoded``.

    Raise ``StateError`` if a newer or an older release made it, ``ValueError`` if it is invalid.
    """
    text = _unpacked(content)
    head = _HEAD.decode(text)
    _refuse_others(head.migrations)
    body = _ROWS.decode(text)
    rows = {table.name: tuple(map(asdict, getattr(body.tables, table.name))) for table in _copied()}
    try:
        for values in (row.values() for found in rows.values() for row in found):
            [value.astimezone(UTC) for value in values if isinstance(value, datetime)]
    except OverflowError as error:
        raise ValueError(str(error)) from None
    keys = [flattened_key(row["id"]) for row in rows[windows.name]]
    keys += [raw_key(row["window_id"], row["file"]) for row in rows[pages.name]]
    if wrong := [key for key in keys if not is_of_window(key)]:
        raise ValueError(f"it names {wrong[0]!r}, which cannot be in a data folder")
    return Snapshot(head.installation, head.migrations, body.creates, rows)


def _unpacked(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None


def _refuse_others(migrations: Sequence[str]) -> None:
    names = [name for name, _ in MIGRATIONS]
    if migrations and names[0] not in migrations:
        raise StateError(
            "This release cannot read the copy, which an older release of wms-sync made. Nothing was changed. Restore "
            "the copy with the release that made it."
        )
    if unknown := [name for name in migrations if name not in names]:
        raise StateError(
            f"The copy was made by a newer release of wms-sync (its state store has {', '.join(unknown)}). Nothing was "
            "changed. Install that release, or a later one, and try again."
        )


def _copied() -> list[Table]:
    """Return the tables of a snapshot, each after the tables that it refers to."""
    return [table for table in METADATA.sorted_tables if table not in (leases, push_ledger, installation)]


def _type_of(column: Column[Any]) -> Any:  # noqa: ANN401 - the type of a field
    kind: Any = column.type.python_type
    kind = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] if kind is int else kind
    return kind | None if column.nullable else kind


def _rows_of(table: Table) -> Any:  # noqa: ANN401 - a type made of a table
    fields = [(f"{column.name}", _type_of(column)) for column in table.columns]
    row: Any = msgspec.defstruct(table.name, fields, forbid_unknown_fields=True)
    return tuple[row, ...]


_HEAD = msgspec.json.Decoder(Head)
_TABLES: Any = msgspec.defstruct("Tables", [(f"{table.name}", _rows_of(table)) for table in _copied()])
_ROWS: Any = msgspec.json.Decoder(msgspec.defstruct("Rows", [("creates", int), ("tables", _TABLES)]))
