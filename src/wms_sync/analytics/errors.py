"""What can go wrong between Parquet and the published file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wms_sync.errors import SettingsError, WmsSyncError


class AnalyticsError(WmsSyncError):
    """Loading, checking or publishing failed; the published file is as it was."""


class CountsDisagreeError(AnalyticsError):
    """Rows would be lost or doubled between two steps; the transaction was refused."""


class RawPagesDamagedError(AnalyticsError):
    """Raw pages on disk are not what was received; their windows count as unread from now on."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        shown = "\n".join(f"- {reason}" for reason in reasons)
        super().__init__(
            f"{len(reasons)} windows have a raw page that is damaged; nothing was merged or published. What they cover "
            f"counts as unread now: run `wms-sync sync`, which asks for it again, then what you wanted.\n{shown}"
        )


class SchemaChangedError(AnalyticsError):
    """The stored tables were made by other definitions than the ones in ``sql/``."""


class DatabaseOpenError(AnalyticsError):
    """The working or the published file cannot be opened, or is damaged."""


class UnknownShipmentError(AnalyticsError):
    """A shipment that is to be explained is on no page that was read."""


class UnknownOrderError(AnalyticsError):
    """A name that means no order, or more than one."""

    exit_code = 2


class ForgottenOrdersLostError(AnalyticsError):
    """Neither the file nor the state store can be trusted to know all orders that were forgotten."""

    def __init__(self, path: Path, damage: str) -> None:
        super().__init__(
            f"{path} {damage}, and the state store is not the one that it was: which orders were forgotten is not "
            "known any more, and their persons would be stored again. Nothing was read or loaded. Put back a copy of "
            "this file, or of the state store, or write the file yourself: the ids of the orders that were forgotten "
            "as a JSON list, such as [4711, 4712], or [] if none ever was."
        )


class AnotherServiceError(SettingsError):
    """The data folder holds another service than the one that is set."""

    def __init__(self, held: str, base_url: str) -> None:
        super().__init__(
            f"This data folder holds {held}, and WMS_BASE_URL is {base_url}: both in one would be neither. Nothing was "
            f"read, loaded or sent. Give {base_url} a WMS_DATA_DIR of its own (and a WMS_STATE_URL, where that is set)."
        )
