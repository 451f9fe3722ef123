"""Errors of the state store."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from wms_sync.errors import WmsSyncError

_LATER = re.compile(r"start(?:ing|ed) up|shutting down|terminat|recovery|too many|slots|not accepting", re.IGNORECASE)
"""The wording of PostgreSQL's messages when it refuses a connection temporarily."""


class StateError(WmsSyncError):
    """The state store could not be read or written."""


class StateBusy(StateError):
    """Another process is in the middle of a write and does not finish it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The state store {path} cannot be used ({reason}). Another process is in the middle of a write to it: a "
            "suspended process, a process on another machine, or a database browser. Let it continue, or end it; then "
            "run again."
        )


class StateDamaged(StateError):
    """The file of the state store is damaged."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The state store {path} is damaged ({reason}). Move it to another folder, with {path.name}-wal and "
            f"{path.name}-shm if they exist, and run again: the next run restores the state from the newest snapshot "
            "(raw/state-*), and the ledger of creates from creates.jsonl."
        )


class StateSilent(StateError):
    """PostgreSQL cannot be reached, or ended the session."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The state store does not answer ({' '.join(reason.split())}). Run again once it does.")


def silence(reason: str) -> StateError:
    """Return the error for a message of PostgreSQL's client: ``StateSilent``, unless it is a final refusal."""
    if "FATAL" in reason and not _LATER.search(reason):  # a wrong password, an unknown database
        return StateError(f"The state store could not be opened ({' '.join(reason.split())}). Check WMS_STATE_URL.")
    return StateSilent(reason)


class StateRefused(StateError):
    """PostgreSQL answers but does not allow writing, at all or for this role."""

    MENDED_BY: ClassVar[Mapping[str, str]] = {
        "25006": "It is a standby, or the database was set read-only, as some providers do when its disk is full. "
        "Point WMS_STATE_URL to the primary, or free space and allow writing",
        "42501": "In WMS_STATE_URL, use the role that created the tables, or grant your role all rights on them",
        "53100": "Free space on its disk",
    }
    """Advice by PostgreSQL's error code."""

    def __init__(self, code: str, reason: str) -> None:
        first_line = reason.partition("\n")[0]
        super().__init__(
            f"PostgreSQL, which keeps the state, refuses a statement ({first_line}). {self.MENDED_BY[code]}; then run "
            "again."
        )


class TakenOver(StateError):
    """Another process has taken over as the writer; this process's pending write was not made."""


class StateLost(StateError):
    """The state store was lost, or replaced by an old copy, while a run waited for its lock."""

    def __init__(self) -> None:
        super().__init__(
            "The state store was lost or replaced by an old copy while this run waited for its turn. Nothing was read, "
            "loaded or sent. Run again: the next run restores the state from the newest snapshot (raw/state-*)."
        )


class StateOlder(StateError):
    """An older release wrote the state store."""

    def __init__(self) -> None:
        super().__init__(
            "This release cannot read the data, which an older release of wms-sync wrote. Nothing was "
            "changed. Move the data folder elsewhere or set WMS_DATA_DIR to an empty folder; if you use WMS_STATE_URL "
            "or WMS_FILES_URL, set them to empty locations too; then run again."
        )


class StateNewer(StateError):
    """A newer release has written the state store, and with it the data folder."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The data folder was written by a newer release of wms-sync (its state store has {', '.join(names)}). "
            "Nothing was read, loaded or sent. Update wms-sync, then run again."
        )


class RestoreUnfinished(StateError):
    """A restore into this data folder was interrupted, so its content is incomplete."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"A restore from {folder} into this data folder was interrupted, so its content is incomplete. Nothing "
            f"was read, loaded or sent. Run `wms-sync restore {shlex.quote(str(folder))}` again: it starts over."
        )
