"""Measure how exactly the service filters by ``updated_at``, which the specification leaves open.

A filter may compare minutes or dates, or read times in another zone than UTC. Windows that follow each other to the
second would then lose changes near their ends, and a sync within one day would find nothing. So the filter of each
window is widened on both sides by more than the measured error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice

from wms_sync.grammar import count_of
from wms_sync.service.envelope import change_time
from wms_sync.service.errors import FilterMisses
from wms_sync.service.shipments import ShipmentListing

EXACT = timedelta(0)
STEPS = (timedelta(minutes=1), timedelta(days=1))
"""The distances from its ``updated_at`` at which a shipment is searched if a filter on that second misses it."""
MOST_TRIED = 3
"""The most shipments to try: one may change or be deleted during the trial."""


def widening(listing: ShipmentListing) -> timedelta | None:
    """Return the time by which to widen a window's filter on both sides; None if there is no shipment to try.

    Takes two requests if the filter is exact, up to ten if nothing is found. Raise ``FilterMisses`` if no shipment is
    found within a day of its ``updated_at``.
    """
    tried = list(islice(_references(listing.first_change_times()), MOST_TRIED))
    for shipment, changed_at in tried:
        if (found := _widening_for(listing, shipment, changed_at)) is not None:
            return found
    if not tried:
        return None
    shipment, changed_at = tried[0]
    raise FilterMisses(
        f"Shipment {shipment} was last changed at {changed_at:%Y-%m-%d %H:%M:%S} UTC, and a filter on updated_at from "
        "a day earlier to a day later does not find it: the service filters by something else. Reading by dates would "
        "lose changes, so nothing is read. Report this to the operator of the service."
    )


def describe(found: timedelta) -> str:
    """Describe the filter's error and its remedy; ``found`` is not ``EXACT``."""
    if found < timedelta(hours=1):
        compares, wider = "minutes", count_of(found // timedelta(minutes=1), "minute")
    else:
        compares, wider = "dates, or reads times in another zone than UTC", count_of(found.days, "day")
    return (
        f"The service's filter on updated_at compares {compares}. Each window is read {wider} wider on both sides, so "
        "no change is missed."
    )


def _widening_for(listing: ShipmentListing, shipment: int, changed_at: datetime) -> timedelta | None:
    """Return twice the step that finds the shipment, because others lie elsewhere in their minute or day."""
    if shipment in listing.first_ids(changed_at, changed_at + timedelta(seconds=1)):
        return EXACT
    for step in STEPS:
        if shipment in listing.first_ids(changed_at - step, changed_at + step):
            return 2 * step
    return None


def _references(times: Mapping[int, object]) -> Iterator[tuple[int, datetime]]:
    """Yield shipments with their change times in whole seconds, first those that are far from the end of any unit.

    Even a filter that compares minutes finds a shipment that changed in the last second of a minute.
    """
    read = ((shipment, change_time(updated_at)) for shipment, updated_at in times.items())
    dated = [(shipment, changed_at.replace(microsecond=0)) for shipment, changed_at in read if changed_at is not None]
    yield from sorted(dated, key=lambda reference: not _is_inside(reference[1]))


def _is_inside(moment: datetime) -> bool:
    """Return whether a moment is not near the end of a minute, or of an hour or a day in any zone."""
    return 1 <= moment.second <= 58 and 1 <= moment.minute % 15 <= 13
