"""A window's Parquet files and how many rows each holds, remembered beside them.

``parquet/_windows/<window>.json`` is written after the last file of the window; a window without it is flattened
(again). A window is flattened in batches of a bounded number of pages, so memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wms_sync.durable import make_private
from wms_sync.extract.raw import MANIFEST, damage
from wms_sync.flatten.batch import Flattener
from wms_sync.flatten.errors import PageDamagedError
from wms_sync.flatten.page import Page
from wms_sync.layout import Layout
from wms_sync.state.store import LandedPage, StateStore
from wms_sync.state.turns import Turn

PAGES_PER_BATCH = 10
BYTES_PER_BATCH = 80 * 1024 * 1024
MANIFESTS = "_windows"


@dataclass(frozen=True)
class FlattenedWindow:
    """Rows and files a table; ``parts`` are the file names below ``parquet/<table>/``."""

    rows: dict[str, int]
    parts: dict[str, list[str]]
    quarantined: int
    drift: int

    def files(self, parquet: Path, table: str) -> list[str]:
        """Paths of a table's files, in page order."""
        return [str(parquet / table / part) for part in self.parts.get(table, [])]


def is_flattened(layout: Layout, window_id: str) -> bool:
    """Whether all Parquet files of the window are there."""
    return _manifest(layout, window_id).exists()


def flattened_window(layout: Layout, window_id: str) -> FlattenedWindow:
    """The Parquet files of a window that is flattened."""
    return msgspec.json.decode(_manifest(layout, window_id).read_bytes(), type=FlattenedWindow)


def flatten_window(layout: Layout, store: StateStore, flattener: Flattener, window_id: str) -> None:
    """Flatten a window's raw pages, replacing what Parquet there may be. Raises ``PageDamagedError``."""
    landed = store.pages(window_id)
    if len(landed) != store.window(window_id).pages:
        raise PageDamagedError(layout.window(window_id) / MANIFEST, "it is missing with the pages that it lists")
    refuse_damaged(layout, landed)
    manifest = _manifest(layout, window_id)
    store.turn.take_away(manifest)
    rows: dict[str, int] = {}
    parts: dict[str, list[str]] = {}
    quarantined = drift = 0
    for part, batch in enumerate(_batches(landed), start=1):
        pages = [_page(layout, page) for page in batch]
        done = flattener.flatten(pages, window_id=window_id, part=part, parquet_dir=layout.parquet)
        for table, count in done.rows.items():
            rows[table] = rows.get(table, 0) + count
        for table, file in done.files.items():
            parts.setdefault(table, []).append(file.name)
        quarantined += done.quarantined
        drift += done.drift
    make_private(manifest.parent)
    write_flattened(store.turn, layout, window_id, FlattenedWindow(rows, parts, quarantined, drift))


def write_flattened(turn: Turn, layout: Layout, window_id: str, flattened: FlattenedWindow) -> None:
    """Remember what a window's Parquet files hold, once they are all there."""
    turn.write_whole(_manifest(layout, window_id), msgspec.json.encode(flattened))


def flattened_windows(layout: Layout) -> tuple[str, ...]:
    """The windows that have all their Parquet files."""
    return tuple(sorted(path.stem for path in (layout.parquet / MANIFESTS).glob("*.json")))


def refuse_damaged(layout: Layout, landed: Sequence[LandedPage]) -> None:
    """Raises ``PageDamagedError`` for the first page that is not on disk as it was received."""
    for page in landed:
        folder = layout.window(page.window_id)
        if (reason := damage(folder, page)) is not None:
            raise PageDamagedError(folder / page.file, reason)


def _manifest(layout: Layout, window_id: str) -> Path:
    return layout.parquet / MANIFESTS / f"{window_id}.json"


def _batches(pages: Sequence[LandedPage]) -> Iterator[list[LandedPage]]:
    batch: list[LandedPage] = []
    for page in pages:
        full = len(batch) >= PAGES_PER_BATCH or sum(one.content_bytes for one in batch) + page.content_bytes > (
            BYTES_PER_BATCH
        )
        if batch and full:
            yield batch
            batch = []
        batch.append(page)
    if batch:
        yield batch


def _page(layout: Layout, page: LandedPage) -> Page:
    return Page(
        path=layout.window(page.window_id) / page.file,
        number=page.number,
        records=page.records,
        extracted_at=page.served_at,
        uncompressed_bytes=page.content_bytes,
    )
