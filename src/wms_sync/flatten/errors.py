"""What can go wrong between raw pages and Parquet.

    FlattenError
    ├── PageDamagedError    a raw file cannot be read as it was written
    └── RecordsLostError    shipments on the pages and shipments accounted for differ

A value or a record that does not fit is no error: it goes to ``ops.quarantine`` and the sync goes on.
"""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import WmsSyncError


class FlattenError(WmsSyncError):
    """A batch of pages could not be flattened; no row of it counts."""


class PageDamagedError(FlattenError):
    """The compressed file is cut short or altered: reading the window again mends it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"The raw page {path.name} of {path.parent.name} is not as it was received ({reason}). "
            "Read its days again: `wms-sync backfill --from DAY --to DAY`."
        )


class RecordsLostError(FlattenError):
    """The count of shipments does not come out; nothing was handed on."""

    def __init__(self, *, window_id: str, expected: int, rows: int, removed: int) -> None:
        self.window_id, self.expected, self.rows, self.removed = window_id, expected, rows, removed
        super().__init__(
            f"Window {window_id}: its pages hold {expected} shipments, but {rows} rows and {removed} records in "
            "quarantine came out. Nothing was loaded; this is a defect of wms-sync: keep the raw pages and report it."
        )
