"""Flatten a window to Parquet files, and record the rows, size and SHA-256 of each file.

``parquet/_windows/<window>.json`` is written after the last Parquet file of the window; the next load flattens every
window without this record. A window is flattened in batches with a limited number of pages, so memory use does not grow
with the window.

A window whose Parquet files are missing or altered is flattened again, or read again if its pages were dropped. The end
of this module has queries for the rows of a table in such files, whatever release wrote them.
"""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Self

import duckdb
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote, tables
from wms_sync.layout import (
    FLATTENED,
    PARQUET,
    Layout,
    flattened_key,
    is_of_window,
    name_of,
    parquet_key,
    window_key,
    window_of,
)
from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import PageDamagedError, RawPage, RecordDamagedError
from wms_sync.shipments.flatten.shape import Sent, either
from wms_sync.shipments.read.raw import is_dropped, key_of
from wms_sync.state.leases import Lease
from wms_sync.state.store import LandedPage, StateStore, Window
from wms_sync.storage.files import difference
from wms_sync.targets.database import receipts

logger = logging.getLogger(__name__)
PAGES_PER_BATCH = 20
_AGAIN = "%(file)s was damaged (%(reason)s) and is deleted: its window is flattened again or, without pages, read again"


class ParquetPart(Struct, frozen=True):
    """A Parquet file as it was written; ``name`` is below ``parquet/<table>/``, and ``size`` is in bytes."""

    name: str
    rows: int
    size: int
    sha256: str

    @classmethod
    def of(cls, name: str, rows: int, content: bytes) -> Self:
        """Return the part for a file with this content."""
        return cls(name, rows, len(content), hashlib.sha256(content).hexdigest())


class FlattenedWindow(Struct, frozen=True):
    """The Parquet files of a window, by table and in page order.

    ``left_out`` counts the shipments that were quarantined whole. ``not_sent`` names the lists whose key no object of
    the window has, such as ``Order.items``; a list that no object could have is not named.
    """

    parts: dict[str, list[ParquetPart]]
    not_sent: list[str]
    left_out: int

    @property
    def records(self) -> int:
        """Return the number of shipments on the window's pages."""
        return self.rows("shipments") + self.left_out

    @property
    def all_rows(self) -> int:
        """Return the number of rows of all tables."""
        return sum(map(self.rows, self.parts))

    @property
    def by_key(self) -> dict[str, ParquetPart]:
        """Return the files of all tables by key."""
        return {parquet_key(table, part.name): part for table, parts in self.parts.items() for part in parts}

    def rows(self, table: str) -> int:
        """Return the number of rows of a table."""
        return sum(part.rows for part in self.parts.get(table, []))

    def keys(self, table: str) -> list[str]:
        """Return the keys of a table's files, in page order."""
        return [parquet_key(table, part.name) for part in self.parts.get(table, [])]

    def files(self, layout: Layout, table: str) -> list[str]:
        """Return the paths of a table's files, in page order, for DuckDB."""
        return layout.files.local(self.keys(table))


_FLATTENED = msgspec.json.Decoder(FlattenedWindow)
WindowGroup = Sequence[tuple[Window, FlattenedWindow]]
"""Windows that are merged in one transaction."""


def is_flattened(layout: Layout, window_id: str) -> bool:
    """Return whether all Parquet files of the window have been written."""
    return layout.files.size(flattened_key(window_id)) is not None


def flattened_window(layout: Layout, window_id: str) -> FlattenedWindow:
    """Return the record of a flattened window. Raise ``FileNotFoundError`` or ``RecordDamagedError``."""
    content = layout.files.get(flattened_key(window_id))
    try:
        return _FLATTENED.decode(content)
    except ValueError:
        raise RecordDamagedError(flattened_key(window_id)) from None


def reflatten(lease: Lease, layout: Layout, window_id: str) -> None:
    """Delete the record of a window's Parquet files, so that the next load flattens the window again."""
    layout.files.delete(lease, flattened_key(window_id))


def delete_unnamed(lease: Lease, layout: Layout, window_ids: Collection[str] | None = None) -> int:
    """Delete Parquet files that a killed run, an earlier flattening or a person left: no record names them.

    Only those of the windows ``window_ids``, if given. Return their number.
    """
    records = flattened_windows(layout) if window_ids is None else window_ids
    flattened = (flattened_window(layout, window) for window in records if is_flattened(layout, window))
    named = {key for window in flattened for key in window.by_key}
    keys = {key for table in tables() for key in layout.parquet_files(table.slug)}
    left = sorted(key for key in keys - named if window_ids is None or window_of(name_of(key)) in window_ids)
    for key in left:
        layout.files.delete(lease, key)
    return len(left)


def flatten_window(
    layout: Layout, store: StateStore, flattener: Flattener, window_id: str, *, batch_bytes: int
) -> None:
    """Flatten a window's raw pages, replacing any earlier Parquet files. Raise ``PageDamagedError``.

    A batch has about ``batch_bytes`` of JSON at most, and at least one page; it is halved if memory runs out.
    """
    landed = store.pages(window_id)
    try:
        paths = layout.files.local([key_of(page) for page in landed])
        refuse_damaged(layout, landed)
        pages = [
            RawPage(Path(path), page.number, page.records, page.served_at, page.content_bytes)
            for page, path in zip(landed, paths, strict=True)
        ]
        reflatten(store.lease, layout, window_id)
        flattened = _flatten_all(layout, store, flattener, window_id, deque(_batches(pages, batch_bytes)))
    finally:
        layout.files.release(window_key(window_id))
    write_flattened(store.lease, layout, window_id, flattened)


def _flatten_all(
    layout: Layout, store: StateStore, flattener: Flattener, window_id: str, left: deque[list[RawPage]]
) -> FlattenedWindow:
    """Flatten the remaining batches, one after the other."""
    made_in = layout.files.workplace(store.lease) / PARQUET
    parts: dict[str, list[ParquetPart]] = {}
    sent: Sent = {}
    left_out, number = 0, 1
    while left:
        batch = left.popleft()
        try:
            done = flattener.flatten(batch, window_id=window_id, part=number, parquet_dir=made_in)
        except duckdb.OutOfMemoryException:
            if len(batch) == 1:
                raise
            half = len(batch) // 2
            left.extendleft((batch[half:], batch[:half]))
            continue
        number += 1
        written = [ParquetPart.of(path.name, done.rows[table], path.read_bytes()) for table, path in done.files.items()]
        made = [parquet_key(table, path.name) for table, path in done.files.items()]
        for table, part, key in zip(done.files, written, layout.files.keep(store.lease, made), strict=True):
            parts.setdefault(table, []).append(replace(part, name=name_of(key)))
        sent = either(sent, done.sent)
        left_out += sum(page.records for page in batch) - done.rows["shipments"]
    not_sent = sorted(name for name, is_sent in sent.items() if not is_sent)
    return FlattenedWindow(parts, not_sent, left_out)


def write_flattened(lease: Lease, layout: Layout, window_id: str, flattened: FlattenedWindow) -> None:
    """Record a window's Parquet files, once all have been written."""
    layout.files.replace(lease, flattened_key(window_id), msgspec.json.encode(flattened))


def flattened_windows(layout: Layout) -> tuple[str, ...]:
    """Return the ids of all flattened windows, sorted; other names there are ignored."""
    return tuple(
        name.removesuffix(".json") for name in layout.files.names(FLATTENED) if is_of_window(f"{FLATTENED}/{name}")
    )


def take_away_damaged(layout: Layout, store: StateStore) -> int:
    """Delete the Parquet files that are not as recorded, and unreadable records; return their number with the missing.

    The next load flattens their windows again; if the raw pages were dropped, the next sync reads them again. Files
    that no record names are deleted too: one may be the unreadable one, and no load uses them. Raise ``OSError`` if the
    disk fails.
    """
    damaged = sum(take_away_damaged_of(layout, store, window_id) for window_id in flattened_windows(layout))
    return damaged + delete_unnamed(store.lease, layout)


def take_away_damaged_of(layout: Layout, store: StateStore, window_id: str) -> int:
    """Delete the damaged Parquet files of a flattened window, or its unreadable record; return their number."""
    if (flattened := _readable_record(layout, store, window_id)) is None:
        return 1
    damaged = 0
    for key, part in flattened.by_key.items():
        if (reason := difference(layout.files, key, part.size, part.sha256)) is not None:
            _rebuild_file(layout, store, window_id)
            layout.files.delete(store.lease, key)
            logger.warning(_AGAIN, {"file": key, "reason": reason})
            damaged += 1
        layout.files.release(key)
    return damaged


def take_away_damaged_records(layout: Layout, store: StateStore) -> int:
    """Delete the unreadable records of windows' Parquet files; return their number.

    The windows are flattened again, or read again.
    """
    return sum(_readable_record(layout, store, window_id) is None for window_id in flattened_windows(layout))


def _readable_record(layout: Layout, store: StateStore, window_id: str) -> FlattenedWindow | None:
    """Return the record of a flattened window; delete it, and return None, if it is unreadable."""
    try:
        return flattened_window(layout, window_id)
    except RecordDamagedError:
        _rebuild_file(layout, store, window_id)
        logger.warning(_AGAIN, {"file": flattened_key(window_id), "reason": "it cannot be read"})
        return None


def _rebuild_file(layout: Layout, store: StateStore, window_id: str) -> None:
    reflatten(store.lease, layout, window_id)
    if is_dropped(layout, window_id):
        store.abandon(window_id)


def give_up(store: StateStore, window_id: str, error: PageDamagedError) -> None:
    """Abandon the window of a damaged page, so that it is read again."""
    store.abandon(window_id)
    logger.warning(
        "%(file)s of window %(window)s is damaged (%(reason)s): the window will be read again",
        {"file": error.path.name, "window": window_id, "reason": error.reason},
    )


def refuse_damaged(layout: Layout, landed: Sequence[LandedPage]) -> None:
    """Raise ``PageDamagedError`` for the first page whose file differs from the received page.

    The ``local`` paths of the pages are in use afterwards.
    """
    for page in landed:
        if (reason := difference(layout.files, key_of(page), page.bytes, page.sha256)) is not None:
            raise PageDamagedError(Path(key_of(page)), reason)


def _batches(pages: Sequence[RawPage], most_bytes: int) -> Iterator[list[RawPage]]:
    """Yield as few batches as possible, because a batch has a cost for each table, however few its pages are."""
    batch: list[RawPage] = []
    for page in pages:
        held = sum(other.content_bytes for other in batch)
        if batch and (held + page.content_bytes > most_bytes or len(batch) == PAGES_PER_BATCH):
            yield batch
            batch = []
        batch.append(page)
    if batch:
        yield batch


def merged_windows(connection: duckdb.DuckDBPyConnection, layout: Layout) -> dict[str, FlattenedWindow]:
    """Return every window that has a receipt and still has its Parquet files, by id."""
    return {
        window: flattened_window(layout, window)
        for window in sorted(receipts(connection))
        if is_flattened(layout, window)
    }


def files_of(group: WindowGroup, layout: Layout, slug: str) -> list[str]:
    """Return the paths of a table's files of these windows."""
    return [file for _, flattened in group for file in flattened.files(layout, slug)]


def rows_in_files(table: Table, files: str = "files") -> str:
    """Return the query for all rows of a table in files; ``files`` is the name of the parameter that lists them."""
    return sql_files.read("merge/rows_in_files.sql").format(table=table.qualified, files=files)


def chosen_rows(table: Table, chosen: str) -> str:
    """Return the query for the rows of versions that the temporary table ``chosen`` lists, from ``$files``."""
    return sql_files.read("merge/chosen_rows.sql").format(
        columns=", ".join(map(quote, table.column_names)),
        incoming=rows_in_files(table),
        chosen=chosen,
        root_key=quote(table.root_key),
    )


def rows_of(table: Table, files: Sequence[str]) -> str:
    """Return the from clause for a table's rows in these files of one load; it has no rows if there are no files."""
    if not files:
        return f"(from {table.qualified} limit 0)"
    return f"read_parquet([{', '.join(map(literal, files))}])"
