"""Flatten a batch of a window's pages to one Parquet file per table.

Memory use grows with the pages of the batch (their shipments and orders are held in memory), not with the window. A
flattener uses one processor: several in parallel cost two thirds of what one flattener with several threads costs.

A page becomes files of objects: unchanged if it passes the gate, else repaired value by value.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.layout import parquet_name, spill
from wms_sync.shipments.flatten.gate import Gate, Seen
from wms_sync.shipments.flatten.page import Drift, Misfit, RawPage, RecordsLostError
from wms_sync.shipments.flatten.repair import repair
from wms_sync.shipments.flatten.shape import SHARED, Sent, create_types, either, shape_of
from wms_sync.shipments.flatten.write import (
    CONTENT_ERRORS,
    Batch,
    Kinds,
    ObjectFiles,
    create_stages,
    drop_kept_stages,
    write_tables,
)
from wms_sync.storage.durable import make_private


class Findings(Struct, frozen=True):
    """The numbers of quarantine rows, of drift rows, and, by page, of shipments that were quarantined whole.

    ``sent`` tells which lists the objects have.
    """

    quarantined: int = 0
    drift: int = 0
    removed: Mapping[int, int] = field(default_factory=dict)
    sent: Sent = field(default_factory=dict)

    @property
    def filled(self) -> set[str]:
        """Return the slugs of the tables of findings that have rows."""
        return {slug for slug, rows in (("ops_quarantine", self.quarantined), ("ops_schema_drift", self.drift)) if rows}

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.quarantined + other.quarantined,
            self.drift + other.drift,
            {**self.removed, **other.removed},
            either(self.sent, other.sent),
        )


class PageReader:
    """Fills the files of a batch and the tables ``ops.quarantine`` and ``ops.schema_drift`` of a connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, work_dir: Path) -> None:
        self._connection = connection
        self._shape = shape_of(connection)
        self._gate = Gate(self._shape)
        self._batch = ObjectFiles(work_dir / "batch", self._shape.columns)
        self._seen: Seen = {}

    def read(self, pages: Sequence[RawPage], window_id: str, *, repairing_all: bool = False) -> Findings:
        """Replace the current batch with these pages. Repair pages that need it or, if ``repairing_all``, every page.

        Of identical objects of a shared kind only the first is written, so the newest page is read first.
        """
        self.clear()
        return sum((self._add(page, window_id, repairing=repairing_all) for page in reversed(pages)), start=Findings())

    @property
    def kinds(self) -> Kinds:
        """Return the kinds of the current batch, for statements."""
        return self._batch.kinds

    def clear(self) -> None:
        """Remove the current batch."""
        self._batch.clear()
        self._seen = {kind: {} for kind in SHARED}
        for slug in ("quarantine", "schema_drift"):
            self._connection.execute(f"truncate ops.{slug}")

    def _add(self, page: RawPage, window_id: str, *, repairing: bool) -> Findings:
        content = page.content()
        if not repairing and (examined := self._gate.examine(content, self._seen)).fits:
            self._batch.add(page.number, examined.objects)
            for kind, shared in examined.shared.items():
                self._seen[kind] |= shared
            return Findings(sent=examined.sent)
        repaired = repair(content, self._shape)
        self._batch.add(page.number, repaired.objects)
        self._quarantine(page, window_id, repaired.misfits)
        self._list_drift(page, window_id, repaired.drift)
        return Findings(len(repaired.misfits), len(repaired.drift), {page.number: repaired.removed}, repaired.sent)

    def _quarantine(self, page: RawPage, window_id: str, misfits: Sequence[Misfit]) -> None:
        if misfits:
            self._connection.execute(
                sql_files.read("flatten/page/quarantine.sql"),
                {
                    **_provenance(page, window_id),
                    "positions": list(range(1, len(misfits) + 1)),
                    "objects": [misfit.object for misfit in misfits],
                    "object_ids": [misfit.object_id for misfit in misfits],
                    "paths": [misfit.path for misfit in misfits],
                    "texts": [misfit.text for misfit in misfits],
                    "whys": [misfit.why for misfit in misfits],
                },
            )

    def _list_drift(self, page: RawPage, window_id: str, drift: Sequence[Drift]) -> None:
        if drift:
            self._connection.execute(
                sql_files.read("flatten/page/schema_drift.sql"),
                {
                    **_provenance(page, window_id),
                    "paths": [found.path for found in drift],
                    "examples": [found.example for found in drift],
                    "occurrences": [found.occurrences for found in drift],
                    "whys": [found.why for found in drift],
                },
            )


def _provenance(page: RawPage, window_id: str) -> dict[str, str | int]:
    return {
        "page_key": f"{window_id}/{page.number:05d}",
        "window_id": window_id,
        "page": page.number,
        "extracted_at": page.served_at.isoformat(),
    }


class Flattened(Struct, frozen=True):
    """The result of one batch, by ``Table.slug``. A table without rows has no file.

    ``records_removed`` counts the shipments that were quarantined whole, ``sent`` tells which lists the objects have.
    """

    rows: dict[str, int]
    files: dict[str, Path]
    sent: Sent
    quarantined: int
    records_removed: int
    drift: int
    seconds: float


class Flattener:
    """An in-memory DuckDB with the service's types, kept between batches.

    It flattens one batch at a time, from any thread. While it is open, nothing else may use ``work_dir``.
    """

    def __init__(self, *, work_dir: Path, memory_limit: str = "1GB") -> None:
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory_limit,
                "threads": "1",
                "temp_directory": str(spill(make_private(work_dir))),
                "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false",
                "python_enable_replacements": "false",  # the lookup of variables as tables imports numpy
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

        Raise ``PageDamagedError`` or ``RecordsLostError``.
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
        return Flattened(rows, files, found.sent, found.quarantined, removed, found.drift, time.monotonic() - started)

    def _flatten(self, batch: Batch) -> tuple[Findings, dict[str, int], dict[str, Path]]:
        """Read the pages. If DuckDB cannot read a page that passed the gate, repair every page of the batch."""
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
        """Check that the rows and the records quarantined whole add up to the records of each page."""
        statement = sql_files.read("flatten/page/rows.sql")
        files = {"file": str(shipments)}
        rows = dict(self._connection.execute(statement, files).fetchall()) if shipments else {}
        for page in batch.pages:
            found, gone = rows.get(page.number, 0), removed.get(page.number, 0)
            if found + gone != page.records:
                raise RecordsLostError(
                    window_id=batch.window_id, page=page.number, expected=page.records, rows=found, removed=gone
                )
