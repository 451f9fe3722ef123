"""A batch of pages to one Parquet file a table: the step's front door.

Memory grows with the pages of the batch (about 11 MB a page of 1,000 shipments, and what DuckDB needs to read two
pages), not with the window.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.durable import make_private
from wms_sync.flatten.errors import RecordsLostError
from wms_sync.flatten.page import Page
from wms_sync.flatten.read import PageReader, Read
from wms_sync.flatten.shape import create_types
from wms_sync.flatten.write import create_stages, write_tables


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
    threads: int = 2,
) -> Flattened:
    """Flatten one batch with a connection of its own; ``Flattener`` keeps one for several."""
    with Flattener(work_dir=work_dir, memory_limit=memory_limit, threads=threads) as flattener:
        return flattener.flatten(pages, window_id=window_id, part=part, parquet_dir=parquet_dir)


class Flattener:
    """An in-memory DuckDB with the service's types, kept between batches. One batch at a time, from any thread."""

    def __init__(self, *, work_dir: Path, memory_limit: str = "1GB", threads: int = 2) -> None:
        self._threads = threads
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory_limit,
                "threads": str(threads),
                "temp_directory": str(make_private(work_dir)),
                "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false",
            }
        )
        self._connection.execute("set timezone = 'UTC'")
        create_types(self._connection)
        self._create_tables()
        self._reader = PageReader(self._connection, work_dir)

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
        try:
            read = self._reader.read(pages, window_id) if pages else Read()
            create_stages(self._connection)
            rows, files = write_tables(
                self._connection, parquet_dir, f"{window_id}-{part:05d}.parquet", parallel=self._threads
            )
        finally:
            self._drop_tables()
            self._create_tables()
        _reconcile(pages, window_id, rows["shipments"], read.records_removed)
        return Flattened(rows, files, read.quarantined, read.records_removed, read.drift, time.monotonic() - started)

    def _create_tables(self) -> None:
        self._connection.execute("create schema if not exists ops")
        self._connection.execute(sql_files.read("flatten/page/create.sql"))
        for slug in ("ops_quarantine", "ops_schema_drift"):
            self._connection.execute(table(slug).create)
        create_stages(self._connection)

    def _drop_tables(self) -> None:
        self._connection.execute("drop table page")
        self._connection.execute("drop schema ops cascade")


def _reconcile(pages: Sequence[Page], window_id: str, rows: int, removed: int) -> None:
    expected = sum(page.records for page in pages)
    if rows + removed != expected:
        raise RecordsLostError(window_id=window_id, expected=expected, rows=rows, removed=removed)
