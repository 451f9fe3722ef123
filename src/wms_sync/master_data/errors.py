"""What can go wrong between a CSV file and the service.

    MasterDataError
    └── UnreadableFile    the file cannot be read as CSV at all; nothing of it was looked at

A row that breaks a rule is no error: it becomes an ``Offence`` and the other rows go on.
"""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import WmsSyncError


class MasterDataError(WmsSyncError):
    """Master data could not be pushed."""


class UnreadableFile(MasterDataError):
    """What was given is no CSV file; the message says what it is instead and what to do."""

    exit_code = 2

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be read: {reason}")
