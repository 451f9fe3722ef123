"""Compare the service's clock (the ``Date`` of its answers) with this machine's; neither is trusted alone.

One of the service's servers may be hours ahead, and so may this machine. A time is trusted only if both clocks have
reached it, this machine's with a tolerance (``WMS_CLOCK_TOLERANCE_SECONDS``).
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import httpx
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.service.retrying import http_date

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


class Heard(Struct, frozen=True):
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
        self._heard = Heard()
        self._lock = threading.Lock()

    @property
    def heard(self) -> Heard:
        """Return what was heard since ``listen``."""
        with self._lock:
            return self._heard

    def listen(self) -> None:
        """Forget what was heard so far."""
        with self._lock:
            self._heard = Heard()

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


def _with(heard: Heard, date: datetime | None, mine: datetime, tolerance: timedelta) -> Heard:
    if date is None:
        return replace(heard, trusted=min(heard.trusted, mine - tolerance))
    ahead = date - mine
    return Heard(
        trusted=min(heard.trusted, date, mine + tolerance),
        least=ahead if heard.least is None else min(heard.least, ahead),
        most=ahead if heard.most is None else max(heard.most, ahead),
        latest=date if heard.latest is None else max(heard.latest, date),
    )


def dated(response: httpx.Response) -> datetime | None:
    """Return the ``Date`` of an answer, in UTC and whole seconds; None if it is absent or unreadable."""
    try:
        return http_date(response.headers["date"])
    except (KeyError, ValueError):
        return None
