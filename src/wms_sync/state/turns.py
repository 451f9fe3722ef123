"""A turn: the right of one process to write under a lock, with the methods that change files.

A file is written in the turn's own folder and put in place by one rename, after a check of the epoch. Deleting is a
rename into that folder. A new holder of the lock raises the epoch, then renames the folders of earlier turns. So if a
process is suspended between its check and its rename, the source or the target of the rename is gone when it resumes;
and it cannot recreate that, because a turn's folder is created only once, at the start of the turn.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Self

from sqlalchemy import Connection

from wms_sync.layout import Layout
from wms_sync.state.engine import Durable, Opened, refuse_newer
from wms_sync.state.epochs import Epoch
from wms_sync.state.errors import RestoreUnfinished, TakenOver
from wms_sync.state.lock import WRITER, Held, lock_of
from wms_sync.storage.durable import PRIVATE_FOLDER, accessing, make_private, put_in_place, write_synced


class Turn:
    """The right to write, and the methods that change files under it. Thread-safe.

    The methods raise ``TakenOver`` once another writer has the turn. The owner must close it, which removes its folder.
    """

    def __init__(self, epoch: Epoch, layout: Layout) -> None:
        self.epoch = epoch
        self.layout = layout
        row = epoch.row
        # the epoch alone is not unique: a state store restored from a copy counts the same epochs again
        self.folder = layout.turns / f"{row.what}-{row.epoch}-{secrets.token_hex(4)}"
        self._take_earlier_folders_away()
        self.folder.mkdir(mode=PRIVATE_FOLDER)

    @classmethod
    def taken(cls, url: str, layout: Layout, held: Held) -> Self:
        """Begin a turn under the held lock, which ends the previous turn."""
        return cls(Epoch.begin(url, held), layout)

    def close(self) -> None:
        """End the turn and delete its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.epoch.close()

    def check(self) -> None:
        """Raise ``TakenOver`` if another writer has the turn."""
        self.epoch.check()

    def temporary(self, name: str) -> Path:
        """Return a unique path in the turn's folder."""
        return self.folder / f"{secrets.token_hex(4)}-{name}"

    def write_whole(self, path: Path, content: bytes) -> None:
        """Write a file atomically: it has all of ``content`` or is unchanged."""
        temporary = self.temporary(path.name)
        with accessing(path):
            write_synced(temporary, content)
            self.put_in_place(temporary, path)

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Move a synced file from the turn's folder to ``path``."""
        self.epoch.check()
        put_in_place(temporary, path)

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with its content; do nothing if it does not exist."""
        self.epoch.check()
        away = self.temporary(path.name)
        with suppress(FileNotFoundError):
            path.rename(away)
            _remove(away)

    def _take_earlier_folders_away(self) -> None:
        """Rename the folders of earlier turns, so that their paths no longer exist; then delete them."""
        what = self.epoch.row.what
        for folder in [*make_private(self.folder.parent).glob(f"{what}-*")]:
            with suppress(FileNotFoundError):
                folder.rename(folder.with_name(f"over-{folder.name}"))
        for folder in [*self.folder.parent.glob(f"over-{what}-*")]:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def taking_turn(
    url: str,
    layout: Layout,
    purpose: str,
    *,
    what: str = WRITER,
    run_id: str | None = None,
    held: Held | None = None,
) -> Iterator[Turn]:
    """Hold the turn inside the block, under the lock on ``what``: the caller's ``held`` lock, or wait for it.

    Raise ``RestoreUnfinished``, or ``StateNewer``: only a restore of an older backup may replace newer data.
    """
    lock = lock_of(url, layout).hold(purpose, what=what, run_id=run_id) if held is None else nullcontext(held)
    with lock as mine:
        refuse_unfinished_restore(layout)
        refuse_newer(url)
        turn = Turn.taken(url, layout, mine)
        try:
            yield turn
            turn.epoch.check()  # so that no run reports success after another has taken over
        except TakenOver:
            raise
        except Exception as error:
            turn.epoch.explain(error)
            raise
        finally:
            turn.close()


def refuse_unfinished_restore(layout: Layout) -> None:
    """Raise ``RestoreUnfinished`` if a restore into the data folder was interrupted."""
    if layout.restoring.exists():
        raise RestoreUnfinished(layout.restoring.read_text(encoding="utf-8"))


class Guarded(Opened):
    """Base of the stores: any process may read, only the one with the turn may write. Close it, or use ``with``."""

    def __init__(self, url: str, turn: Turn | None = None, *, durable: Durable = "normal") -> None:
        super().__init__(url, durable)
        self._turn = turn

    @property
    def turn(self) -> Turn:
        """Return the turn; a store that was opened for reading has none."""
        assert self._turn is not None, "opened for reading only, without a turn"  # noqa: S101 - a defect
        return self._turn

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Open a write transaction. Raise ``TakenOver`` if the turn is no longer ours."""
        with self._engine.begin() as connection:
            self.turn.epoch.verify(connection)
            yield connection


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
