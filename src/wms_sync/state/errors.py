"""Errors of the state store."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from wms_sync.errors import SettingsError, WmsSyncError

_LATER = re.compile(r"start(?:ing|ed) up|shutting down|terminat|recovery|too many|slots|not accepting", re.IGNORECASE)
"""What PostgreSQL says when it refuses a connection only now."""


class StateError(WmsSyncError):
    """The state store could not be read or written."""


class StateBusy(StateError):
    """Another process is in the middle of a write, and does not end it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The state store {path} cannot be used ({reason}). Another process is in the middle of a write to it: one "
            "that is suspended or on another machine, or a program that shows databases. Let it continue, or end it; "
            "then run again."
        )


class StateDamaged(StateError):
    """The file of the state store is damaged."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The state store {path} is damaged ({reason}). Move it away, with {path.name}-wal and {path.name}-shm if "
            "they are there, and run again: the next run restores what was read from raw pages, and the ledger of "
            "creates from its copies. Or put a backup back (`wms-sync restore`)."
        )


class StateSilent(StateError):
    """PostgreSQL cannot be reached, or has ended the session."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The state store does not answer ({' '.join(reason.split())}). Run again once it does.")


def silence(reason: str) -> StateError:
    """Return the error for what PostgreSQL's client says of a connection: whether it refuses, or may answer later."""
    if "FATAL" in reason and not _LATER.search(reason):  # a wrong password, an unknown database
        return StateError(f"The state store could not be opened ({' '.join(reason.split())}). Look at WMS_STATE_URL.")
    return StateSilent(reason)


class StateRefused(StateError):
    """PostgreSQL is there, and lets nobody write, or not this role."""

    MENDED_BY: ClassVar[Mapping[str, str]] = {
        "25006": "It is a standby, or the database was set read-only, as some providers do when its disk is full. Let "
        "WMS_STATE_URL lead to the primary, or free space and allow writing",
        "42501": "Let WMS_STATE_URL name the role that made the tables, or grant its role all rights on them",
        "53100": "Free space on its disk",
    }
    """By PostgreSQL's code of the error."""

    def __init__(self, code: str, reason: str) -> None:
        first_line = reason.partition("\n")[0]
        super().__init__(
            f"PostgreSQL, which keeps the state, refuses ({first_line}). {self.MENDED_BY[code]}; then run again."
        )


class StateUrlError(SettingsError):
    """``WMS_STATE_URL`` does not name a database that can be opened."""


class TakenOver(StateError):
    """Another process has taken over as the writer; this process's pending write was not made."""


class StateOlder(StateError):
    """An older release wrote the state store or the manifests of raw pages."""

    def __init__(self) -> None:
        super().__init__(
            "The data was written by an older release of wms-sync, which this release cannot read, and nothing was "
            "changed: move the data folder away or set another WMS_DATA_DIR, set WMS_STATE_URL and WMS_FILES_URL to "
            "empty places too if you use them, and run again."
        )


class StateNewer(StateError):
    """A newer release has written the state store, and with it the data folder."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The data folder was written by a newer release of wms-sync (its state store has {', '.join(names)}). "
            "Nothing was read, loaded or sent. Update wms-sync, then run again."
        )


class CopyOlder(StateError):
    """A copy of the state store was made by an older release."""

    def __init__(self) -> None:
        super().__init__(
            "The copy was made by an older release of wms-sync, which this release cannot read, and nothing was "
            "changed: restore it with the release that made it."
        )


class MigrationsUnknown(StateError):
    """A copy of the state store was made by a newer release."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The copy was made by a newer release of wms-sync (its state store has {', '.join(names)}). Nothing was "
            "changed. Install that release, or a later one, and try again."
        )


class RestoreUnfinished(StateError):
    """A restore into this data folder was interrupted, so what it holds is not whole."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"A restore from {folder} into this data folder was interrupted, so what it holds is not whole. Nothing "
            f"was read, loaded or sent. Run `wms-sync restore {folder}` again: it begins anew."
        )
