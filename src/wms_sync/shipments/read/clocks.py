"""Determine the horizon of a read by two clocks: the service's, as its answers show it, and this machine's.

The horizon is the earliest time that any answer allows, so coverage never exceeds the time that both clocks have
reached, this machine's with a tolerance. The read warns if the clocks limit it, or if the service's clock went back.
Then coverage of the times that it passes again is withdrawn at once.

What the service's clock should show follows from the last read. Until this machine restarts, the time since then is
measured by a clock that is never set, so a correction of both clocks is noticed too. After a restart, or on another
machine, only the difference between the two is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from wms_sync.grammar import moment
from wms_sync.service.client import GlobalApi
from wms_sync.service.headers import EARLIEST, Readings
from wms_sync.shipments.read.plan import MARGIN, horizon
from wms_sync.state.store import Observation, StateStore

CLOCKS = "clocks"
"""The name of the finding about clocks."""
OBSERVED = "service_clock_ahead_seconds"
SINCE_BOOT = "service_clock_at_boot"
"""The time of the service, in seconds since 1970, when this machine was started; ``about`` identifies that start."""
UNDATED = "no Date"
NO_TIME = timedelta(0)
DAY = timedelta(days=1)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS = str(uuid4())
_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that is never set; on Linux it counts standby too."""


class Clocks(Struct, frozen=True):
    """The ``readings`` of the clocks before or after the pages of a read.

    ``newest`` is the newest time that a window covers, half-read ones too, or else the start date. ``expected`` is the
    horizon that the service's clock allows unless it went back. What changes while it passes times again within the
    ``overlap`` is read again in any case.
    """

    readings: Readings
    newest: datetime
    expected: datetime
    tolerance: timedelta
    overlap: timedelta

    @property
    def horizon(self) -> datetime:
        """Return the time up to which the service's data is settled and can be read."""
        return horizon(self.readings.trusted)

    @property
    def went_back(self) -> timedelta:
        """Return how far the service's clock went back; zero if it is unknown, or within tolerance and overlap."""
        if self.readings.latest is None:
            return NO_TIME
        back = max(self.newest, self.expected) - self.readings.latest
        return back if back > min(self.tolerance, self.overlap) else NO_TIME

    @property
    def repeated_from(self) -> datetime | None:
        """Return the start of the times that the service's clock passes a second time; None if it did not go back.

        It may have gone back further than is known, so they are at least a day.
        """
        if self.readings.latest is None or not self.went_back:
            return None
        return horizon(min(self.newest, self.readings.latest) - max(self.went_back, DAY))

    @property
    def is_stuck(self) -> bool:
        """Return whether the horizon is so far before the end of coverage that nothing can be read."""
        return self.newest - self.horizon > self.tolerance

    @property
    def is_in_doubt(self) -> bool:
        """Return whether to get more answers: one of several servers may have a wrong clock."""
        ahead = self.readings.most is not None and self.readings.most > MARGIN
        return ahead or self.is_stuck or bool(self.went_back)

    def warnings(self) -> Iterator[str]:
        """Yield warnings about clocks that limit the read or may have hidden changes from it."""
        least = self.readings.least
        nothing = f" Nothing can be read from {moment(self.newest)} on." if self.is_stuck else ""
        if least is not None and least > self.tolerance:
            yield (
                f"The service's clock is {apart(least)} this machine's, so one of them is wrong. Data is read up to "
                f"{moment(self.horizon)}, as this machine's clock and WMS_CLOCK_TOLERANCE_SECONDS "
                f"({self.tolerance.total_seconds():.0f}) allow; later changes wait.{nothing} Correct the wrong clock."
            )
        elif self.repeated_from:
            yield (
                f"The service's clock has gone back by {_length(self.went_back)} (or this machine's has jumped ahead). "
                "Changes since then may have times that were read before, so everything from "
                f"{moment(self.repeated_from)} on is read again."
            )
        elif nothing:
            yield (
                f"An answer of the service is dated so far back that only changes before {moment(self.horizon)} "
                f"could be read.{nothing} If this repeats, one of the service's servers has a wrong clock: report it "
                "to the operator of the service."
            )


def served_later(api: GlobalApi, store: StateStore) -> None:
    """Date new pages after all landed pages, whatever the clocks show."""
    latest = store.latest_served()
    if latest is not None:
        api.clock.not_before(latest + timedelta(seconds=1))


def remember(store: StateStore, clocks: Clocks) -> None:
    """Remember the differences between the clocks, in whole seconds.

    Call this function after coverage was withdrawn: then a clock that went back is as expected.
    """
    readings = clocks.readings
    if readings.latest is None or readings.least is None or readings.most is None:
        store.observe(OBSERVED, 0, UNDATED)
        return
    most, least = round(readings.most.total_seconds()), round(readings.least.total_seconds())
    boot, uptime = _uptime()
    # times ahead of this machine by more than the tolerance are never covered: going back from there loses nothing
    latest = min(readings.latest, datetime.now(UTC) + clocks.tolerance)
    store.record(
        (Observation(OBSERVED, most, str(least)), Observation(SINCE_BOOT, round(latest.timestamp() - uptime), boot))
    )


def expected_horizon(store: StateStore, tolerance: timedelta) -> datetime:
    """Return the horizon that the service's clock allows if it did not go back since it was remembered."""
    at_boot, ahead = store.observation(SINCE_BOOT), store.observation(OBSERVED)
    boot, uptime = _uptime()
    if at_boot is not None and at_boot.about == boot:
        return horizon(datetime.fromtimestamp(at_boot.value + uptime, UTC))
    if ahead is None or ahead.about == UNDATED:
        return EARLIEST
    return horizon(datetime.now(UTC) + min(timedelta(seconds=ahead.value), tolerance))


def _uptime() -> tuple[str, float]:
    """Return an identifier of this machine's start, or of this process where there is none, and the seconds since."""
    boot = _BOOT_ID.read_text(encoding="ascii").strip() if _BOOT_ID.exists() else _PROCESS
    return boot, time.clock_gettime(_STEADY)


def clock_warning(store: StateStore, tolerance: timedelta) -> str | None:
    """Describe the clocks' difference at the last sync; return None if they agreed, or if it is unknown."""
    seen = store.observation(OBSERVED)
    if seen is None:
        return None
    when = f"At the read of {moment(seen.observed_at)}"
    if seen.about == UNDATED:
        return f"{when} the service's answers had no Date header: only this machine's clock limited the read."
    furthest = max((timedelta(seconds=seen.value), timedelta(seconds=int(seen.about))), key=abs)
    if abs(furthest) <= tolerance:
        return None
    return f"{when} the service's clock was {apart(furthest)} this machine's: correct the clock that is wrong."


def apart(ahead: timedelta) -> str:
    """Return a difference in words: ``3:00:00 ahead of``, ``1 day, 0:00:10 behind``."""
    return f"{_length(ahead)} {'behind' if ahead < NO_TIME else 'ahead of'}"


def _length(length: timedelta) -> str:
    return str(timedelta(seconds=round(abs(length).total_seconds())))
