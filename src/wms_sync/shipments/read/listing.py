"""The listing of a run: its page size, and the trial of the service's filter.

The page size is the setting, or the largest that the service accepts. The service's filter on ``updated_at`` is tried
before the first read, and again once a week.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from wms_sync.service.client import GlobalApi
from wms_sync.service.envelope import change_time
from wms_sync.service.errors import FilterMisses
from wms_sync.service.selection import Selection
from wms_sync.service.shipments import Learned, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.store import StateStore

FOUND = "shipment_found_by_filter"
TRIED_AGAIN = timedelta(days=7)
MOST_TRIED = 3
"""The maximum number of shipments to try: a shipment may change or be deleted during the trial."""


def is_recent(span: timedelta, moment: datetime) -> bool:
    """Return whether ``moment`` is less than ``span`` ago.

    A moment in the future is not recent: it comes from a clock that was ahead, and work that depends on it would wait
    until that moment.
    """
    return timedelta(0) <= datetime.now(UTC) - moment < span


def try_filter(listing: ShipmentListing, store: StateStore, service: str) -> None:
    """Try the filter on ``updated_at`` if that is due. Raise ``FilterMisses`` if it is not exact.

    ``service`` is the instance's address: if it has changed, the filter is tried again.
    """
    seen = store.observation(FOUND)
    if seen is None or seen.about != service or not is_recent(TRIED_AGAIN, seen.observed_at):
        shipment = found_by_filter(listing)
        if shipment is not None:
            store.observe(FOUND, shipment, service)


def listing_of(settings: Settings, api: GlobalApi, page_size: int | None = None) -> ShipmentListing:
    """Return a listing of the service's shipments, in pages of ``page_size``, or else of the setting."""
    selection = Selection.whole(include_addresses=settings.include_addresses)
    return ShipmentListing(api, Learned(page_size or settings.page_size, selection))


def warn_of_page_size(learned: Learned, wanted: int, warnings: Warnings) -> None:
    """Warn if the service accepts only pages smaller than the setting asks for."""
    if learned.page_size < wanted:
        warnings.warn(
            "page-size",
            f"The service refuses pages of {wanted} shipments (WMS_PAGE_SIZE) but accepts {learned.page_size}, so "
            f"pages of {learned.page_size} are read. Set WMS_PAGE_SIZE={learned.page_size}.",
        )


def found_by_filter(listing: ShipmentListing) -> int | None:
    """Return a shipment that a filter on the second of its ``updated_at`` finds; None if there is none to try.

    The specification leaves open how exactly the service filters by ``updated_at``. With a filter that compares minutes
    or dates, or reads times in a zone other than UTC, windows that follow each other to the second would lose changes
    near their ends, and a sync within one day would find nothing.

    Takes two requests if the filter is exact, up to four if nothing is found. Raise ``FilterMisses`` if none is found.
    """
    times = ((shipment, change_time(updated_at)) for shipment, updated_at in listing.first_change_times().items())
    dated = [(shipment, changed_at.replace(microsecond=0)) for shipment, changed_at in times if changed_at is not None]
    # a filter that compares minutes finds what changed in the first or last second of one, so that comes last
    tried = sorted(dated, key=lambda shipment: shipment[1].second in {0, 59})[:MOST_TRIED]
    for shipment, changed_at in tried:
        if shipment in listing.first_ids(changed_at, changed_at + timedelta(seconds=1)):
            return shipment
    if not tried:
        return None
    shipment, changed_at = tried[0]
    raise FilterMisses(
        f"Shipment {shipment} was last changed at {changed_at:%Y-%m-%d %H:%M:%S} UTC, and a filter on updated_at for "
        "that second does not find it: the service compares minutes or dates, reads times in a zone other than UTC, or "
        "filters by something else. Reading by such a filter would lose changes, so nothing is read. Ask the operator "
        "of the service for a filter that compares seconds in UTC."
    )
