"""Flatten a window to Parquet files, and record how many rows each file holds.

``parquet/_windows/<window>.json`` is written after the last file of the window; a window without it is flattened
(again). A window is flattened in batches of a bounded number of pages, so memory use does not grow with the window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import msgspec

from wms_sync.durable import make_private
from wms_sync.extract.raw import damage
from wms_sync.flatten.batch import Flattened, Flattener
from wms_sync.flatten.errors import PageDamagedError, PageUnreadableError
from wms_sync.flatten.page import RawPage
from wms_sync.flatten.write import columns_written
from wms_sync.intervals import intersect
from wms_sync.layout import MANIFEST, Layout
from wms_sync.state.store import LandedPage, StateStore, Window
from wms_sync.state.turns import Turn

PAGES_PER_BATCH = 20
_UNREADABLE = "unreadable"


@dataclass(frozen=True)
class FlattenedWindow:
    """Rows and files by table; ``parts`` are the file names below ``parquet/<table>/``.

    ``records_removed`` counts the shipments that were quarantined whole; None if release 0.1.0 wrote the file.
    ``columns`` is a digest of the SQL that wrote the files, None in records of releases without it.
    """

    rows: dict[str, int]
    parts: dict[str, list[str]]
    quarantined: int
    drift: int
    records_removed: int | None = None
    columns: str | None = None

    @property
    def records(self) -> int | None:
        """Return the number of shipments on the window's pages, or None if it is not known."""
        return None if self.records_removed is None else self.rows.get("shipments", 0) + self.records_removed

    def files(self, parquet: Path, table: str) -> list[str]:
        """Return the paths of a table's files, in page order."""
        return [str(parquet / table / part) for part in self.parts.get(table, [])]


def is_flattened(layout: Layout, window_id: str) -> bool:
    """Return whether all Parquet files of the window have been written."""
    return layout.flattened_manifest(window_id).exists()


def flattened_window(layout: Layout, window_id: str) -> FlattenedWindow:
    """Return the record of a flattened window."""
    return msgspec.json.decode(layout.flattened_manifest(window_id).read_bytes(), type=FlattenedWindow)


def are_alike(windows: Iterable[FlattenedWindow]) -> bool:
    """Return whether the files of all these windows have the columns that flattening writes now."""
    return all(window.columns == columns_written() for window in windows)


def flatten_window(
    layout: Layout, store: StateStore, flattener: Flattener, window_id: str, *, batch_bytes: int
) -> None:
    """Flatten a window's raw pages, replacing any earlier Parquet files. Raises ``PageDamagedError``.

    A batch has ``batch_bytes`` of JSON at most, but at least a page; it is halved if the memory is not enough.
    """
    landed = store.pages(window_id)
    if len(landed) != store.window(window_id).pages:
        raise PageDamagedError(layout.window(window_id) / MANIFEST, "it is missing with the pages that it lists")
    refuse_damaged(layout, landed)
    manifest = layout.flattened_manifest(window_id)
    store.turn.take_away(manifest)
    rows: dict[str, int] = {}
    parts: dict[str, list[str]] = {}
    quarantined = drift = removed = 0
    left = deque(_batches(landed, batch_bytes))
    part = 1
    while left:
        batch = left.popleft()
        try:
            done = _flatten(layout, store, flattener, [_page(layout, page) for page in batch], window_id, part)
        except duckdb.OutOfMemoryException:
            if len(batch) == 1:
                raise
            half = len(batch) // 2
            left.extendleft((batch[half:], batch[:half]))
            continue
        part += 1
        for table, count in done.rows.items():
            rows[table] = rows.get(table, 0) + count
        for table, file in done.files.items():
            parts.setdefault(table, []).append(file.name)
        quarantined += done.quarantined
        drift += done.drift
        removed += done.records_removed
    make_private(manifest.parent)
    flattened = FlattenedWindow(rows, parts, quarantined, drift, removed, columns_written())
    write_flattened(store.turn, layout, window_id, flattened)


def _flatten(
    layout: Layout, store: StateStore, flattener: Flattener, pages: Sequence[RawPage], window_id: str, part: int
) -> Flattened:
    """Flatten one batch. Raise ``PageUnreadableError`` the first time nothing can be read from one of its pages.

    The window is then read again. If the page is still unreadable, its records go to quarantine one by one.
    """
    try:
        return flattener.flatten(pages, window_id=window_id, part=part, parquet_dir=layout.parquet)
    except PageUnreadableError as error:
        window = store.window(window_id)
        if not any(_was_unreadable(store, before) for before in store.windows("abandoned") if _share(before, window)):
            store.observe(f"{_UNREADABLE} {window_id}", 1, error.path.name)
            raise
    again = [replace(page, sent_again=True) for page in pages]
    return flattener.flatten(again, window_id=window_id, part=part, parquet_dir=layout.parquet)


def _was_unreadable(store: StateStore, window: Window) -> bool:
    return store.observation(f"{_UNREADABLE} {window.id}") is not None


def _share(left: Window, right: Window) -> bool:
    return left.reason == right.reason and bool(intersect((left.interval,), (right.interval,)))


def write_flattened(turn: Turn, layout: Layout, window_id: str, flattened: FlattenedWindow) -> None:
    """Record what a window's Parquet files hold, once all have been written."""
    turn.write_whole(layout.flattened_manifest(window_id), msgspec.json.encode(flattened))


def flattened_windows(layout: Layout) -> tuple[str, ...]:
    """Return the ids of all flattened windows, sorted."""
    return tuple(sorted(path.stem for path in layout.flattened_manifests.glob("*.json")))


def refuse_damaged(layout: Layout, landed: Sequence[LandedPage]) -> None:
    """Raise ``PageDamagedError`` for the first page whose file differs from what was received."""
    for page in landed:
        folder = layout.window(page.window_id)
        if (reason := damage(folder, page)) is not None:
            raise PageDamagedError(folder / page.file, reason)


def _batches(pages: Sequence[LandedPage], most_bytes: int) -> Iterator[list[LandedPage]]:
    """Yield batches of about the same size, since a batch costs something for each table, however few its pages are."""
    all_bytes = sum(page.content_bytes for page in pages)
    number = max(-(-len(pages) // PAGES_PER_BATCH), -(-all_bytes // most_bytes))
    share = all_bytes / max(1, number)
    batch: list[LandedPage] = []
    held = 0
    for page in pages:
        if batch and (held + page.content_bytes / 2 > share or len(batch) == PAGES_PER_BATCH):
            yield batch
            batch, held = [], 0
        batch.append(page)
        held += page.content_bytes
    if batch:
        yield batch


def _page(layout: Layout, page: LandedPage) -> RawPage:
    return RawPage(
        path=layout.window(page.window_id) / page.file,
        number=page.number,
        records=page.records,
        extracted_at=page.served_at,
        uncompressed_bytes=page.content_bytes,
    )
