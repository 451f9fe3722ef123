"""Find Parquet files that are missing or altered, so that their windows are flattened again, or read again."""

from __future__ import annotations

import logging

from wms_sync.layout import Layout, flattened_key
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import (
    delete_unnamed,
    flattened_window,
    flattened_windows,
    reflatten,
)
from wms_sync.shipments.read.raw import is_dropped
from wms_sync.state.store import StateStore
from wms_sync.storage.files import difference

logger = logging.getLogger(__name__)
DAMAGED = "%(file)s of window %(window)s is damaged (%(reason)s): the window will be read again"
_AGAIN = "%(file)s was damaged (%(reason)s) and is deleted: its window is flattened again or, without pages, read again"


def take_away_damaged(layout: Layout, store: StateStore) -> int:
    """Delete the Parquet files that are not as recorded, and unreadable records; return their number with the missing.

    The next load flattens their windows again; if the raw pages were dropped, the next sync reads them again. Raise
    ``OSError`` if the disk fails.
    """
    damaged = take_away_damaged_records(layout, store)
    for window_id in flattened_windows(layout):
        for key, part in flattened_window(layout, window_id).by_key.items():
            if (reason := difference(layout.files, key, part.size, part.sha256)) is not None:
                _rebuild_file(layout, store, window_id)
                layout.files.delete(store.turn, key)
                logger.warning(_AGAIN, {"file": key, "reason": reason})
                damaged += 1
            layout.files.release(key)
    return damaged + delete_unnamed(store.turn, layout, {window.id for window in store.windows()})


def take_away_damaged_records(layout: Layout, store: StateStore) -> int:
    """Delete the unreadable records of windows' Parquet files; return their number.

    The windows are flattened again, or read again.
    """
    damaged = 0
    for window_id in flattened_windows(layout):
        try:
            flattened_window(layout, window_id)
        except RecordDamagedError:
            _rebuild_file(layout, store, window_id)
            logger.warning(_AGAIN, {"file": flattened_key(window_id), "reason": "it cannot be read"})
            damaged += 1
    return damaged


def _rebuild_file(layout: Layout, store: StateStore, window_id: str) -> None:
    reflatten(store.turn, layout, window_id)
    if is_dropped(layout, window_id):
        store.abandon(window_id)
