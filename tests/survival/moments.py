"""The moments of a process at which something becomes durable, by name, and dying or being suspended at one of them.

Nothing of the product knows of this. The interpreter tells of each call of a function written in C and of its return
(``sys.setprofile``); those that change files, commit or send a create, on behalf of the library, are moments. A
moment's name is who did it: ``land > Lease.write_whole > Lease.put_in_place > put_in_place: before replace``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

LIBRARY = f"{os.sep}wms_sync{os.sep}"
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
        "erase",
    }
)
"""Functions whose statements change DuckDB files or write Parquet; others read, or fill what is only in memory."""
NETWORK = frozenset({"send", "recv"})
CREATES = frozenset({"send_create"})
"""Whose requests are moments: what a page is asked for changes nothing."""


@dataclass(frozen=True)
class Moment:
    """The ``number``-th time that the name comes by."""

    name: str
    number: int = 1
    signal: signal.Signals = field(default=signal.SIGKILL, compare=False)

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


@contextmanager
def watched(each: Callable[[str], object]) -> Iterator[None]:
    """Call this with the name of each moment inside the block, in their order, in every thread that starts."""
    lock = threading.Lock()

    def look(frame: FrameType, event: str, function: Any) -> None:
        name = _name(frame, event, function)
        if name is not None:
            with lock:
                each(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield
    finally:
        threading.setprofile(None)
        sys.setprofile(None)


def _name(frame: FrameType, event: str, function: Any) -> str | None:
    """The name of the moment; None for what is none."""
    code = frame.f_code
    if event not in {"call", "return"}:
        does = function.__name__ if _may_be_one(frame, function) else None
    else:  # PostgreSQL's driver commits in Python
        commits = code.co_qualname == "Connection.commit" and f"{os.sep}psycopg{os.sep}" in code.co_filename
        does = "commit" if commits else None
    if does is None:
        return None
    # the library's functions on the stack, without those of the command line, the outermost first
    codes = [above.f_code for above, _ in traceback.walk_stack(frame)]
    ours = [code for code in codes if LIBRARY in code.co_filename and f"{LIBRARY}cli{os.sep}" not in code.co_filename]
    chain = [code.co_qualname for code in reversed(ours)]
    if not chain or (does in NETWORK and CREATES.isdisjoint(chain)):
        return None
    return f"{' > '.join(chain[-4:])}: {'before' if event.endswith('call') else 'after'} {does}"


def _may_be_one(frame: FrameType, function: Any) -> bool:
    name: str = function.__name__
    if name in {"put", "delete"}:
        return function is getattr(sys.modules.get("obstore"), name, None)
    if name in NETWORK:
        return isinstance(function.__self__, socket.socket)
    if name in {"replace", "rename", "link", "fsync", "unlink", "sendfile"}:
        return function.__self__ is sys.modules["posix"]
    if name not in {"begin", "commit", "execute"}:
        return False
    kind = type(function.__self__)
    if kind.__module__ == "sqlite3":
        return name == "commit"
    return "pybind11" in kind.__name__ and (name != "execute" or frame.f_code.co_qualname in STATEMENTS_OF)
