"""What can go wrong with what is remembered."""

from __future__ import annotations

from wms_sync.errors import SettingsError, WmsSyncError


class StateError(WmsSyncError):
    """The state store could not be read or written."""


class StateUrlError(SettingsError):
    """``WMS_STATE_URL`` names no database that can be opened."""


class TakenOver(StateError):
    """Another process writes now; whatever this one was about to write is not written."""
