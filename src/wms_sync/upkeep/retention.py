"""Drop raw pages of old windows (``WMS_RAW_RETENTION_DAYS``) and of abandoned windows, after a load.

The pages of an old window are dropped only if it is in the tables and has its Parquet files, which a rebuild then uses.
A key that is added to ``sql/types`` afterwards stays null for such a window. These pages must be old by the service's
clock too, so that a wrong clock of this machine deletes none of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from wms_sync.grammar import count_of
from wms_sync.layout import Layout, window_key
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import is_flattened
from wms_sync.shipments.read.quarantined_windows import is_quarantined
from wms_sync.shipments.read.raw import drop_pages, is_dropped
from wms_sync.state.store import Run, StateStore, Window

logger = logging.getLogger(__name__)

ABANDONED_FOR = timedelta(days=1)
"""The pages of an abandoned window are kept for this long, for an investigation of the error."""


def drop_old_pages(run: Run) -> None:
    """Drop the pages that are due. The caller holds the writer's lock and has published the tables."""
    settings, store, layout, now = run.settings, run.store, run.layout, datetime.now(UTC)
    for window in store.windows("abandoned"):
        kept_for = _kept_as_long_as_pages(settings) if is_quarantined(layout, window) else ABANDONED_FOR
        if now - window.started_at > kept_for and layout.files.names(window_key(window.id)):
            layout.files.delete(store.turn, window_key(window.id))
    due = list(_due(settings, store, layout, now))
    dropped = sum(drop_pages(store.turn, layout, window.id, now) for window in due)
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


def dropped_windows(layout: Layout, store: StateStore) -> tuple[str, ...]:
    """Return the windows in the tables whose raw pages were dropped."""
    return tuple(window.id for window in store.windows("loaded") if is_dropped(layout, window.id))


def _kept_as_long_as_pages(settings: Settings) -> timedelta:
    return timedelta.max if settings.raw_retention_days is None else timedelta(days=settings.raw_retention_days)


def _due(settings: Settings, store: StateStore, layout: Layout, now: datetime) -> Iterator[Window]:
    if settings.raw_retention_days is None:
        return
    kept_for = timedelta(days=settings.raw_retention_days)
    latest = store.latest_served() or now
    for window in store.windows("loaded"):
        landed_at = window.landed_at or now
        if now - landed_at <= kept_for or not layout.pages(window.id) or not is_flattened(layout, window.id):
            continue
        if all(latest - page.served_at > kept_for for page in store.pages(window.id)):
            yield window
