"""What two clocks have to do with how far a read may go: the service's, as answers told it, and this machine's.

The horizon is the lowest that any of them allows, so coverage never lies ahead of what both vouch for. Where that keeps
something from being read, or the service's clock went back, it is a warning of the read. How far the clocks were apart
is remembered for ``status``, the check and the next sync.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from wms_sync.api.client import GlobalApi
from wms_sync.api.clock import Heard
from wms_sync.extract.plan import MARGIN, NO_TIME, horizon
from wms_sync.state.store import StateStore

OBSERVED = "service_clock_ahead_seconds"
UNDATED = "no Date"


@dataclass(frozen=True)
class Clocks:
    """``heard`` before the first page. ``newest`` is the end of coverage, or the start date while there is none.

    ``before`` is how far the service's clock was ahead of this machine's at the last sync, None where that is not
    known.
    """

    heard: Heard
    newest: datetime
    before: timedelta | None
    tolerance: timedelta

    @property
    def horizon(self) -> datetime:
        """The end of what can be read as settled."""
        return horizon(self.heard.trusted)

    @property
    def went_back(self) -> timedelta:
        """How far the service's clock has gone back since the last sync; nothing up to the tolerance.

        What is ahead of this machine by more than the tolerance was never covered, so going back by that loses nothing.
        """
        if self.heard.most is None or self.heard.latest is None:
            return NO_TIME
        back = self.newest - self.heard.latest
        if self.before is not None:
            back = max(back, min(self.before, self.tolerance) - min(self.heard.most, self.tolerance))
        return back if back > self.tolerance else NO_TIME

    @property
    def comes_again(self) -> datetime | None:
        """From when on the service's clock runs through what it ran through before; None where it is beyond that."""
        latest = self.heard.latest
        return self.horizon if latest is not None and self.newest - latest > self.tolerance else None

    @property
    def is_stuck(self) -> bool:
        """Whether nothing is left to read, and not because the last read was a moment ago."""
        return self.newest - self.horizon > self.tolerance

    @property
    def is_in_doubt(self) -> bool:
        """Whether more answers should be heard: one server of several may have a clock of its own."""
        ahead = self.heard.most is not None and self.heard.most > MARGIN
        return ahead or self.is_stuck or bool(self.went_back)

    def warnings(self) -> Iterator[str]:
        """What keeps the read from going as far as it should, or may have hidden changes from it."""
        least = self.heard.least
        nothing = f" Nothing is left to read from {_moment(self.newest)} on." if self.is_stuck else ""
        if least is not None and least > self.tolerance:
            yield (
                f"The service's clock is {apart(least)} this machine's, and one of them is wrong. Read is up to "
                f"{_moment(self.horizon)}, which this machine's clock and WMS_CLOCK_TOLERANCE_SECONDS "
                f"({self.tolerance.total_seconds():.0f}) allow; what changed later waits.{nothing} Set the wrong clock "
                "right."
            )
        elif self.went_back:
            yield (
                f"The service's clock has gone back by {_length(self.went_back)} since the last sync (or this "
                "machine's has jumped ahead). What changed meanwhile may bear a time that was covered before, so the "
                f"overlap reaches back so much further this time.{nothing}"
            )
        elif nothing:
            yield (
                f"An answer of the service is dated so far back that only what changed before {_moment(self.horizon)} "
                f"could be read.{nothing} If this repeats, one of its servers has a wrong clock: report it there."
            )


def served_later(api: GlobalApi, store: StateStore) -> None:
    """What is served from now on counts as extracted after everything that was landed, whatever clocks say."""
    latest = store.latest_served(api.clock.tolerance)
    if latest is not None:
        api.clock.not_before(latest + timedelta(seconds=1))


def remember(store: StateStore, clocks: Clocks) -> None:
    """Keep how far the clocks were apart, in whole seconds: the most, and the least beside it.

    At the end of a sync: what was found to have gone back has been read by then. Coverage of times that the service's
    clock is to come to once again is given back.
    """
    heard = clocks.heard
    if clocks.comes_again is not None:
        store.withdraw_coverage(clocks.comes_again)
    if heard.least is None or heard.most is None:
        store.observe(OBSERVED, 0, UNDATED)
    else:
        store.observe(OBSERVED, round(heard.most.total_seconds()), str(round(heard.least.total_seconds())))


def remembered(store: StateStore) -> timedelta | None:
    """How far the service's clock was ahead at the last sync; of several answers the most."""
    seen = store.observation(OBSERVED)
    return None if seen is None or seen.about == UNDATED else timedelta(seconds=seen.value)


def what_is_off(store: StateStore, tolerance: timedelta) -> str | None:
    """What is to be said of the clocks as they were at the last sync; None while they agree."""
    seen = store.observation(OBSERVED)
    if seen is None:
        return None
    when = f"At the sync of {_moment(seen.observed_at)}"
    if seen.about == UNDATED:
        return f"{when} the service's answers had no Date: this machine's clock alone says how far is read."
    furthest = max((timedelta(seconds=seen.value), timedelta(seconds=int(seen.about))), key=abs)
    if abs(furthest) <= tolerance:
        return None
    return f"{when} the service's clock was {apart(furthest)} this machine's: one of them is wrong. Set it right."


def apart(ahead: timedelta) -> str:
    """``3:00:00 ahead of``, ``1 day, 0:00:10 behind``."""
    return f"{_length(ahead)} {'behind' if ahead < NO_TIME else 'ahead of'}"


def _length(length: timedelta) -> str:
    return str(timedelta(seconds=round(abs(length).total_seconds())))


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
