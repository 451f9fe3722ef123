"""A raw page, and the errors on its way to Parquet.

    FlattenError
    ├── PageDamagedError    a raw file is missing or differs from the received page
    │   └── PageUnreadableError     a raw file is intact, but no record can be read from it
    ├── RecordDamagedError  the record of a window's Parquet files cannot be read
    └── RecordsLostError    the number of shipments on a page differs from the number accounted for

A value or record that does not fit its type is not an error: it goes to ``ops.quarantine`` and the sync continues.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import suffix_of
from wms_sync.storage.compression import NO_LIMIT, DamagedStream, StreamTooLarge, decompress


class FlattenError(WmsSyncError):
    """A batch of pages could not be flattened; none of its rows is used."""


class PageDamagedError(FlattenError):
    """The raw file is missing, truncated or altered; reading the window again repairs it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"The raw page {path.name} of window {path.parent.name} is damaged ({reason}). "
            "Read its days again: `wms-sync backfill --from DAY --to DAY`."
        )


class PageUnreadableError(PageDamagedError):
    """No record can be read from the page; the window is read again, once."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        FlattenError.__init__(
            self,
            f"No record can be read from the raw page {path.name} of window {path.parent.name} ({reason}). The window "
            "will be read again; if the service sends the same page, ops.quarantine lists its records by position.",
        )


class RecordDamagedError(FlattenError):
    """The record of a window's Parquet files cannot be read; flattening the window again rewrites it."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"{key}, the record of the window's Parquet files, is damaged. `wms-sync rebuild` rewrites it."
        )


class RecordsLostError(FlattenError):
    """The rows and quarantined shipments of a page do not add up to its shipments; nothing was loaded."""

    def __init__(self, *, window_id: str, page: int, expected: int, rows: int, removed: int) -> None:
        self.window_id, self.page, self.expected, self.rows, self.removed = window_id, page, expected, rows, removed
        super().__init__(
            f"Window {window_id}: page {page} has {count_of(expected, 'shipment')}, but flattening gave "
            f"{count_of(rows, 'row')} and "
            f"{count_of(removed, 'quarantined record')}. Nothing was loaded. This is a bug in wms-sync: keep the raw "
            "pages and report it."
        )


class RawPage(Struct, frozen=True):
    """``page-00001.json.gz`` or ``.json.zst``: one response of list shipments (specification 2.6)."""

    path: Path
    number: int
    records: int
    extracted_at: datetime
    uncompressed_bytes: int
    is_retry: bool = False
    """The page's window was read a second time because a page was unreadable the first time."""

    def content(self) -> bytes:
        """Return the response, decompressed. Raise ``PageDamagedError``."""
        return unpacked_page(self.path.read_bytes(), self.path, self.uncompressed_bytes)


def unpacked_page(stored: bytes, path: Path, largest: int = NO_LIMIT) -> bytes:
    """Decompress the ``stored`` content of the raw file at ``path``. Raise ``PageDamagedError``."""
    suffix = suffix_of(path.name)
    if suffix == "json":
        return stored
    try:
        return decompress(stored, suffix, largest=largest)
    except (DamagedStream, StreamTooLarge) as error:
        raise PageDamagedError(path, str(error)) from None
