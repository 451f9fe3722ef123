"""The moments of a process at which something becomes durable, by name, and dying at one of them.

Nothing of the product knows of this. The interpreter tells of each call of a function written in C and of its return
(``sys.setprofile``); those that change files or commit, on behalf of the library, are moments. A moment's name is who
did it: ``WindowReader._land > land > write_whole > put_in_place: before replace``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

LIBRARY = f"{os.sep}wms_sync{os.sep}"
FILES = frozenset({"replace", "fsync", "unlink", "sendfile"})
DATABASE = frozenset({"begin", "commit", "execute"})
STATEMENTS_OF = frozenset(
    {"opened", "_complete", "Merger._replace", "Merger._append", "Merger._write_receipt", "_write"}
)
"""Functions whose statements change DuckDB files or write Parquet; others read, or fill what is only in memory."""
SHOWN = 4


@dataclass(frozen=True)
class Moment:
    """The ``number``-th time that the name comes by."""

    name: str
    number: int = 1

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


class Moments:
    """Counts the moments of this process, and ends it at one."""

    def __init__(self, kill: Moment | None) -> None:
        self._kill = kill
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
        if event not in {"c_call", "c_return"} or not _is_durable(frame, function):
            return
        chain = _chain(frame)
        if not chain:
            return
        when = "before" if event == "c_call" else "after"
        name = f"{' > '.join(chain[-SHOWN:])}: {when} {function.__name__}"
        with self._lock:
            self._counted[name] += 1
            if self._kill == Moment(name, self._counted[name]):
                os.kill(os.getpid(), signal.SIGKILL)


def read_moments(path: Path) -> dict[str, int]:
    """What a process that was only watched came through."""
    counted: dict[str, int] = json.loads(path.read_text())
    return counted


def _is_durable(frame: FrameType, function: Any) -> bool:
    name: str = function.__name__
    if name in FILES:
        return function.__self__ is sys.modules["posix"]
    if name not in DATABASE:
        return False
    kind = type(function.__self__)
    if kind.__module__ == "sqlite3":
        return name == "commit"
    return "pybind11" in kind.__name__ and (name != "execute" or frame.f_code.co_qualname in STATEMENTS_OF)


def _chain(frame: FrameType | None) -> list[str]:
    """The library's functions on the stack, the outermost first."""
    chain: list[str] = []
    while frame is not None:
        code = frame.f_code
        if LIBRARY in code.co_filename:
            chain.append(code.co_qualname)
        frame = frame.f_back
    return chain[::-1]
