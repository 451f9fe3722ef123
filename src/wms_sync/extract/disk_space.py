"""Is there room on the disk for what is about to be read? Asked before the first page of it.

An estimate: what a shipment took on disk so far, or a usual one, times what becomes of it. Measured on 12,000
shipments, bytes each: 1,020 in raw pages, 280 in Parquet files, 1,100 to 2,400 in a database, of which there are three
while one is published.
"""

from __future__ import annotations

import shutil

from wms_sync.extract.errors import NotEnoughRoom
from wms_sync.layout import Layout
from wms_sync.state.store import StateStore

RAW_BYTES = 1100
"""Of a shipment, where none was read yet."""
ALL_OF_IT = 6
"""How much a shipment takes in all, for each byte of it in raw pages."""


def refuse_without_room(layout: Layout, store: StateStore, records: int) -> None:
    """Raises ``NotEnoughRoom`` when the disk cannot hold so many shipments more, and the copy that is published."""
    landed, landed_bytes = store.landed_so_far()
    each = landed_bytes / landed if landed else RAW_BYTES
    published = layout.published.stat().st_size if layout.published.exists() else 0
    needed = int(records * each * ALL_OF_IT) + published
    free = shutil.disk_usage(layout.root).free
    if needed > free:
        raise NotEnoughRoom(records=records, needed=needed, free=free, folder=layout.root)
