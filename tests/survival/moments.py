"""The moments of a process at which something becomes durable, by name, and dying or being suspended at one of them.

Nothing of the product knows of this. The interpreter tells of each call of a function written in C and of its return
(``sys.setprofile``); those that change files, commit or send a create, on behalf of the library, are moments. A
moment's name is who did it: ``land > Turn.write_whole > Turn.put_in_place > put_in_place: before replace``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

LIBRARY = f"{os.sep}wms_sync{os.sep}"
COMMANDS = f"{LIBRARY}cli{os.sep}"
FILES = frozenset({"replace", "rename", "fsync", "unlink", "sendfile"})
DATABASE = frozenset({"begin", "commit", "execute"})
STATEMENTS_OF = frozenset(
    {
        "open_for_writing",
        "Merger._replace",
        "Merger._append",
        "Merger._write_receipt",
        "_put_together",
        "delete_replaced",
        "_write",
        "_clean_file",
        "copy_tables",
    }
)
"""Functions whose statements change DuckDB files or write Parquet; others read, or fill what is only in memory."""
OBJECTS = frozenset({"put", "delete"})
"""In object storage."""
PSYCOPG = f"{os.sep}psycopg{os.sep}"
NETWORK = frozenset({"send", "recv"})
CREATES = frozenset({"Creates.create"})
"""Whose requests are moments: what a page is asked for changes nothing."""
SHOWN = 4


@dataclass(frozen=True)
class Moment:
    """The ``number``-th time that the name comes by."""

    name: str
    number: int = 1
    signal: signal.Signals = field(default=signal.SIGKILL, compare=False)

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


class Moments:
    """Counts the moments of this process; ``do`` is called at ``awaited``: a named one, or the n-th of all.

    ``each`` is called with the name of each moment, in their order.
    """

    def __init__(
        self,
        awaited: Moment | int | None,
        do: Callable[[], object],
        each: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._awaited = awaited
        self._do = do
        self._each = each
        self._counted: Counter[str] = Counter()
        self._lock = threading.Lock()

    def watch(self) -> None:
        """From now on, in every thread that starts."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def end(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self._counted))

    def _look(self, frame: FrameType, event: str, function: Any) -> None:
        if event in {"call", "return"}:
            if not _commits_in_postgresql(frame):
                return
            does = "commit"
        elif _may_be_one(frame, function):
            does = function.__name__
        else:
            return
        chain = _chain(frame)
        if not chain or (does in NETWORK and CREATES.isdisjoint(chain)):
            return
        when = "before" if event.endswith("call") else "after"
        name = f"{' > '.join(chain[-SHOWN:])}: {when} {does}"
        with self._lock:
            self._counted[name] += 1
            self._each(name)
            if self._awaited in (Moment(name, self._counted[name]), self._counted.total()):
                self._do()


@contextmanager
def watched(each: Callable[[str], object]) -> Iterator[None]:
    """Call this with the name of each moment inside the block."""
    moments = Moments(None, lambda: None, each)
    moments.watch()
    try:
        yield
    finally:
        moments.end()


def read_moments(path: Path) -> dict[str, int]:
    """What a process that was only watched came through."""
    counted: dict[str, int] = json.loads(path.read_text())
    return counted


def _commits_in_postgresql(frame: FrameType) -> bool:
    """The driver commits in Python."""
    return frame.f_code.co_qualname == "Connection.commit" and PSYCOPG in frame.f_code.co_filename


def _may_be_one(frame: FrameType, function: Any) -> bool:
    name: str = function.__name__
    if name in OBJECTS:
        return function is getattr(sys.modules.get("obstore"), name, None)
    if name in NETWORK:
        return isinstance(function.__self__, socket.socket)
    if name in FILES:
        return function.__self__ is sys.modules["posix"]
    if name not in DATABASE:
        return False
    kind = type(function.__self__)
    if kind.__module__ == "sqlite3":
        return name == "commit"
    return "pybind11" in kind.__name__ and (name != "execute" or frame.f_code.co_qualname in STATEMENTS_OF)


def _chain(frame: FrameType | None) -> list[str]:
    """The library's functions on the stack, without those of the command line, the outermost first."""
    chain: list[str] = []
    while frame is not None:
        code = frame.f_code
        if LIBRARY in code.co_filename and COMMANDS not in code.co_filename:
            chain.append(code.co_qualname)
        frame = frame.f_back
    return chain[::-1]
