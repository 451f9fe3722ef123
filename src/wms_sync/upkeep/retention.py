"""Drop raw pages of old windows (``WMS_RAW_RETENTION_DAYS``) and of abandoned windows, after a load.

The files of a window that the state store did not know, because it was lost, are all dropped a day later.

The pages of an old window are dropped only if it is in the tables and its Parquet files are as recorded, because a
rebuild then uses these. If they are damaged, the next load flattens the window again. A key that is added to
``sql/types`` afterwards stays null for such a window. These pages must be old by the service's clock too, so that a
wrong clock of this machine deletes none of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from wms_sync.grammar import count_of
from wms_sync.layout import Layout, window_key
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import (
    delete_unnamed,
    flattened_windows,
    is_flattened,
    reflatten,
    take_away_damaged_of,
)
from wms_sync.shipments.read.plan import time_named
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.state.store import Run, StateStore, Window

logger = logging.getLogger(__name__)

UNKNOWN = "unknown"
"""The signature of a window that the state store did not know, so its requests are unknown."""
ABANDONED_FOR = timedelta(days=1)
"""The pages of an abandoned window are kept for this long after its reading started, for an investigation of the error.

The state store does not know when a window was abandoned: the pages of one that was read earlier go with the next load.
"""


def set_aside_unknown(run: Run) -> None:
    """Record as abandoned the windows on disk that the state store does not know, so that their time is read again.

    They were read after the snapshot from which a lost state store was restored.
    """
    known = {window.id for window in run.store.windows()}
    unknown = {*run.layout.windows(), *flattened_windows(run.layout)} - known
    now = datetime.now(UTC)
    for window_id in sorted(unknown):
        time = time_named(window_id)
        window = Window(
            id=window_id,
            from_at=now if time is None else time.start,
            to_at=now if time is None else time.end,
            state="abandoned",
            reason="audit" if time is None else "sync",
            run_id=run.id,
            signature=UNKNOWN,
            landed_at=now,
        )
        run.store.begin_windows([window])
        logger.warning(
            "the state store does not know %(folder)s: what it covers is read again, and its files are deleted after a "
            "day",
            {"folder": run.layout.files.where(window_key(window_id))},
        )


def drop_old_pages(run: Run) -> None:
    """Drop the pages that are due. The caller holds the writer's lock and has published the tables."""
    settings, store, layout, now = run.settings, run.store, run.layout, datetime.now(UTC)
    abandoned = [window for window in store.windows("abandoned") if now - window.started_at > ABANDONED_FOR]
    for window in abandoned:
        if layout.files.names(window_key(window.id)):
            layout.files.delete(store.lease, window_key(window.id))
        if window.signature == UNKNOWN and is_flattened(layout, window.id):
            reflatten(store.lease, layout, window.id)
    if unknown := {window.id for window in abandoned if window.signature == UNKNOWN}:
        delete_unnamed(store.lease, layout, unknown)
    due = list(_due(settings, store, layout, now))
    dropped = sum(drop_pages(store.lease, layout, window.id, now) for window in due)
    if due:
        logger.info(
            "dropped the raw pages of %(windows)s (%(megabytes).1f MB), landed more than %(days)s ago; "
            "a rebuild uses the Parquet files instead",
            {
                "windows": count_of(len(due), "window"),
                "megabytes": dropped / 1e6,
                "days": count_of(settings.raw_retention_days or 0, "day"),
            },
        )


def _due(settings: Settings, store: StateStore, layout: Layout, now: datetime) -> Iterator[Window]:
    if settings.raw_retention_days is None:
        return
    kept_for = timedelta(days=settings.raw_retention_days)
    latest = store.latest_served() or now
    for window in store.windows("loaded"):
        landed_at = window.landed_at or now
        if now - landed_at <= kept_for or not layout.pages(window.id) or not is_flattened(layout, window.id):
            continue
        is_old = all(latest - page.served_at > kept_for for page in store.pages(window.id))
        if is_old and not take_away_damaged_of(layout, store, window.id):
            yield window
