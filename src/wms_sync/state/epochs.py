"""Epochs: each new writer counts one up, and a writer whose epoch is past writes nothing more.

The lock of ``queue`` makes processes wait for each other. It cannot keep out a process that was suspended while its
lock file was deleted, whose file system lost the lock, or that has another data folder and the same state store. The
epoch can: every transaction that writes to the state store reads the epoch first, behind a row lock that the next
writer must wait for. There is no moment between that read and the commit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from sqlalchemy import Connection, Engine, Select, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.exc import DBAPIError

from wms_sync.state.engine import opened, refuse_read_only
from wms_sync.state.errors import StateError, TakenOver
from wms_sync.state.queue import WRITER, Holder
from wms_sync.state.schema import turns

PATIENCE_SECONDS = 30
"""How long the next writer waits for a transaction of the previous one; SQLite waits as long (``engine``)."""


@dataclass(frozen=True)
class Held:
    """One row of ``turns``: whose turn it is to do ``what``, its sequence number, since when."""

    what: str
    epoch: int
    purpose: str
    run_id: str | None
    process: int
    host: str
    began_at: datetime

    def __str__(self) -> str:
        run = f"run {self.run_id}, " if self.run_id else ""
        return f"{self.purpose} ({run}process {self.process} on {self.host}, since {self.began_at:%Y-%m-%d %H:%M:%S}Z)"


class Epoch:
    """One writer's epoch in the state store. Safe to use from several threads. Close it."""

    def __init__(self, engine: Engine, held: Held) -> None:
        self.held = held
        self._engine = engine

    @classmethod
    def begin(cls, url: str, me: Holder, *, what: str, run_id: str | None) -> Self:
        """Count the epoch up, which ends the previous writer's. The caller holds the lock on ``what``.

        Raises ``StateError`` when a transaction of the previous writer does not end in ``PATIENCE_SECONDS``.
        """
        engine = opened(url)
        try:
            return cls(engine, _count_up(engine, what, me, run_id))
        except DBAPIError as error:
            refuse_read_only(engine, error)
            raise StateError(
                f"The turn to write cannot be taken ({error.orig}). Most likely a process that is suspended, or on "
                "another machine, is in the middle of a write to the state store: let it go on, or end it; then run "
                "again."
            ) from None

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def verify(self, connection: Connection) -> None:
        """Begin a transaction that writes: until it ends, no other writer takes over. Raises ``TakenOver``."""
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("begin immediate")  # SQLite would read first and lock with the first change
        self._compare(connection, _query(self.held.what).with_for_update(read=True))

    def check(self) -> None:
        """Check before a step outside of the state store. Raises ``TakenOver``."""
        with self._engine.connect() as connection:
            self._compare(connection, _query(self.held.what))

    def _compare(self, connection: Connection, query: Select[Any]) -> None:
        row = connection.execute(query).one_or_none()
        found = None if row is None else Held(**row._mapping)
        if found != self.held:
            who = f"{found} has taken over" if found else "The state store was made anew, and nobody has the turn"
            raise TakenOver(
                f"{who}. Since then this run, {self.held}, has written nothing: no state, no file, no table and no "
                "create. What it did before that counts. It happens to a run that was suspended while its lock below "
                "work/ was deleted or lost, and where two data folders have one state store. Run again: it goes on "
                "from what is there."
            )


def newest_turn(url: str, what: str = WRITER) -> Held | None:
    """Whose turn it was last, and may be still."""
    engine = opened(url)
    with engine.connect() as connection:
        row = connection.execute(_query(what)).one_or_none()
    engine.dispose()
    return None if row is None else Held(**row._mapping)


def _count_up(engine: Engine, what: str, me: Holder, run_id: str | None) -> Held:
    """One statement, so that no two writers get the same epoch."""
    is_sqlite = engine.dialect.name == "sqlite"
    first = Held(what, 1, me.purpose, run_id, me.process, me.host, datetime.now(UTC))
    statement: Any = (insert_sqlite if is_sqlite else insert_postgresql)(turns).values(**asdict(first))
    taken = {name: column for name, column in statement.excluded.items() if name != "what"}
    counted = statement.on_conflict_do_update(index_elements=["what"], set_=taken | {"epoch": turns.c.epoch + 1})
    with engine.begin() as connection:
        if not is_sqlite:
            connection.exec_driver_sql(f"set local lock_timeout = '{PATIENCE_SECONDS}s'")
        return Held(**connection.execute(counted.returning(*turns.c)).one()._mapping)


def _query(what: str) -> Select[Any]:
    return select(turns).where(turns.c.what == what)
