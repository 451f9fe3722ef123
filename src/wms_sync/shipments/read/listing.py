"""The listing of shipments as the settings want it, for every step that reads: sync, backfill, audit, doctor."""

from __future__ import annotations

from wms_sync.service.client import GlobalApi
from wms_sync.service.page_size import PageSize
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.warnings import Warnings


def listing_of(settings: Settings, api: GlobalApi, size: PageSize, warnings: Warnings) -> ShipmentListing:
    """Return a listing of the service's shipments in pages of ``size``."""
    return ShipmentListing(api, page_size=size, include_addresses=settings.include_addresses, remark=warnings.remark)
