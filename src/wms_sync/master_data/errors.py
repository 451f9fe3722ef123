"""What can go wrong between a CSV file and the service.

    MasterDataError
    ├── UnreadableFile    the file cannot be read as CSV at all; nothing of it was looked at
    ├── TooManyCreates    a push would create more than it may; nothing was sent
    ├── ServiceKeepsFailing    one create after the other was not done; the push stopped
    ├── ServiceIsBusy     one create after the other met a service that was too busy; the push stopped
    └── ServiceRepeatsIds    two creates were answered with the same id; the push stopped

A row that breaks a rule is no error: it becomes an ``Offence`` and the other rows go on.
"""

from __future__ import annotations

import os
from pathlib import Path

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of


class MasterDataError(WmsSyncError):
    """Master data could not be pushed."""


class UnreadableFile(MasterDataError):
    """What was given is no CSV file; the message says what it is instead and what to do."""

    exit_code = 2

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{_shown(path)} cannot be read: {reason}")


def _shown(path: Path) -> str:
    """A path that can be printed and stored, also where its bytes are no UTF-8."""
    return os.fsencode(path).decode("utf-8", errors="replace")


class TooManyCreates(MasterDataError):
    """The plan has more creates than ``WMS_PUSH_LIMIT``; the message says how to allow them."""

    exit_code = 2


class ServiceKeepsFailing(MasterDataError):
    """The service fails whatever is sent; what was not sent is safe to push again."""

    def __init__(self, failures: int, last: str | None) -> None:
        super().__init__(
            f"The service did or answered none of the last {count_of(failures, 'create')}, each after all retries, so "
            f"the push stopped. Push again when it is well. The last answer: {last}"
        )


class ServiceIsBusy(MasterDataError):
    """The service takes no more for now; what was not sent is safe to push again."""

    def __init__(self, rows: int, last: str | None) -> None:
        super().__init__(
            f"The service was too busy for the last {count_of(rows, 'create')}, after all retries, so the push "
            f"stopped. Push again later; a lower WMS_MAX_PARALLEL_REQUESTS asks less of it. The last answer: {last}"
        )


class ServiceRepeatsIds(MasterDataError):
    """Two things got the same id, so that what refers to one of them could be created under the other."""

    def __init__(self, remote_id: int, first: str, second: str) -> None:
        super().__init__(
            f"The service answered the creates of {first} and {second} with the same id {remote_id}, so the push "
            f"stopped. Both count as created, with ids that are not known. Report it to the service, look what was "
            f"created below {first} meanwhile, and push again when a sync has shown their ids."
        )
