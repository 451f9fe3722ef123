"""A lease: the right of one process to write under a lock, with the methods that change files.

A file is written in the lease's own folder and put in place by one rename, after a check of the epoch. Deleting is a
rename into that folder. A new holder of the lock raises the epoch, then renames the folders of earlier leases. So if a
process is suspended between its check and its rename, the source or the target of the rename is gone when it resumes.
The process cannot recreate it, because a lease's folder is created only once, at the start of the lease.
"""

from __future__ import annotations

import secrets
import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from msgspec.structs import asdict
from sqlalchemy import Connection, Engine, Select, select
from sqlalchemy.exc import DBAPIError

from wms_sync.layout import Layout
from wms_sync.state.engine import StatePart, insert_of, refuse_newer, silent
from wms_sync.state.errors import RestoreUnfinished, StateBusy, StateError, TakenOver
from wms_sync.state.holder import Held, Holder
from wms_sync.state.schema import leases
from wms_sync.storage.durable import PRIVATE_FOLDER, accessing, make_private, put_in_place, write_synced

PATIENCE_SECONDS = 30
"""The time that a new writer waits for the previous writer's transaction; SQLite waits as long (``engine``)."""


class EpochRow(Holder, frozen=True, kw_only=True):
    """One row of ``leases``: the process that took the lock on ``what`` last, its epoch, and the time."""

    what: str
    epoch: int


class Lease:
    """The right to write under a lock, and the methods that change files under it. Thread-safe.

    The epoch in ``row`` is a fencing token: a writer with an old epoch can write nothing more. The state store has one
    row for each lock, in both SQLite and PostgreSQL. A lock makes processes wait for each other. It cannot stop a
    process that was suspended while its lock file was deleted, whose file system or session lost the lock, or that
    shares the state store but uses another data folder. The epoch can: every transaction that writes to the state store
    first reads the epoch under a row lock, and the next writer must wait for that lock. So the epoch cannot change
    between that read and the commit.

    The methods raise ``TakenOver`` once another writer has taken over. Closing the lease deletes its folder.
    """

    def __init__(self, engine: Engine, layout: Layout, row: EpochRow) -> None:
        self.engine = engine
        self.layout = layout
        self.row = row
        # the epoch alone is not unique: a state store restored from a copy counts the same epochs again
        self.folder = layout.leases / f"{row.what}-{row.epoch}-{secrets.token_hex(4)}"
        self._take_earlier_folders_away()
        self.folder.mkdir(mode=PRIVATE_FOLDER)

    @classmethod
    def taken(cls, engine: Engine, layout: Layout, held: Held) -> Self:
        """Begin a lease under the held lock: increment the epoch, which ends the previous lease.

        Raise ``StateError`` if a transaction of the previous writer does not end within ``PATIENCE_SECONDS``.
        """
        try:
            row = _count_up(engine, held)
        except (DBAPIError, StateBusy) as error:
            reason = error.reason if isinstance(error, StateBusy) else error.orig
            raise StateError(
                f"The epoch cannot be raised ({reason}). Most likely another process, suspended or on another machine, "
                "is in the middle of a write to the state store: let it continue, or end it; then run again."
            ) from None
        return cls(engine, layout, row)

    def close(self) -> None:
        """End the lease and delete its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def verify(self, connection: Connection) -> None:
        """Check the epoch at the start of a write transaction: no other writer can take over until it ends.

        Raise ``TakenOver`` if another writer has already taken over.
        """
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("begin immediate")  # otherwise SQLite locks only at the first change
        self._compare(connection, _query(self.row.what).with_for_update(read=True))

    def check(self) -> None:
        """Check the epoch before a step outside the state store. Raise ``TakenOver`` if another writer took over."""
        with self.engine.connect() as connection:
            self._compare(connection, _query(self.row.what))

    def _compare(self, connection: Connection, query: Select[Any]) -> None:
        row = connection.execute(query).one_or_none()
        found = None if row is None else EpochRow(**row._mapping)
        if found != self.row:
            who = f"{found} has taken over" if found else "The state store was recreated, and no run holds the lock"
            raise TakenOver(
                f"{who}. Since then this run, {self.row}, has written nothing: no state, no file, no table and no "
                "create. Its earlier work stays valid. This happens when a run is suspended and its lock file in work/ "
                "is deleted or lost, or when two data folders share one state store. Run again: the new run continues "
                "from there."
            )

    def explain(self, error: Exception) -> None:
        """Raise ``TakenOver`` if a takeover caused the error, such as a missing file.

        Raise ``StateError`` if a lost session caused it. Otherwise return.
        """
        try:
            self.check()
        except TakenOver as ended:
            raise ended from error
        except DBAPIError as unreachable:
            error = unreachable
        if (said := silent(error)) is not None:
            raise said from error

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Raise the cause of an error of the block, as ``explain`` does, and ``TakenOver`` even if there was none."""
        try:
            yield
            self.check()  # so that no run reports success after another has taken over
        except TakenOver:
            raise
        except Exception as error:
            self.explain(error)
            raise

    def temporary(self, name: str) -> Path:
        """Return a unique path in the lease's folder."""
        return self.folder / f"{secrets.token_hex(4)}-{name}"

    def write_whole(self, path: Path, content: bytes) -> None:
        """Write a file atomically: it has all of ``content`` or is unchanged."""
        temporary = self.temporary(path.name)
        with accessing(path):
            write_synced(temporary, content)
            self.put_in_place(temporary, path)

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Move a synced file from the lease's folder to ``path``."""
        self.check()
        put_in_place(temporary, path)

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with its contents; do nothing if it does not exist."""
        self.check()
        away = self.temporary(path.name)
        with suppress(FileNotFoundError):
            path.rename(away)
            if away.is_dir():
                shutil.rmtree(away)
            else:
                away.unlink()

    def _take_earlier_folders_away(self) -> None:
        """Rename the folders of earlier leases, so that their paths no longer exist; then delete them."""
        what = self.row.what
        for folder in [*make_private(self.folder.parent).glob(f"{what}-*")]:
            with suppress(FileNotFoundError):
                folder.rename(folder.with_name(f"over-{folder.name}"))
        for folder in [*self.folder.parent.glob(f"over-{what}-*")]:
            shutil.rmtree(folder, ignore_errors=True)


def _count_up(engine: Engine, held: Held) -> EpochRow:
    """Increment the epoch in one statement, so that no two writers get the same epoch."""
    is_sqlite = engine.dialect.name == "sqlite"
    statement = insert_of(engine, leases).values(
        what=held.what, epoch=1, **(asdict(held.me) | {"began_at": datetime.now(UTC)})
    )
    taken = {name: column for name, column in statement.excluded.items() if name != "what"}
    counted = statement.on_conflict_do_update(index_elements=["what"], set_=taken | {"epoch": leases.c.epoch + 1})
    with engine.begin() as connection:
        if not is_sqlite:
            connection.exec_driver_sql(f"set local lock_timeout = '{PATIENCE_SECONDS}s'")
        return EpochRow(**connection.execute(counted.returning(*leases.c)).one()._mapping)


def _query(what: str) -> Select[Any]:
    return select(leases).where(leases.c.what == what)


@contextmanager
def taking_lease(engine: Engine, layout: Layout, held: Held) -> Iterator[Lease]:
    """Hold a lease inside the block, under the held lock; its folder is deleted at the end.

    Raise ``StateError``, such as ``RestoreUnfinished`` or ``StateNewer``. Only a restore of an older backup may replace
    newer data.
    """
    refuse_unusable(layout)
    refuse_newer(engine)
    with closing(Lease.taken(engine, layout, held)) as lease:
        yield lease


def refuse_unusable(layout: Layout) -> None:
    """Raise ``StateError`` for a backup, ``RestoreUnfinished`` if a restore into the data folder was interrupted."""
    refuse_backup(layout)
    if layout.restoring.exists():
        raise RestoreUnfinished(layout.restoring.read_text(encoding="utf-8"))


def refuse_backup(layout: Layout) -> None:
    """Raise ``StateError`` if the data folder is a backup, which no run may change."""
    if layout.backup_record.exists():
        raise StateError(
            f"{layout.root} is a backup, which stays as it is. Nothing was read, loaded or sent. Set WMS_DATA_DIR to "
            f"another folder; `wms-sync restore {shlex.quote(str(layout.root))}` puts the backup there."
        )


class Guarded(StatePart):
    """Base of the parts of the state store that any process may read, but whose writing needs a ``Lease``."""

    def __init__(self, engine: Engine, lease: Lease | None = None) -> None:
        super().__init__(engine)
        self._lease = lease

    @property
    def lease(self) -> Lease:
        """Return the lease. A store that was opened only for reading has none."""
        assert self._lease is not None, "opened for reading only, without a lease"  # noqa: S101 - a defect
        return self._lease

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Open a write transaction. Raise ``TakenOver`` if another writer has taken over."""
        with self.engine.begin() as connection:
            self.lease.verify(connection)
            yield connection
