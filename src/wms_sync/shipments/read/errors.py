"""The errors of reading pages into files."""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of


class ExtractError(WmsSyncError):
    """Reading windows failed."""


class WindowIncomplete(ExtractError):
    """A window was read to its end, but some of the service's records for it were not landed."""


class ManifestDamaged(ExtractError):
    """A manifest cannot be read, or belongs to another window, such as after copying a folder by hand."""

    def __init__(self, key: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{key} cannot be used: {reason}.")


class NotEnoughRoom(ExtractError):
    """The disk has no room for the read; nothing was requested."""

    def __init__(self, *, records: int, needed: int, free: int, folder: Path) -> None:
        from rich.filesize import decimal  # only needed here

        self.records, self.needed, self.free = records, needed, free
        super().__init__(
            f"{count_of(records, 'shipment needs', 'shipments need')} about {decimal(needed)} on disk, including "
            f"tables and their copies, but only {decimal(free)} are free in {folder}. Nothing was read. Free disk "
            "space, move WMS_DATA_DIR, or read less: set a later WMS_START_DATE, or backfill fewer days."
        )
