"""Who holds a lock or waits for it, as those who wait are told."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from datetime import UTC, datetime
from typing import Self

from msgspec import Struct
from msgspec.structs import asdict

logger = logging.getLogger(__name__)

WRITER = "writer"
"""The lock on writing the tables."""
POLL_SECONDS = 0.2
REMIND_SECONDS = 60.0


class Holder(Struct, frozen=True):
    """A process that holds a lock or waits for it. ``purpose`` is for people: ``backfill 2026-01-01 to 2026-01-03``."""

    purpose: str
    process: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"{self.purpose} (process {self.process} on {self.host}, since {self.since})"

    @classmethod
    def now(cls, purpose: str) -> Self:
        """Return this process."""
        return cls(purpose, os.getpid(), socket.gethostname(), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}")

    @property
    def signature(self) -> str:
        """Return what ``signed_by`` reads."""
        return json.dumps(asdict(self))


UNKNOWN = Holder("a process that has just begun", 0, socket.gethostname(), "now")


def signed_by(signature: str | bytes) -> Holder:
    """Return who signed; ``UNKNOWN`` if that cannot be read."""
    try:
        return Holder(**json.loads(signature))
    except (ValueError, TypeError):
        return UNKNOWN


class Held:
    """A lock that is held by ``me``."""

    def __init__(self, me: Holder) -> None:
        self.me = me

    def check(self) -> None:
        """Raise ``SessionLost`` if the lock is held no more, as far as this process can know without asking."""


class Waiting:
    """Logs whom a process waits for: at once, when it is another one, and every ``REMIND_SECONDS``."""

    def __init__(self) -> None:
        self._told: tuple[Holder, float] | None = None

    def tell(self, ahead: Holder) -> None:
        """Log who is ahead, if that is due."""
        now = time.monotonic()
        if self._told is None or self._told[0] != ahead or now - self._told[1] > REMIND_SECONDS:
            logger.info("waiting for %(holder)s", {"holder": ahead})
            self._told = ahead, now
