"""What can go wrong between raw pages and Parquet.

    FlattenError
    ├── PageDamagedError    a raw file cannot be read as it was written
    │   └── PageUnreadableError     it can, and no record can be made out in it
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


class PageUnreadableError(PageDamagedError):
    """Not one record can be told from another: the window is asked for again, once."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        FlattenError.__init__(
            self,
            f"No record can be made out in the raw page {path.name} of {path.parent.name} ({reason}). Its window is "
            "asked for again; if the service sends the same, its records go to ops.quarantine by their number.",
        )


class RecordsLostError(FlattenError):
    """The shipments of a page do not come out; nothing was handed on."""

    def __init__(self, *, window_id: str, page: int, expected: int, rows: int, removed: int) -> None:
        self.window_id, self.page, self.expected, self.rows, self.removed = window_id, page, expected, rows, removed
        super().__init__(
            f"Window {window_id}: page {page} holds {expected} shipments, but {rows} rows and {removed} records in "
            "quarantine came out. Nothing was loaded; this is a defect of wms-sync: keep the raw pages and report it."
        )
