"""Drop raw pages of old windows (``WMS_RAW_RETENTION_DAYS``) and of abandoned windows.

The pages of a window are dropped only if it is in the tables and has its Parquet files, which a rebuild then uses. A
key that is added to ``sql/types`` later stays null for such a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from wms_sync.extract.raw import drop_pages, is_dropped
from wms_sync.flatten.window import is_flattened
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore, Window

ABANDONED_FOR = timedelta(days=1)
"""The pages of an abandoned window are kept that long, so that someone can find out what went wrong."""


def drop_old_pages(settings: Settings, store: StateStore, say: Callable[[str], object]) -> None:
    """Drop the pages that are due. The caller holds the writer's lock and has published the tables."""
    layout, now = settings.layout, datetime.now(UTC)
    for window in store.windows("abandoned"):
        folder = layout.window(window.id)
        if now - window.started_at > ABANDONED_FOR and folder.exists():
            store.turn.take_away(folder)
    due = list(_due(settings, store, layout, now))
    dropped = sum(drop_pages(store.turn, layout.window(window.id), now) for window in due)
    if due:
        say(
            f"dropped the raw pages of {len(due)} windows ({dropped / 1e6:,.1f} MB), landed more than "
            f"{settings.raw_retention_days} days ago; a rebuild uses the Parquet files of these windows"
        )


def dropped_windows(layout: Layout, store: StateStore) -> tuple[str, ...]:
    """Return the windows in the tables whose raw pages were dropped."""
    return tuple(window.id for window in store.windows("loaded") if is_dropped(layout.window(window.id)))


def _due(settings: Settings, store: StateStore, layout: Layout, now: datetime) -> Iterator[Window]:
    if settings.raw_retention_days is None:
        return
    oldest = now - timedelta(days=settings.raw_retention_days)
    for window in store.windows("loaded"):
        old = window.landed_at is not None and window.landed_at < oldest
        if old and layout.pages(window.id) and is_flattened(layout, window.id):
            yield window
