"""Determine the horizon of a read by two clocks: the service's, as its answers show it, and this machine's.

The horizon is the earliest time that any answer allows, so coverage never exceeds the time that both clocks have
reached, this machine's with a tolerance. The read warns if the clocks limit it, or if the service's clock went back.
The difference between the clocks is remembered for ``wms-sync status``, ``wms-sync check`` and the next sync: in the
state store, and in ``clocks.json`` in case the state store is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from wms_sync.layout import Layout
from wms_sync.service.client import GlobalApi
from wms_sync.service.headers import Readings
from wms_sync.shipments.read.plan import MARGIN, NO_TIME, horizon
from wms_sync.state.store import COVERAGE_WITHDRAWN, Observation, StateStore

logger = logging.getLogger(__name__)

CLOCKS = "clocks"
"""The name of the finding about clocks."""
OBSERVED = "service_clock_ahead_seconds"
UNDATED = "no Date"
_READINGS = msgspec.json.Decoder(list[Observation])


class Clocks(Struct, frozen=True):
    """The ``readings`` of the clocks before the first page.

    ``newest`` is the end of coverage or else the start date; in a backfill, its first day. ``before`` is the lead of
    the service's clock over this machine's at the last sync; None if it is unknown.
    """

    readings: Readings
    newest: datetime
    before: timedelta | None
    tolerance: timedelta

    @property
    def horizon(self) -> datetime:
        """Return the time up to which the service's data is settled and can be read."""
        return horizon(self.readings.trusted)

    @property
    def went_back(self) -> timedelta:
        """Return how far the service's clock went back since the last sync; zero if that is within the tolerance.

        Times ahead of this machine by more than the tolerance were never covered, so going back from there loses
        nothing.
        """
        if self.readings.most is None or self.readings.latest is None:
            return NO_TIME
        back = self.newest - self.readings.latest
        if self.before is not None:
            back = max(back, min(self.before, self.tolerance) - min(self.readings.most, self.tolerance))
        return back if back > self.tolerance else NO_TIME

    @property
    def repeated_from(self) -> datetime | None:
        """Return the start of the times that the service's clock will pass a second time; None if there are none."""
        latest = self.readings.latest
        return self.horizon if latest is not None and self.newest - latest > self.tolerance else None

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
        nothing = f" Nothing can be read from {_moment(self.newest)} on." if self.is_stuck else ""
        if least is not None and least > self.tolerance:
            yield (
                f"The service's clock is {apart(least)} this machine's, so one of them is wrong. Data is read up to "
                f"{_moment(self.horizon)}, as this machine's clock and WMS_CLOCK_TOLERANCE_SECONDS "
                f"({self.tolerance.total_seconds():.0f}) allow; later changes wait.{nothing} Correct the wrong clock."
            )
        elif self.went_back:
            yield (
                f"The service's clock has gone back by {_length(self.went_back)} since the last sync (or this "
                "machine's has jumped ahead). Changes since then may have times that are covered already, so this "
                f"sync extends the overlap by the same length.{nothing}"
            )
        elif nothing:
            yield (
                f"An answer of the service is dated so far back that only changes before {_moment(self.horizon)} "
                f"could be read.{nothing} If this repeats, one of the service's servers has a wrong clock: report it "
                "to the operator of the service."
            )


def served_later(api: GlobalApi, store: StateStore) -> None:
    """Date new pages after all landed pages, whatever the clocks show."""
    latest = store.latest_served()
    if latest is not None:
        api.clock.not_before(latest + timedelta(seconds=1))


def remember(layout: Layout, store: StateStore, clocks: Clocks) -> None:
    """Remember the largest and the smallest difference between the clocks, in whole seconds.

    Call this function at the end of a sync, when the changes hidden by a clock that went back have been read. Coverage
    of times that the service's clock will repeat is withdrawn.
    """
    readings = clocks.readings
    if readings.least is None or readings.most is None:
        seen = [Observation.of_now(OBSERVED, 0, UNDATED)]
    else:
        most, least = round(readings.most.total_seconds()), round(readings.least.total_seconds())
        seen = [Observation.of_now(OBSERVED, most, str(least))]
    if clocks.repeated_from is not None:
        since = int(clocks.repeated_from.timestamp())
        seen.append(Observation.of_now(COVERAGE_WITHDRAWN, since, "seconds since 1970"))
    # the file first: after a kill in between, the state store must not know more than the file
    _write(store, layout, _by_name(store) | {observation.name: observation for observation in seen})
    store.record(seen)


def reconcile(layout: Layout, store: StateStore) -> None:
    """Record the newer readings in both the state store and ``clocks.json``. The caller holds the writer's lock."""
    known = _by_name(store)
    try:
        listed = {observation.name: observation for observation in _READINGS.decode(layout.clocks.read_bytes())}
    except FileNotFoundError:
        listed = {}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        listed = {}
        logger.warning("%(file)s is damaged: it is rewritten from the state store", {"file": layout.clocks})
    newest = {
        observation.name: observation
        for observation in sorted((*listed.values(), *known.values()), key=lambda observation: observation.observed_at)
    }
    newer = [observation for observation in newest.values() if observation != known.get(observation.name)]
    if newer:
        store.record(newer)
        logger.info("restored the readings of the service's clock from %(file)s", {"file": layout.clocks.name})
    if newest != listed:
        _write(store, layout, newest)


def remembered(store: StateStore) -> timedelta | None:
    """Return the largest lead of the service's clock over this machine's at the last sync; None if it is unknown."""
    seen = store.observation(OBSERVED)
    return None if seen is None or seen.about == UNDATED else timedelta(seconds=seen.value)


def clock_warning(store: StateStore, tolerance: timedelta) -> str | None:
    """Describe the clocks' difference at the last sync; return None if they agreed, or if it is unknown."""
    seen = store.observation(OBSERVED)
    if seen is None:
        return None
    when = f"At the sync of {_moment(seen.observed_at)}"
    if seen.about == UNDATED:
        return f"{when} the service's answers had no Date header: only this machine's clock limited the read."
    furthest = max((timedelta(seconds=seen.value), timedelta(seconds=int(seen.about))), key=abs)
    if abs(furthest) <= tolerance:
        return None
    return f"{when} the service's clock was {apart(furthest)} this machine's: correct the clock that is wrong."


def _by_name(store: StateStore) -> dict[str, Observation]:
    seen = map(store.observation, (OBSERVED, COVERAGE_WITHDRAWN))
    return {observation.name: observation for observation in seen if observation is not None}


def _write(store: StateStore, layout: Layout, seen: dict[str, Observation]) -> None:
    listed = list(seen.values())
    store.turn.write_whole(layout.clocks, msgspec.json.format(msgspec.json.encode(listed), indent=1))


def apart(ahead: timedelta) -> str:
    """Return a difference in words: ``3:00:00 ahead of``, ``1 day, 0:00:10 behind``."""
    return f"{_length(ahead)} {'behind' if ahead < NO_TIME else 'ahead of'}"


def _length(length: timedelta) -> str:
    return str(timedelta(seconds=round(abs(length).total_seconds())))


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
