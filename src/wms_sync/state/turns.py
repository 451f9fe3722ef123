"""A turn to write: the epoch of the state store, and the ways to change files while it lasts.

Files are made in the turn's own folder and put in place by one rename, after a check of the epoch. A new turn first
renames the folders of earlier turns away. So a process that was suspended after its check finds, when it goes on, that
what it was about to rename is gone; and it makes nothing anew, since only the turn itself makes its folder, once.
Deleting works the same way, by a rename into that folder.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from wms_sync.durable import PRIVATE_FOLDER, make_private, put_in_place, write_synced
from wms_sync.layout import Layout
from wms_sync.state.engine import Durable, opened
from wms_sync.state.epochs import Epoch
from wms_sync.state.errors import TakenOver
from wms_sync.state.queue import WRITER, Holder, writing


class Turn:
    """The right to write, and the ways to change files with it. Safe to use from several threads.

    Each way raises ``TakenOver`` once another writer has the turn. Close it, which removes its folder.
    """

    def __init__(self, epoch: Epoch, layout: Layout) -> None:
        self.epoch = epoch
        held = epoch.held
        # not by the epoch alone: a state store that was put back from a copy counts the same ones again
        self.folder = layout.turns / f"{held.what}-{held.epoch}-{secrets.token_hex(4)}"
        self._take_earlier_folders_away()
        self.folder.mkdir(mode=PRIVATE_FOLDER)

    @classmethod
    def taken(cls, url: str, layout: Layout, me: Holder, *, what: str = WRITER, run_id: str | None = None) -> Self:
        """Take the turn from whoever has it. The caller holds the lock on ``what``."""
        return cls(Epoch.begin(url, me, what=what, run_id=run_id), layout)

    def close(self) -> None:
        """End the turn; what lies in its folder is not needed any more."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.epoch.close()

    def temporary(self, name: str) -> Path:
        """Where to make a file of which there may be several at a time."""
        return self.folder / f"{secrets.token_hex(4)}-{name}"

    def write_whole(self, path: Path, content: bytes) -> None:
        """Write a file of this content, whole or not at all."""
        temporary = self.temporary(path.name)
        write_synced(temporary, content)
        self.put_in_place(temporary, path)

    def put_in_place(self, temporary: Path, path: Path) -> None:
        """Rename what was made in the turn's folder and synced."""
        self.epoch.check()
        put_in_place(temporary, path)

    def take_away(self, path: Path) -> None:
        """Delete a file, or a folder with all in it, where it is there."""
        self.epoch.check()
        away = self.temporary(path.name)
        with suppress(FileNotFoundError):
            path.rename(away)
            _remove(away)

    def _take_earlier_folders_away(self) -> None:
        """Rename each away: from then on no path of an earlier turn leads anywhere."""
        what = self.epoch.held.what
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
            mine.epoch.check()  # also where a failure was left for later: no run reports success after a take-over
        except TakenOver:
            raise
        except Exception as error:
            _explain(mine, error)
            raise
        finally:
            mine.close()


class Guarded:
    """A part of the state store: anyone reads, only the writer whose turn it is writes. Close it, or use ``with``."""

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
        """The right to write; what was opened for reading has none."""
        assert self._turn is not None, "opened without a turn, which is for reading only"  # noqa: S101 - a defect
        return self._turn

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction, if the turn is still ours."""
        with self._engine.begin() as connection:
            self.turn.epoch.verify(connection)
            yield connection


def _explain(mine: Turn, error: Exception) -> None:
    """Raise ``TakenOver`` where that is the cause: a file that is gone, say, is a consequence and explains nothing."""
    try:
        mine.epoch.check()
    except TakenOver as taken:
        raise taken from error


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
