"""Epochs (fencing tokens): each new writer increments the epoch, and a writer with an old epoch can write nothing more.

The state store has one row for each lock, in both SQLite and PostgreSQL. A lock makes processes wait for each other. It
cannot stop a process that was suspended while its lock file was deleted, whose file system or session lost the lock, or
that shares the state store but uses another data folder. The epoch can: every transaction that writes to the state
store first reads the epoch under a row lock, and the next writer must wait for that lock. So the epoch cannot change
between that read and the commit.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Self

from msgspec.structs import asdict
from sqlalchemy import Connection, Engine, Select, select
from sqlalchemy.exc import DBAPIError

from wms_sync.errors import WmsSyncError
from wms_sync.state.engine import insert_of, open_engine, silent
from wms_sync.state.errors import StateBusy, StateError, TakenOver
from wms_sync.state.lock import WRITER, Held, Holder
from wms_sync.state.schema import turns

PATIENCE_SECONDS = 30
"""The time that a new writer waits for the previous writer's transaction; SQLite waits as long (``engine``)."""


class EpochRow(Holder, frozen=True, kw_only=True):
    """One row of ``turns``: the process that took the lock on ``what`` last, its epoch, and the time."""

    what: str
    epoch: int


class Epoch:
    """One writer's epoch in the state store. Thread-safe. The owner must close it."""

    def __init__(self, engine: Engine, row: EpochRow) -> None:
        self.row = row
        self._engine = engine

    @classmethod
    def begin(cls, url: str, held: Held) -> Self:
        """Increment the epoch of the held lock, which ends the previous writer's epoch.

        Raise ``StateError`` if a transaction of the previous writer does not end within ``PATIENCE_SECONDS``.
        """
        engine = open_engine(url)
        try:
            return cls(engine, _count_up(engine, held))
        except (DBAPIError, WmsSyncError) as error:
            engine.dispose()
            if isinstance(error, WmsSyncError) and not isinstance(error, StateBusy):
                raise
            reason = error.reason if isinstance(error, StateBusy) else error.orig
            raise StateError(
                f"The epoch cannot be raised ({reason}). Most likely another process, suspended or on another machine, "
                "is in the middle of a write to the state store: let it continue, or end it; then run again."
            ) from None

    def close(self) -> None:
        """Close the database connections."""
        self._engine.dispose()

    def verify(self, connection: Connection) -> None:
        """Check the epoch at the start of a write transaction: no other writer can take over until it ends.

        Raise ``TakenOver`` if another writer already has.
        """
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("begin immediate")  # otherwise SQLite locks only at the first change
        self._compare(connection, _query(self.row.what).with_for_update(read=True))

    def check(self) -> None:
        """Check the epoch before a step outside the state store. Raise ``TakenOver`` if it is no longer ours."""
        with self._engine.connect() as connection:
            self._compare(connection, _query(self.row.what))

    def _compare(self, connection: Connection, query: Select[Any]) -> None:
        row = connection.execute(query).one_or_none()
        found = None if row is None else EpochRow(**row._mapping)
        if found != self.row:
            who = f"{found} has taken over" if found else "The state store was recreated, and no run has the turn"
            raise TakenOver(
                f"{who}. Since then this run, {self.row}, has written nothing: no state, no file, no table and no "
                "create. Its earlier work stays valid. This happens when a run is suspended and its lock file in work/ "
                "is deleted or lost, or when two data folders share one state store. Run again: the new run continues "
                "from there."
            )

    def explain(self, error: Exception) -> None:
        """Raise ``TakenOver`` if that caused an error such as a missing file, or the error of a lost session."""
        try:
            self.check()
        except TakenOver as ended:
            raise ended from error
        except DBAPIError as unreachable:
            error = unreachable
        if (said := silent(error)) is not None:
            raise said from error


def newest_epoch(url: str, what: str = WRITER) -> EpochRow | None:
    """Return the row of the newest epoch, whose writer may have ended; None if there has been no writer."""
    engine = open_engine(url)
    with engine.connect() as connection:
        row = connection.execute(_query(what)).one_or_none()
    engine.dispose()
    return None if row is None else EpochRow(**row._mapping)


def _count_up(engine: Engine, held: Held) -> EpochRow:
    """Increment the epoch in one statement, so that no two writers get the same one."""
    is_sqlite = engine.dialect.name == "sqlite"
    began = asdict(held.me) | {"began_at": datetime.now(UTC)}  # a lock may be held for several turns
    statement = insert_of(engine, turns).values(what=held.what, epoch=1, **began)
    taken = {name: column for name, column in statement.excluded.items() if name != "what"}
    counted = statement.on_conflict_do_update(index_elements=["what"], set_=taken | {"epoch": turns.c.epoch + 1})
    with engine.begin() as connection:
        if not is_sqlite:
            connection.exec_driver_sql(f"set local lock_timeout = '{PATIENCE_SECONDS}s'")
        return EpochRow(**connection.execute(counted.returning(*turns.c)).one()._mapping)


def _query(what: str) -> Select[Any]:
    return select(turns).where(turns.c.what == what)
