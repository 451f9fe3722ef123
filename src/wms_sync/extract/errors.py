"""What can go wrong while pages become files."""

from __future__ import annotations

from wms_sync.errors import WmsSyncError


class ExtractError(WmsSyncError):
    """Reading windows failed."""


class WindowIncomplete(ExtractError):
    """The service's own count proves that records are missing from a window that was read to its end."""
