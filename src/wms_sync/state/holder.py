"""The process that holds a lock, and the wait for it."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Self, TypeVar

import msgspec
from msgspec import Struct

logger = logging.getLogger(__name__)
T = TypeVar("T")

WRITER = "writer"
"""The lock on writing the tables."""
POLL_SECONDS = 0.2
REMIND_SECONDS = 60.0


class Holder(Struct, frozen=True):
    """A process that holds a lock. ``purpose`` is for messages: ``backfill 2026-01-01 to 2026-01-03``."""

    purpose: str
    run_id: str | None
    process: int
    host: str
    began_at: datetime

    def __str__(self) -> str:
        run = f"run {self.run_id}, " if self.run_id else ""
        return f"{self.purpose} ({run}process {self.process} on {self.host}, since {self.began_at:%Y-%m-%d %H:%M:%S}Z)"

    @classmethod
    def now(cls, purpose: str, run_id: str | None = None) -> Self:
        """Return this process as the holder of a lock that it takes now."""
        return cls(purpose, run_id, os.getpid(), socket.gethostname(), datetime.now(UTC))

    @property
    def signature(self) -> bytes:
        """Return the holder encoded for ``signed_by``."""
        return msgspec.json.encode(self)


_HOLDER = msgspec.json.Decoder(Holder)
UNKNOWN = Holder("a process that has just begun", None, 0, socket.gethostname(), datetime.now(UTC))


def signed_by(signature: str | bytes) -> Holder:
    """Return the holder that a signature encodes; ``UNKNOWN`` if it is unreadable."""
    try:
        return _HOLDER.decode(signature)
    except msgspec.DecodeError:
        return UNKNOWN


class Held(Struct, frozen=True):
    """The lock on ``what``, which ``me`` holds."""

    what: str
    me: Holder


def repeated(attempt: Callable[[], T | None], holder: Callable[[], Holder | None]) -> T:
    """Repeat ``attempt`` until it returns something.

    Meanwhile log the holder of the lock: at once, when it changes, and every ``REMIND_SECONDS``.
    """
    logged, logged_at = None, 0.0
    while (taken := attempt()) is None:
        ahead, now = holder(), time.monotonic()
        if ahead is not None and (ahead != logged or now - logged_at > REMIND_SECONDS):
            logger.info("waiting for %(holder)s", {"holder": ahead})
            logged, logged_at = ahead, now
        time.sleep(POLL_SECONDS)
    return taken
