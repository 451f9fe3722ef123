"""Turns: who may write, by an epoch that each new writer counts up; whose epoch is past writes nothing more.

The lock of ``lock.py`` makes processes wait for each other. It cannot keep out one that was suspended while its lock
file was deleted, or its file system lost the lock, or that has another data folder and the same state store. The epoch
does, in two ways, of which each is enough on its own disk or database:

- *In the state store* every transaction that writes looks at the epoch first, behind a lock that whoever takes over
  must wait for. There is no moment between the look and the commit.
- *On disk* everything is made in the turn's own folder and put in place by one rename, after a look at the epoch. Who
  takes over takes the folders of earlier turns away before doing anything else. So one that is suspended behind its
  look finds, when it goes on, that what it was to rename is gone. Nothing is made in a folder that is gone: only the
  turn itself makes it, once. What is deleted goes the same way, by a rename into that folder.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, Select, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.exc import DBAPIError

from wms_sync.durable import PRIVATE_FOLDER, make_private, put_in_place, write_synced
from wms_sync.layout import Layout
from wms_sync.lock import WRITER, Holder, writing
from wms_sync.state.engine import Durable, opened, refuse_read_only
from wms_sync.state.errors import StateError, TakenOver
from wms_sync.state.schema import turns

PATIENCE_SECONDS = 30
"""How long one who takes over waits for a transaction of the one before; SQLite waits as long (``engine``)."""


@dataclass(frozen=True)
class Held:
    """One row of ``turns``: whose turn it is to do ``what``, the how manieth, since when."""

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


class Turn:
    """The right to write, and the ways to change files with it. Safe to use from several threads.

    Each way raises ``TakenOver`` where the turn is another's by now. Close it, which removes its folder.
    """

    def __init__(self, engine: Engine, layout: Layout, held: Held) -> None:
        self.held = held
        # not by the epoch alone: a state store that was put back from a copy counts the same ones again
        self.folder = layout.turns / f"{held.what}-{held.epoch}-{secrets.token_hex(4)}"
        self._engine = engine
        self._take_earlier_folders_away()
        self.folder.mkdir(mode=PRIVATE_FOLDER)

    @classmethod
    def taken(cls, url: str, layout: Layout, me: Holder, *, what: str = WRITER, run_id: str | None = None) -> Self:
        """Take the turn from whoever has it. The caller holds the lock on ``what``."""
        engine = opened(url)
        try:
            held = _count_up(engine, what, me, run_id)
        except DBAPIError as error:
            refuse_read_only(engine, error)
            raise StateError(
                f"The turn to write cannot be taken ({error.orig}). Most likely a process that is suspended, or on "
                "another machine, is in the middle of a write to the state store: let it go on, or end it; then run "
                "again."
            ) from None
        return cls(engine, layout, held)

    def close(self) -> None:
        """The turn is over: what lies in its folder is not needed any more."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._engine.dispose()

    # --- whether it is still ours ---

    def verify(self, connection: Connection) -> None:
        """Begin a transaction that writes: until its end nobody takes over."""
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("begin immediate")  # SQLite would read first and lock with the first change
        self._compare(connection, _query(self.held.what).with_for_update(read=True))

    def check(self) -> None:
        """Look before a step outside of the state store."""
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

    # --- changing files ---

    def temporary(self, name: str) -> Path:
        """Where to make a file of which there may be several at a time."""
        return self.folder / f"{secrets.token_hex(4)}-{name}"

    def write_whole(self, path: Path, content: bytes) -> None:
        """A file of this content, whole or not at all."""
        temporary = self.temporary(path.name)
        write_synced(temporary, content)
        self.put_in_place(temporary, path)

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Rename what was made in the turn's folder and synced."""
        self.check()
        put_in_place(temporary, path)

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with all in it, where it is there."""
        self.check()
        away = self.temporary(path.name)
        with suppress(FileNotFoundError):
            path.rename(away)
            _remove(away)

    def _take_earlier_folders_away(self) -> None:
        """Each by one rename: from then on no path of an earlier turn leads anywhere."""
        for folder in [*make_private(self.folder.parent).glob(f"{self.held.what}-*")]:
            with suppress(FileNotFoundError):
                folder.rename(folder.with_name(f"over-{folder.name}"))
        for folder in [*self.folder.parent.glob(f"over-{self.held.what}-*")]:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def taking_turn(
    url: str,
    layout: Layout,
    purpose: str,
    waiting: Callable[[str], None],
    *,
    what: str = WRITER,
    run_id: str | None = None,
) -> Iterator[Turn]:
    """Wait for the lock on ``what`` and have the turn inside the block; ``waiting`` is told for whom."""
    with writing(layout, purpose, waiting, what=what) as me:
        mine = Turn.taken(url, layout, me, what=what, run_id=run_id)
        try:
            yield mine
            mine.check()  # also where what failed was left for later: nobody is told that all of it is done
        except TakenOver:
            raise
        except Exception as error:
            _explain(mine, error)
            raise
        finally:
            mine.close()


def newest_turn(url: str, what: str = WRITER) -> Held | None:
    """Who had the turn last, and may have it still."""
    engine = opened(url)
    with engine.connect() as connection:
        row = connection.execute(_query(what)).one_or_none()
    engine.dispose()
    return None if row is None else Held(**row._mapping)


class Guarded:
    """A part of the state store: read by anyone, written by whose turn it is. A context manager, or close it."""

    def __init__(self, url: str, turn: Turn | None = None, *, durable: Durable = "normal") -> None:
        self._engine = opened(url, durable)
        self._turn = turn

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    @property
    def turn(self) -> Turn:
        """The right to write; what was opened to be read has none."""
        assert self._turn is not None, "opened without a turn, which is for reading only"  # noqa: S101 - a defect
        return self._turn

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction, if the turn is still ours."""
        with self._engine.begin() as connection:
            self.turn.verify(connection)
            yield connection


def _count_up(engine: Engine, what: str, me: Holder, run_id: str | None) -> Held:
    """One statement, so that no two get the same epoch."""
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


def _explain(mine: Turn, error: Exception) -> None:
    """What one that was overtaken runs into, a file that is gone say, is a consequence and explains nothing."""
    try:
        mine.check()
    except TakenOver as taken:
        raise taken from error


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
