"""Read the headers that stand on every answer: the service's clock, and what it announces.

Neither the service's clock (``Date``) nor this machine's is trusted alone: one of the service's servers may be hours
ahead, and so may this machine. A time is trusted only if both clocks have reached it, this machine's with a tolerance
(``WMS_CLOCK_TOLERANCE_SECONDS``).

``Deprecation`` (RFC 9745) and ``Sunset`` (RFC 8594) announce the end of what is requested. A ``Warning`` (RFC 7234,
5.5) is a code, an agent, a text and perhaps a time; the codes 110 to 112 are those of a cache that may be stale.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.service.reasons import as_sentence, in_one_line
from wms_sync.service.retrying import http_date

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


class Readings(Struct, frozen=True):
    """What the answers so far say about the service's clock.

    ``trusted`` is the lowest trusted time of all answers; for an answer without ``Date`` that is this machine's clock
    minus the tolerance. ``latest`` is the highest ``Date``. ``least`` and ``most`` are the smallest and the largest
    difference to this machine's clock; negative means behind it. All three are None if no answer had a ``Date``.
    """

    trusted: datetime = LATEST
    least: timedelta | None = None
    most: timedelta | None = None
    latest: datetime | None = None


class ServiceClock:
    """The service's clock as seen by one client; thread-safe. ``listen`` starts over."""

    def __init__(self, tolerance: timedelta) -> None:
        self.tolerance = tolerance
        self._floor = EARLIEST
        self._heard = Readings()
        self._lock = threading.Lock()

    @property
    def readings(self) -> Readings:
        """Return what was heard since ``listen``."""
        with self._lock:
            return self._heard

    def listen(self) -> None:
        """Forget what was heard so far."""
        with self._lock:
            self._heard = Readings()

    def not_before(self, moment: datetime) -> None:
        """Set the earliest time that ``take`` returns from now on.

        Of two versions the one extracted later wins, so this order must hold even if a clock goes back between them.
        """
        self._floor = moment

    def take(self, date: datetime | None) -> datetime:
        """Record the ``Date`` of an answer. Return the trusted time at which it was served."""
        mine = datetime.now(UTC)
        with self._lock:
            self._heard = _with(self._heard, date, mine, self.tolerance)
        return max(self._floor, mine if date is None else min(date, mine + self.tolerance))


def _with(readings: Readings, date: datetime | None, mine: datetime, tolerance: timedelta) -> Readings:
    if date is None:
        return replace(readings, trusted=min(readings.trusted, mine - tolerance))
    ahead = date - mine
    return Readings(
        trusted=min(readings.trusted, date, mine + tolerance),
        least=ahead if readings.least is None else min(readings.least, ahead),
        most=ahead if readings.most is None else max(readings.most, ahead),
        latest=date if readings.latest is None else max(readings.latest, date),
    )


def dated(response: httpx.Response) -> datetime | None:
    """Return the ``Date`` of an answer, in UTC and whole seconds; None if it is absent or unreadable."""
    try:
        return http_date(response.headers["date"])
    except (KeyError, ValueError):
        return None


Warn = Callable[[str], object]
"""Is called with a sentence, possibly from several threads."""
MOST = 20
"""The most texts that are reported of one connection: one with a counter or a time differs in each answer."""
MEANINGS = {
    "Deprecation": "What wms-sync requests there will not work for ever: look for a newer release of wms-sync, and ask "
    "the operator of the service.",
    "Sunset": "What wms-sync requests there stops working then: look for a newer release of wms-sync, and ask the "
    "operator of the service.",
    "Warning": "If it has a code from 110 to 112, a cache answers in place of the service, so changes can be missed: "
    "let it store nothing of the service, then read the days again (`wms-sync backfill`).",
}


class Notices:
    """What the answers of one connection have announced. Thread-safe."""

    def __init__(self, base_url: str, warn: Warn) -> None:
        self._base_url = base_url
        self._warn = warn
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()

    def hear(self, response: httpx.Response) -> None:
        """Report what is new in the headers of an answer."""
        for name, meaning in MEANINGS.items():
            for value in response.headers.get_list(name):
                self._report(name, in_one_line(value, response.request), meaning)

    def _report(self, name: str, text: str, meaning: str) -> None:
        with self._lock:
            if (name, text) in self._heard or len(self._heard) == MOST:
                return
            self._heard.add((name, text))
        said = as_sentence(f"{self._base_url} answers with {name}: {text}")
        self._warn(f"{said} {meaning}")
