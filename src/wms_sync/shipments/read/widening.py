"""How much wider than a window its filter must be: found before the first read, remembered, and tried again weekly."""

from __future__ import annotations

from datetime import timedelta

from wms_sync.service import probe
from wms_sync.service.shipments import ShipmentListing
from wms_sync.shipments.read.lately import was_within
from wms_sync.state.store import StateStore

WIDENING = "filter_widening_seconds"
TRIED_AGAIN = timedelta(days=7)


def settle(listing: ShipmentListing, store: StateStore, service: str) -> timedelta:
    """Set the listing's widening and return it. Raises ``FilterMisses`` if no widening helps.

    ``service`` is the instance's address: another one is tried anew.
    """
    seen = store.observation(WIDENING)
    if seen is None or seen.about != service or not was_within(TRIED_AGAIN, seen.observed_at):
        found = probe.widening(listing)
        if found is not None:
            store.observe(WIDENING, int(found.total_seconds()), service)
    listing.widening = remembered(store)
    return listing.widening


def remembered(store: StateStore) -> timedelta:
    """Return the widening that was found last; none if there was no shipment to try."""
    seen = store.observation(WIDENING)
    return timedelta(0) if seen is None else timedelta(seconds=seen.value)
