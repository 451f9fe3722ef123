"""The parameters of a run's listing: the page size, the widening of the filter, the removal of personal data.

The page size is the setting, or the largest that the service accepts; the precision of the service's filter is measured
before the first read. Both are remembered, and tried again after a while.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service import probe
from wms_sync.service.body import packed
from wms_sync.service.client import GlobalApi
from wms_sync.service.query import Page
from wms_sync.service.shipments import PageSize, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.progress import Warnings
from wms_sync.state.store import StateStore


def is_recent(span: timedelta, moment: datetime, now: datetime | None = None) -> bool:
    """Return whether ``moment`` is less than ``span`` ago.

    A moment in the future is not recent: it comes from a clock that was ahead, and work that depends on it would wait
    until that moment.
    """
    return timedelta(0) <= (now or datetime.now(UTC)) - moment < span


LARGEST_PAGE = "largest_page"
ASKED_AGAIN = timedelta(hours=20)
"""The time after which the setting is tried again: once a night, however often a sync runs."""


def page_size(settings: Settings, store: StateStore, warnings: Warnings) -> PageSize:
    """Return the page size for a run; it warns if the service accepts only smaller pages than the setting."""
    wanted = settings.page_size

    def found(size: int) -> None:
        if size != known:
            store.observe(LARGEST_PAGE, size, str(wanted))
        warnings.warn(
            f"The service refuses pages of {wanted} shipments (WMS_PAGE_SIZE) but accepts {size}, so pages of {size} "
            f"are read. Set WMS_PAGE_SIZE={size}."
        )

    known = _known_size(store, wanted)
    return PageSize(wanted, known=known, found=found)


def _known_size(store: StateStore, wanted: int) -> int | None:
    seen = store.observation(LARGEST_PAGE)
    if seen is None or seen.about != str(wanted) or not is_recent(ASKED_AGAIN, seen.observed_at):
        return None
    return int(seen.value)


WIDENING = "filter_widening_seconds"
TRIED_AGAIN = timedelta(days=7)


def settle_widening(listing: ShipmentListing, store: StateStore, service: str) -> timedelta:
    """Set the listing's widening and return it. Raise ``FilterMisses`` if no widening helps.

    ``service`` is the instance's address: another instance is measured again.
    """
    seen = store.observation(WIDENING)
    if seen is None or seen.about != service or not is_recent(TRIED_AGAIN, seen.observed_at):
        found = probe.widening(listing)
        if found is not None:
            store.observe(WIDENING, int(found.total_seconds()), service)
    listing.widening = known_widening(store)
    return listing.widening


def known_widening(store: StateStore) -> timedelta:
    """Return the last measured widening; zero if there was no shipment to try."""
    seen = store.observation(WIDENING)
    return timedelta(0) if seen is None else timedelta(seconds=seen.value)


def listing_of(settings: Settings, api: GlobalApi, size: PageSize, warnings: Warnings) -> ShipmentListing:
    """Return a listing of the service's shipments in pages of ``size``."""
    return ShipmentListing(api, page_size=size, include_addresses=settings.include_addresses, remark=warnings.remark)


class Cleaner:
    """Cleans the pages of one read; thread-safe."""

    def __init__(self, forgotten: Collection[int], *, include_addresses: bool) -> None:
        self._forgotten = forgotten
        self._include_addresses = include_addresses

    def __call__(self, page: Page) -> Page:
        """Return the page without data that must not be stored."""
        clean = self._clean(page)
        return page if clean is None else replace(page, body=packed(clean))

    def _clean(self, page: Page) -> bytes | None:
        content = page.body.content
        impersonal = None
        if page.envelope.suspect and not self._include_addresses:
            impersonal = without_persons(content)
        forgotten = without_orders(impersonal or content, self._forgotten)
        return impersonal if forgotten is None else forgotten
