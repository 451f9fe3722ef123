"""Errors of the state store."""

from __future__ import annotations

from wms_sync.errors import SettingsError, WmsSyncError


class StateError(WmsSyncError):
    """The state store could not be read or written."""


class StateUrlError(SettingsError):
    """``WMS_STATE_URL`` does not name a database that can be opened."""


class TakenOver(StateError):
    """Another process has taken over as the writer; this process's pending write was not made."""
