"""What can go wrong while pages become files."""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import WmsSyncError


class ExtractError(WmsSyncError):
    """Reading windows failed."""


class WindowIncomplete(ExtractError):
    """The service's own count proves that records are missing from a window that was read to its end."""


class NotEnoughRoom(ExtractError):
    """The disk cannot hold what is to be read; nothing was asked for."""

    def __init__(self, *, records: int, needed: int, free: int, folder: Path) -> None:
        self.records, self.needed, self.free = records, needed, free
        super().__init__(
            f"{records:,} shipments take about {needed / 1e9:,.1f} GB on disk, tables and their copies included, and "
            f"{free / 1e9:,.1f} GB are free in {folder}. Nothing was read. Free disk space, move WMS_DATA_DIR, or read "
            "less: a later WMS_START_DATE, a shorter backfill."
        )
