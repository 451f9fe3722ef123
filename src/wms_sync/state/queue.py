"""One at a time, across the processes of a machine, in the order they came, each told whom it waits for.

``work/<what>.lock`` is the lock on something that only one process may do: write the tables (``writer``), push one kind
of master data. It is an advisory lock that the kernel releases with the process that held it, so nothing has to be
cleaned up after a kill. ``work/queue/<what>/`` makes it fair: each process holds a locked ticket there and tries for
the lock only when no older ticket is alive. What a lock cannot keep out, because its file was deleted or its file
system loses locks, ``epochs`` does.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from wms_sync.durable import PRIVATE_FILE, accessing, make_private
from wms_sync.layout import Layout

WRITER = "writer"
POLL_SECONDS = 0.2
REMIND_SECONDS = 60.0


@dataclass(frozen=True)
class Holder:
    """Who stands in the queue: a purpose such as ``backfill 2026-01-01 to 2026-01-03``, and the process."""

    purpose: str
    process: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"{self.purpose} (process {self.process} on {self.host}, since {self.since})"


UNKNOWN = Holder("a process that has just begun", 0, socket.gethostname(), "now")


@contextmanager
def writing(layout: Layout, purpose: str, waiting: Callable[[str], None], *, what: str = WRITER) -> Iterator[Holder]:
    """Be the only one who does ``what`` inside the block; ``waiting`` is told for whom, at once and every minute."""
    me = _me(purpose)
    queue = make_private(layout.queue(what))
    ticket = queue / f"{time.time_ns():020d}-{me.process}"
    with _held(ticket, me), _open(layout.lock(what)) as lock:
        _wait_for_turn(layout.lock(what), ticket, lock, waiting)
        _sign(lock, me)
        yield me


def writer(layout: Layout, *, what: str = WRITER) -> Holder | None:
    """Who does it now, for ``status`` and ``doctor``."""
    return _holder(layout.lock(what))


@contextmanager
def alive(layout: Layout, name: str) -> Iterator[None]:
    """Leaves a mark of this name among the ``dead`` if the process does not come to the end of the block."""
    with _held(make_private(layout.alive) / name, _me(name)):
        yield


def dead(layout: Layout) -> Iterator[Path]:
    """The marks whose process is gone, by name; each is told until who knows the name takes it away."""
    return (mark for mark in sorted(layout.alive.glob("*")) if _holder(mark) is None)


def _me(purpose: str) -> Holder:
    return Holder(purpose, os.getpid(), socket.gethostname(), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}")


def _wait_for_turn(path: Path, ticket: Path, lock: IO[bytes], waiting: Callable[[str], None]) -> None:
    told: tuple[Holder, float] | None = None
    while (ahead := _ahead(path, ticket, lock)) is not None:
        now = time.monotonic()
        if told is None or told[0] != ahead or now - told[1] > REMIND_SECONDS:
            waiting(f"waiting for {ahead}")
            told = ahead, now
        time.sleep(POLL_SECONDS)


def _ahead(path: Path, mine: Path, lock: IO[bytes]) -> Holder | None:
    """Who comes first; None when the lock was free and is ours now."""
    for ticket in sorted(mine.parent.iterdir()):
        if ticket.name >= mine.name:
            break
        if (holder := _holder(ticket)) is not None:
            return _holder(path) or holder
        ticket.unlink(missing_ok=True)
    if _try_lock(lock):
        return None
    return _holder(path) or UNKNOWN


@contextmanager
def _held(ticket: Path, me: Holder) -> Iterator[None]:
    with _open(ticket) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _sign(file, me)
        try:
            yield
        finally:
            ticket.unlink(missing_ok=True)


def _open(path: Path) -> IO[bytes]:
    with accessing(path):
        return open(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE), "r+b")  # noqa: PTH123 - for the mode


def _sign(file: IO[bytes], me: Holder) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(asdict(me)).encode())
    file.flush()


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(path: Path) -> Holder | None:
    """Who holds the lock on this file; None when nobody does."""
    try:
        with accessing(path), path.open("rb") as file:
            return None if _try_lock(file) else _read(file.read())
    except FileNotFoundError:
        return None


def _read(content: bytes) -> Holder:
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError):
        return UNKNOWN
