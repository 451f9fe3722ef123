"""Quarantine complete windows that are not in the state store and whose manifest cannot be read.

They are not used, and not deleted before ``WMS_RAW_RETENTION_DAYS`` have passed: their pages may have the last copy of
records that the service has since deleted, so a person has to decide. Such a window is recorded as abandoned: its time
is read again, and ``forget`` searches its pages. Once its manifest can be read, the window is used again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from wms_sync.intervals import Interval
from wms_sync.layout import MANIFEST, Layout, raw_key, window_key
from wms_sync.shipments.read.raw import ManifestDamaged, is_complete, read_manifest
from wms_sync.shipments.read.window_names import time_named
from wms_sync.state.schema import LONGEST_ID
from wms_sync.state.store import Run, StateStore, Window

logger = logging.getLogger(__name__)

_SIGNATURE = "quarantined"
"""The signature of a quarantined window, whose requests are unknown."""


class QuarantinedWindow(Struct, frozen=True):
    """The folder of a quarantined window, and the reason."""

    window_id: str
    folder: str
    reason: str

    def __str__(self) -> str:
        again = "" if time_named(self.window_id) is None else "; its time is read again"
        return (
            f"{self.folder} is ignored: the window is not in the state store, and its {MANIFEST} cannot be used "
            f"({self.reason}). None of its files was deleted{again}. {self.what_to_do}."
        )

    @property
    def what_to_do(self) -> str:
        """Return advice on what to do with the folder."""
        return (
            f"Restore {MANIFEST} from a backup, and the next run uses the window; or delete the folder, if "
            "records that the service may have deleted since are not needed"
        )


def quarantine_window(run: Run, window_id: str) -> None:
    """Record as abandoned a window that the state store lacks, so that its time is read again."""
    if len(window_id) > LONGEST_ID:  # not a window's name, and too long for the state store
        return
    now = datetime.now(UTC)
    time = time_named(window_id)
    begun = Window.begun(
        window_id,
        time or Interval(now - timedelta(seconds=1), now),
        reason="audit" if time is None else "sync",
        run_id=run.id,
        signature=_SIGNATURE,
        service=None,
    )
    run.store.adopt(replace(begun, state="abandoned", landed_at=now))
    logger.warning("%(folder)s", {"folder": _described(run.layout, window_id, _reason(run.layout, window_id) or "")})


def take_back(layout: Layout, store: StateStore) -> int:
    """Adopt the quarantined windows whose manifest can now be read; return their number."""
    taken = 0
    for window in store.windows("abandoned"):
        if is_quarantined(layout, window) and not _reason(layout, window.id):
            manifest = read_manifest(layout, window.id)
            store.adopt(manifest.window, manifest.pages)
            taken += 1
    return taken


def is_quarantined(layout: Layout, window: Window) -> bool:
    """Return whether a window is abandoned for an unreadable manifest, and still has a manifest."""
    return window.signature == _SIGNATURE and is_complete(layout, window.id)


def quarantined_folders(layout: Layout, store: StateStore) -> Iterator[QuarantinedWindow]:
    """Yield the folders that have an unusable manifest and belong to an unknown or a quarantined window."""
    known = {window.id for window in store.windows() if window.signature != _SIGNATURE}
    for window_id in layout.windows():
        if window_id not in known and is_complete(layout, window_id) and (reason := _reason(layout, window_id)):
            yield _described(layout, window_id, reason)


def _described(layout: Layout, window_id: str, reason: str) -> QuarantinedWindow:
    return QuarantinedWindow(window_id, layout.files.where(window_key(window_id)), reason)


def _reason(layout: Layout, window_id: str) -> str | None:
    try:
        read_manifest(layout, window_id)
    except ManifestDamaged as error:
        return error.reason
    except FileNotFoundError:
        return f"{raw_key(window_id, MANIFEST)} is missing"
    return None
