"""Flatten a batch of pages to one Parquet file per table: the entry point of this package.

Memory use grows with the pages of the batch (their shipments and orders are held in memory), not with the window. A
flattener uses one processor: several flatteners side by side cost two thirds of one flattener with several threads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.layout import parquet_name, spill
from wms_sync.shipments.flatten.errors import RecordsLostError
from wms_sync.shipments.flatten.objects import CONTENT_ERRORS
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.read import Findings, PageReader
from wms_sync.shipments.flatten.shape import create_types
from wms_sync.shipments.flatten.write import Batch, create_stages, drop_kept_stages, write_tables
from wms_sync.storage.durable import make_private


class Flattened(Struct, frozen=True):
    """The result of one batch, by ``Table.slug``. A table without rows has no file.

    ``records_removed`` counts the shipments that were quarantined whole.
    """

    rows: dict[str, int]
    files: dict[str, Path]
    quarantined: int
    records_removed: int
    drift: int
    seconds: float


class Flattener:
    """An in-memory DuckDB with the service's types, kept between batches.

    Flattens one batch at a time, from any thread. While it is open, nothing else may use ``work_dir``.
    """

    def __init__(self, *, work_dir: Path, memory_limit: str = "1GB") -> None:
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory_limit,
                "threads": "1",
                "temp_directory": str(spill(make_private(work_dir))),
                "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false",
                "python_enable_replacements": "false",  # no variable is a table; to look imports numpy
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
        """Close the connection and free its memory."""
        self._connection.close()

    def flatten(self, pages: Sequence[RawPage], *, window_id: str, part: int, parquet_dir: Path) -> Flattened:
        """Write ``<parquet_dir>/<slug>/<window>-<part>.parquet`` for each table that has rows.

        Raises ``PageDamagedError``, ``PageUnreadableError`` and ``RecordsLostError``.
        """
        started = time.monotonic()
        batch = Batch(pages, window_id, parquet_dir, parquet_name(window_id, part), self._work_dir)
        try:
            found, rows, files = self._flatten(batch)
        finally:
            self._reader.clear()
            drop_kept_stages(self._connection)
        self._reconcile(batch, files.get("shipments"), found.removed)
        removed = sum(found.removed.values())
        return Flattened(rows, files, found.quarantined, removed, found.drift, time.monotonic() - started)

    def _flatten(self, batch: Batch) -> tuple[Findings, dict[str, int], dict[str, Path]]:
        """Read the pages; if DuckDB cannot read one that passed the gate, repair every page of the batch."""
        try:
            return self._read_and_write(batch)
        except CONTENT_ERRORS:
            return self._read_and_write(batch, repairing_all=True)

    def _read_and_write(
        self, batch: Batch, *, repairing_all: bool = False
    ) -> tuple[Findings, dict[str, int], dict[str, Path]]:
        found = self._reader.read(batch.pages, batch.window_id, repairing_all=repairing_all)
        kinds = self._reader.kinds
        filled = {*kinds.filled, *found.filled}
        if kinds.filled:
            filled |= create_stages(self._connection, kinds)
        return found, *write_tables(self._connection, batch, kinds, filled)

    def _reconcile(self, batch: Batch, shipments: Path | None, removed: Mapping[int, int]) -> None:
        """Check that each record counted when its page was received is now a row or quarantined whole."""
        statement = sql_files.read("flatten/page/rows.sql")
        files = {"file": str(shipments)}
        rows = dict(self._connection.execute(statement, files).fetchall()) if shipments else {}
        for page in batch.pages:
            found, gone = rows.get(page.number, 0), removed.get(page.number, 0)
            if found + gone != page.records:
                raise RecordsLostError(
                    window_id=batch.window_id, page=page.number, expected=page.records, rows=found, removed=gone
                )
