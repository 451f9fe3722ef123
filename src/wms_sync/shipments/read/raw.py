"""Raw pages: ``raw/shipments/<window>/page-00001.json.gz``.

A page is written as received, except for personal data that must not be stored, and recorded in the state store once
it is durable.

Before the first page of a read, ``refuse_without_room`` checks that the disk can hold the read. The need is estimated
from the average size of a shipment so far, or a typical size. Measured on 12,000 shipments, bytes per shipment: 1,020
in raw pages, 280 in Parquet files, 1,100 to 2,400 in each of the three databases that exist during publishing.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import PAGES_DROPPED, Layout, name_of, page_name, raw_key
from wms_sync.service.query import Page
from wms_sync.state.leases import Lease
from wms_sync.state.store import LandedPage, StateStore
from wms_sync.storage.files import difference

RAW_BYTES = 1100
"""The assumed size of a shipment in raw pages, in bytes, until a shipment has been read."""
ALL_OF_IT = 6
"""The bytes that a shipment needs on disk in total, for each byte in raw pages."""


class ExtractError(WmsSyncError):
    """Reading windows failed."""


class WindowIncomplete(ExtractError):
    """A window was read to its end, but it is not proved that all its records were landed."""


class NotEnoughRoom(ExtractError):
    """The disk has no room for the read; no page was requested."""

    def __init__(self, *, records: int, needed: int, free: int, folder: Path) -> None:
        from rich.filesize import decimal  # only needed here

        super().__init__(
            f"{count_of(records, 'shipment needs', 'shipments need')} about {decimal(needed)} on disk, including "
            f"tables and their copies, but only {decimal(free)} is free in {folder}. Nothing was read. Free disk "
            "space, move WMS_DATA_DIR, or read less: set a later WMS_START_DATE, or backfill fewer days."
        )


def land(lease: Lease, layout: Layout, window_id: str, number: int, page: Page, next_cursor: int | None) -> LandedPage:
    """Write a page of a window durably. Return the record for the state store."""
    key = layout.files.put(lease, raw_key(window_id, page_name(number, page.body.suffix)), page.body.landed)
    return LandedPage(
        window_id=window_id,
        number=number,
        file=name_of(key),
        next_cursor=next_cursor,
        records=page.envelope.records,
        last_id=page.envelope.ids[-1] if page.envelope.ids else None,
        bytes=len(page.body.landed),
        content_bytes=len(page.body.content),
        sha256=hashlib.sha256(page.body.landed).hexdigest(),
        served_at=page.served_at,
    )


def damage(layout: Layout, page: LandedPage) -> str | None:
    """Describe how a stored page differs from the received page; return None if it does not."""
    key = key_of(page)
    reason = difference(layout.files, key, page.bytes, page.sha256)
    layout.files.release(key)
    return reason


def key_of(page: LandedPage) -> str:
    """Return the key under which a page is stored."""
    return raw_key(page.window_id, page.file)


def delete_unrecorded(lease: Lease, layout: Layout, window_id: str, pages: Iterable[LandedPage]) -> None:
    """Delete the pages of a window that a killed run wrote but did not record."""
    recorded = {page.file for page in pages}
    for name in layout.pages(window_id):
        if name not in recorded:
            layout.files.delete(lease, raw_key(window_id, name))


def drop_pages(lease: Lease, layout: Layout, window_id: str, when: datetime) -> int:
    """Delete the pages of a window deliberately and permanently. Return their size in bytes."""
    files = layout.files
    files.replace(lease, raw_key(window_id, PAGES_DROPPED), msgspec.json.encode({"dropped_at": when}))
    dropped = 0
    for name in layout.pages(window_id):
        key = raw_key(window_id, name)
        dropped += files.size(key) or 0
        files.delete(lease, key)
    return dropped


def is_dropped(layout: Layout, window_id: str) -> bool:
    """Return whether the pages of a window were deleted deliberately; otherwise a missing page is damage."""
    return layout.files.size(raw_key(window_id, PAGES_DROPPED)) is not None


def refuse_without_room(layout: Layout, store: StateStore, records: int) -> None:
    """Raise ``NotEnoughRoom`` if the disk cannot hold this many more shipments and a copy of the published file."""
    landed, landed_bytes = store.landed_so_far()
    each = landed_bytes / landed if landed else RAW_BYTES
    published = layout.published.stat().st_size if layout.published.exists() else 0
    needed = int(records * each * ALL_OF_IT) + published
    free = shutil.disk_usage(layout.root).free
    if needed > free:
        raise NotEnoughRoom(records=records, needed=needed, free=free, folder=layout.root)
