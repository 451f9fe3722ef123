"""What can go wrong between Parquet and the published file."""

from __future__ import annotations

from wms_sync.errors import WmsSyncError


class AnalyticsError(WmsSyncError):
    """Loading, checking or publishing failed; the published file is as it was."""


class CountsDisagreeError(AnalyticsError):
    """Rows would be lost or doubled between two steps; the transaction was refused."""


class SchemaChangedError(AnalyticsError):
    """The stored tables were made by other definitions than the ones in ``sql/``."""


class DatabaseOpenError(AnalyticsError):
    """The working file cannot be opened."""


class UnknownShipmentError(AnalyticsError):
    """A shipment that is to be explained is on no page that was read."""
