"""A batch of pages to one Parquet file a table: the step's front door.

Memory grows with the pages of the batch (their shipments and orders are held), not with the window. A flattener works
on one processor: several batches at a time, each with its own, cost two thirds of one batch on several threads.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.durable import make_private
from wms_sync.flatten.errors import RecordsLostError
from wms_sync.flatten.objects import CONTENT_ERRORS
from wms_sync.flatten.page import Page
from wms_sync.flatten.read import PageReader, Read
from wms_sync.flatten.shape import create_types
from wms_sync.flatten.write import Batch, create_stages, drop_kept_stages, write_tables
from wms_sync.layout import parquet_name, spill


@dataclass(frozen=True)
class Flattened:
    """What came of a batch. Tables are named by ``Table.slug``; a table without rows has no file."""

    rows: dict[str, int]
    files: dict[str, Path]
    quarantined: int
    records_removed: int
    drift: int
    seconds: float


def flatten(
    pages: Sequence[Page],
    *,
    window_id: str,
    part: int,
    parquet_dir: Path,
    work_dir: Path,
    memory_limit: str = "1GB",
) -> Flattened:
    """Flatten one batch with a connection of its own; ``Flattener`` keeps one for several."""
    with Flattener(work_dir=work_dir, memory_limit=memory_limit) as flattener:
        return flattener.flatten(pages, window_id=window_id, part=part, parquet_dir=parquet_dir)


class Flattener:
    """An in-memory DuckDB with the service's types, kept between batches. One batch at a time, from any thread.

    ``work_dir`` is its own while it is open.
    """

    def __init__(self, *, work_dir: Path, memory_limit: str = "1GB") -> None:
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory_limit,
                "threads": "1",
                "temp_directory": str(spill(make_private(work_dir))),
                "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false",
            }
        )
        self._connection.execute("set timezone = 'UTC'")
        create_types(self._connection)
        self._connection.execute("create schema ops")
        for slug in ("ops_quarantine", "ops_schema_drift"):
            self._connection.execute(table(slug).create)
        self._reader = PageReader(self._connection, work_dir)
        self._work_dir = work_dir

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up the connection and its memory."""
        self._connection.close()

    def flatten(self, pages: Sequence[Page], *, window_id: str, part: int, parquet_dir: Path) -> Flattened:
        """Write ``<parquet_dir>/<slug>/<window>-<part>.parquet`` for each table that has rows."""
        started = time.monotonic()
        batch = Batch(pages, window_id, parquet_dir, parquet_name(window_id, part), self._work_dir)
        try:
            read, rows, files = self._flatten(batch)
        finally:
            self._reader.clear()
            drop_kept_stages(self._connection)
        self._reconcile(batch, files.get("shipments"), read.removed)
        removed = sum(read.removed.values())
        return Flattened(rows, files, read.quarantined, removed, read.drift, time.monotonic() - started)

    def _flatten(self, batch: Batch) -> tuple[Read, dict[str, int], dict[str, Path]]:
        """Take the pages as they passed the gate; when DuckDB fails at one, find out which, and mend it."""
        try:
            return self._read_and_write(batch, ())
        except CONTENT_ERRORS:
            unreadable = self._reader.unreadable(batch.pages)
            if not unreadable:
                raise
            return self._read_and_write(batch, unreadable)

    def _read_and_write(
        self, batch: Batch, unreadable: Collection[Page]
    ) -> tuple[Read, dict[str, int], dict[str, Path]]:
        read = self._reader.read(batch.pages, batch.window_id, unreadable=unreadable)
        create_stages(self._connection)
        return read, *write_tables(self._connection, batch)

    def _reconcile(self, batch: Batch, shipments: Path | None, removed: Mapping[int, int]) -> None:
        """Each record that was counted as its page was received is a row, or stands in quarantine by itself."""
        statement = sql_files.read("flatten/page/rows.sql")
        files = {"file": str(shipments)}
        rows = dict(self._connection.execute(statement, files).fetchall()) if shipments else {}
        for page in batch.pages:
            found, gone = rows.get(page.number, 0), removed.get(page.number, 0)
            if found + gone != page.records:
                raise RecordsLostError(
                    window_id=batch.window_id, page=page.number, expected=page.records, rows=found, removed=gone
                )
