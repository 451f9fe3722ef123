"""The errors of master data.

    MasterDataError
    ├── UnreadableFile    the file cannot be read as CSV; no row was processed
    ├── TooManyCreates    the plan has more creates than allowed; no row was sent
    ├── ServiceKeepsFailing    several consecutive creates failed; the push stopped
    ├── ServiceIsBusy     the service was too busy for several consecutive creates; the push stopped
    └── ServiceRepeatsIds    two creates were answered with the same id; the push stopped

A row that breaks a rule raises no error: it yields a ``Violation``, and the other rows are still handled.
"""

from __future__ import annotations

import os
from pathlib import Path

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of


class MasterDataError(WmsSyncError):
    """Master data could not be pushed."""


class UnreadableFile(MasterDataError):
    """The file is not CSV, or cannot be read. The message gives the reason and says what to do."""

    exit_code = 2

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        printable = os.fsencode(path).decode("utf-8", errors="replace")  # the path may not be UTF-8
        super().__init__(f"{printable} cannot be read: {reason}")


class TooManyCreates(MasterDataError):
    """The plan has more creates than ``WMS_PUSH_LIMIT``. The message shows how to allow them."""

    exit_code = 2


class ServiceKeepsFailing(MasterDataError):
    """Several consecutive creates failed. It is safe to push the unsent rows again."""

    def __init__(self, failures: int, last: str | None) -> None:
        super().__init__(
            f"The last {count_of(failures, 'create')} failed or got no answer, each after all retries, so the push "
            f"stopped. Push again when the service has recovered. The last answer: {last}"
        )


class ServiceIsBusy(MasterDataError):
    """The service accepts no more creates for now. It is safe to push the unsent rows again."""

    def __init__(self, rows: int, last: str | None) -> None:
        super().__init__(
            f"The service was too busy for the last {count_of(rows, 'create')}, after all retries, so the push "
            f"stopped. Push again later; a lower WMS_MAX_PARALLEL_REQUESTS reduces the load. The last answer: {last}"
        )


class ServiceRepeatsIds(MasterDataError):
    """Two creates were answered with the same id, so a reference to one object could point to the other."""

    def __init__(self, remote_id: int, first: str, second: str) -> None:
        super().__init__(
            f"The service answered the creates of {first} and {second} with the same id {remote_id}, so the push "
            f"stopped. Both count as created, with unknown ids. Report it to the service, check the objects created "
            f"below {first} meanwhile, and push again when a sync has read their ids."
        )
