"""Check, before the first page of a read, whether the disk has enough room for it.

The need is estimated from the average size of a shipment so far, or a typical size. Measured on 12,000 shipments, bytes
per shipment: 1,020 in raw pages, 280 in Parquet files, 1,100 to 2,400 in a database, of which three exist during
publishing.
"""

from __future__ import annotations

import shutil

from wms_sync.layout import Layout
from wms_sync.shipments.read.errors import NotEnoughRoom
from wms_sync.state.store import StateStore

RAW_BYTES = 1100
"""Size of a shipment in raw pages, used while none has been read."""
ALL_OF_IT = 6
"""Bytes that a shipment needs in total, for each byte in raw pages."""


def refuse_without_room(layout: Layout, store: StateStore, records: int) -> None:
    """Raise ``NotEnoughRoom`` if the disk cannot hold this many more shipments and the published copy."""
    landed, landed_bytes = store.landed_so_far()
    each = landed_bytes / landed if landed else RAW_BYTES
    published = layout.published.stat().st_size if layout.published.exists() else 0
    needed = int(records * each * ALL_OF_IT) + published
    free = shutil.disk_usage(layout.root).free
    if needed > free:
        raise NotEnoughRoom(records=records, needed=needed, free=free, folder=layout.root)
