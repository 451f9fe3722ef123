"""The files of snapshots: ``raw/state-<number>.json.gz`` beside the raw pages; the newest two are kept.

A snapshot is written before the first page of an installation, and at the end of each run, under the lock of the run.
A file with a higher number never has an older state, because the number is counted up as the state is read; so two
runs that end at the same moment need no order.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout, snapshot_key
from wms_sync.state.snapshot import Identity, Snapshot, decoded, encoded, head_of
from wms_sync.state.store import StateStore

logger = logging.getLogger(__name__)
KEPT = 2


class AnotherInstallation(WmsSyncError):
    """The state store and the files belong to different installations."""

    def __init__(self, layout: Layout, reason: str) -> None:
        super().__init__(
            f"The state store does not belong to the files in {layout.files.where('raw')}: {reason}. Nothing was read, "
            "changed or deleted. Correct WMS_STATE_URL, WMS_DATA_DIR or WMS_FILES_URL; `wms-sync backup` and "
            "`wms-sync restore` move an installation. If the state store or the files are lost, restore a backup, or "
            "move away what is left of the state store, raw/ and parquet/: the next sync then reads everything again."
        )


def write_snapshot(layout: Layout, store: StateStore) -> Snapshot:
    """Write a snapshot of the store and return it; delete all but the newest two.

    Needs a lease, under whatever lock.
    """
    snapshot = store.snapshots.take()
    layout.files.replace(store.lease, snapshot_key(snapshot.installation.snapshot), encoded(snapshot))
    for key in layout.snapshots()[:-KEPT]:
        layout.files.delete(store.lease, key)
    return snapshot


def newest_head(layout: Layout) -> Identity | None:
    """Return the installation and number of the newest readable snapshot; None if there is none."""
    for key in reversed(layout.snapshots()):
        with suppress(ValueError, FileNotFoundError):
            return head_of(layout.files.get(key))
    return None


def newest_snapshot(layout: Layout) -> Snapshot | None:
    """Return the newest readable snapshot; None if there is none. Raise ``StateError``, as ``decoded`` does."""
    for key in reversed(layout.snapshots()):
        try:
            return decoded(layout.files.get(key))
        except ValueError as error:
            logger.warning("%(file)s cannot be read: %(reason)s", {"file": layout.files.where(key), "reason": error})
    return None


def refuse_unknown(layout: Layout, store: StateStore) -> None:
    """Raise ``AnotherInstallation`` if store and files have windows, but none in common.

    No snapshot says whose the files are.
    """
    here, known = set(layout.windows()), {window.id for window in store.windows() if window.pages}
    if (here or known) and here.isdisjoint(known):
        reason = f"{count_of(len(here), 'window is', 'windows are')} there, and it knows {len(known):,} others"
        raise AnotherInstallation(layout, f"{reason}; no snapshot raw/state-* is readable")


def is_behind(layout: Layout, store: StateStore) -> bool:
    """Return whether the state store is new, lost or an old copy, although the files have a newer snapshot of it.

    Raise ``AnotherInstallation`` if the files are of another installation, or if no snapshot says whose they are.
    """
    newest, known = newest_head(layout), store.snapshots.installation()  # a run may write both in between
    if newest is None:
        refuse_unknown(layout, store)
        return False
    if known is not None and known.id != newest.id:
        raise AnotherInstallation(layout, f"it is of installation {known.id}, and they are of {newest.id}")
    return known is None or known.snapshot < newest.snapshot
