"""The parameters of a run's listing: the page size, the widening of the filter, the removal of personal data.

The page size is the setting, or the largest that the service accepts. The precision of the service's filter is measured
before the first read, and again once a week.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice

from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service.body import packed
from wms_sync.service.client import GlobalApi
from wms_sync.service.envelope import change_time
from wms_sync.service.errors import FilterMisses
from wms_sync.service.query import Page
from wms_sync.service.shipments import PageSize, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.store import StateStore


def is_recent(span: timedelta, moment: datetime) -> bool:
    """Return whether ``moment`` is less than ``span`` ago.

    A moment in the future is not recent: it comes from a clock that was ahead, and work that depends on it would wait
    until that moment.
    """
    return timedelta(0) <= datetime.now(UTC) - moment < span


def page_size(settings: Settings, warnings: Warnings) -> PageSize:
    """Return the page size for a run. It warns if the service accepts only pages smaller than the setting asks for."""
    wanted = settings.page_size
    return PageSize(
        wanted,
        found=lambda size: warnings.warn(
            f"The service refuses pages of {wanted} shipments (WMS_PAGE_SIZE) but accepts {size}, so pages of {size} "
            f"are read. Set WMS_PAGE_SIZE={size}."
        ),
    )


WIDENING = "filter_widening_seconds"
TRIED_AGAIN = timedelta(days=7)


def settle_widening(listing: ShipmentListing, store: StateStore, service: str) -> timedelta:
    """Set the listing's widening and return it. Raise ``FilterMisses`` if no widening helps.

    ``service`` is the instance's address: if it has changed, the filter is measured again.
    """
    seen = store.observation(WIDENING)
    if seen is None or seen.about != service or not is_recent(TRIED_AGAIN, seen.observed_at):
        found = measured_widening(listing)
        if found is not None:
            store.observe(WIDENING, int(found.total_seconds()), service)
    listing.widening = known_widening(store)
    return listing.widening


def known_widening(store: StateStore) -> timedelta:
    """Return the last measured widening; zero if none has been measured."""
    seen = store.observation(WIDENING)
    return timedelta(0) if seen is None else timedelta(seconds=seen.value)


def listing_of(settings: Settings, api: GlobalApi, size: PageSize) -> ShipmentListing:
    """Return a listing of the service's shipments in pages of ``size``."""
    return ShipmentListing(api, page_size=size, include_addresses=settings.include_addresses)


class Cleaner:
    """Removes from the pages of one read the personal data that must not be stored; thread-safe."""

    def __init__(self, forgotten: Collection[int], *, include_addresses: bool) -> None:
        self._forgotten = forgotten
        self._include_addresses = include_addresses

    def __call__(self, page: Page) -> Page:
        """Return the page without personal data that must not be stored."""
        clean = self._clean(page)
        return page if clean is None else replace(page, body=packed(clean))

    def _clean(self, page: Page) -> bytes | None:
        content = page.body.content
        impersonal = None
        if page.envelope.suspect and not self._include_addresses:
            impersonal = without_persons(content)
        forgotten = without_orders(impersonal or content, self._forgotten)
        return impersonal if forgotten is None else forgotten


EXACT = timedelta(0)
STEPS = (timedelta(minutes=1), timedelta(days=1))
"""How far around its ``updated_at`` a shipment is searched for if a filter on that second misses it."""
MOST_TRIED = 3
"""The maximum number of shipments to try: a shipment may change or be deleted during the trial."""


def measured_widening(listing: ShipmentListing) -> timedelta | None:
    """Return the time by which to widen a window's filter on both sides; None if there is no shipment to try.

    The specification leaves open how exactly the service filters by ``updated_at``. A filter may compare minutes or
    dates, or read times in a zone other than UTC. Windows that follow each other to the second would then lose changes
    near their ends, and a sync within one day would find nothing. So the filter of each window is widened on both sides
    by more than the measured error.

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


def describe_widening(found: timedelta) -> str:
    """Describe the filter's error and its remedy; ``found`` is not ``EXACT``."""
    if found < timedelta(hours=1):
        compares, wider = "minutes", count_of(found // timedelta(minutes=1), "minute")
    else:
        compares, wider = "dates, or reads times in a zone other than UTC", count_of(found.days, "day")
    return (
        f"The service's filter on updated_at compares {compares}. Each window is read {wider} wider on both sides, so "
        "no change is missed."
    )


def _widening_for(listing: ShipmentListing, shipment: int, changed_at: datetime) -> timedelta | None:
    """Return ``EXACT``, or twice the step that finds the shipment: others lie elsewhere in their minute or day.

    Return None if no step finds it.
    """
    if shipment in listing.first_ids(changed_at, changed_at + timedelta(seconds=1)):
        return EXACT
    for step in STEPS:
        if shipment in listing.first_ids(changed_at - step, changed_at + step):
            return 2 * step
    return None


def _references(times: Mapping[int, object]) -> Iterator[tuple[int, datetime]]:
    """Yield shipments with their change times in whole seconds; those near either end of a minute or day come last.

    Even a filter that compares minutes finds a shipment that changed in the last second of a minute.
    """
    read = ((shipment, change_time(updated_at)) for shipment, updated_at in times.items())
    dated = [(shipment, changed_at.replace(microsecond=0)) for shipment, changed_at in read if changed_at is not None]
    yield from sorted(dated, key=lambda reference: not _is_inside(reference[1]))


def _is_inside(moment: datetime) -> bool:
    """Return whether a moment is away from both ends of its minute, and of its hour and day in any zone."""
    return 1 <= moment.second <= 58 and 1 <= moment.minute % 15 <= 13
