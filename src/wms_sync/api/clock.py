"""The service's clock, as its answers tell it (``Date``), beside this machine's: neither is believed alone.

One of several servers may be hours ahead, and so may this machine. A moment is trusted as far as both clocks vouch for
it, this machine's with a tolerance (``WMS_CLOCK_TOLERANCE_SECONDS``).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Heard:
    """What answers told of the service's clock.

    ``trusted`` is the lowest of the moments that they can be trusted for; without a ``Date`` that is this machine's
    clock less the tolerance. ``latest`` is the highest ``Date``; ``least`` and ``most`` is how far the answers that had
    one were ahead of this machine (behind it: less than nothing). All three are None where none had.
    """

    trusted: datetime = LATEST
    least: timedelta | None = None
    most: timedelta | None = None
    latest: datetime | None = None


class ServiceClock:
    """What the answers of one client told; thread-safe. ``listen`` begins anew."""

    def __init__(self, tolerance: timedelta) -> None:
        self.tolerance = tolerance
        self._floor = EARLIEST
        self._heard = Heard()
        self._lock = threading.Lock()

    @property
    def heard(self) -> Heard:
        """What was told since ``listen``."""
        with self._lock:
            return self._heard

    def listen(self) -> None:
        """Forget what was told so far."""
        with self._lock:
            self._heard = Heard()

    def not_before(self, moment: datetime) -> None:
        """What is served from now on counts as served at this moment at the earliest.

        Of two versions the one that was extracted later wins, also when a clock has gone back between them.
        """
        self._floor = moment

    def take(self, date: datetime | None) -> datetime:
        """Take in the ``Date`` of an answer; returns when it was served, as far as that can be trusted."""
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
