"""Flatten a batch of a window's pages to one Parquet file per table.

Memory use grows with the pages of the batch (their shipments and orders are held in memory), not with the window. A
flattener uses one processor: several in parallel cost two thirds of what one flattener with several threads costs.

A page becomes files of objects: unchanged if it passes the gate, else repaired value by value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb
from msgspec import Struct
from msgspec.structs import asdict

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.layout import parquet_name, spill
from wms_sync.shipments.flatten.gate import Gate, Seen
from wms_sync.shipments.flatten.page import RawPage, RecordsLostError
from wms_sync.shipments.flatten.repair import repair
from wms_sync.shipments.flatten.shape import SHARED, Sent, create_types, either, shape_of
from wms_sync.shipments.flatten.write import (
    CONTENT_ERRORS,
    Batch,
    ObjectFiles,
    create_stages,
    drop_stages,
    write_tables,
)
from wms_sync.storage.durable import make_private
from wms_sync.targets.database import insert_rows

FINDINGS = ("ops_quarantine", "ops_schema_drift")
ACCOUNTS = {"shipments": "flatten/page/rows.sql", "ops_quarantine": "flatten/page/left_out.sql"}
"""Where each record of a page is: the tables, and the statements that count records by page."""


class Flattened(Struct, frozen=True):
    """The result of one batch, by ``Table.slug``. A table without rows has no file.

    ``sent`` tells which lists the objects have.
    """

    rows: dict[str, int]
    files: dict[str, Path]
    sent: Sent


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
        for slug in FINDINGS:
            self._connection.execute(table(slug).create)
        self._shape = shape_of(self._connection)
        self._gate = Gate(self._shape)
        self._objects = ObjectFiles(work_dir / "batch", self._shape.columns)
        self._seen: Seen = {}
        self._found: set[str] = set()
        self._work_dir = work_dir

    def close(self) -> None:
        """Close the connection and free its memory."""
        self._connection.close()

    def flatten(self, pages: Sequence[RawPage], *, window_id: str, part: int, parquet_dir: Path) -> Flattened:
        """Write ``<parquet_dir>/<slug>/<window>-<part>.parquet`` for each table that has rows.

        Raise ``PageDamagedError`` or ``RecordsLostError``.
        """
        batch = Batch(pages, window_id, parquet_dir, parquet_name(window_id, part), self._work_dir)
        try:
            return self._flatten(batch)
        except CONTENT_ERRORS:  # DuckDB cannot read a page that passed the gate
            return self._flatten(batch, repairing_all=True)
        finally:
            self._clear()

    def _flatten(self, batch: Batch, *, repairing_all: bool = False) -> Flattened:
        """Read the pages, repairing those that need it or all, and write the tables."""
        self._clear()
        sent: Sent = {}
        # of identical objects of a shared kind only the first is written, so the newest page is read first
        for page in reversed(batch.pages):
            sent = either(sent, self._read(page, batch.window_id, repairing=repairing_all))
        kinds = self._objects.kinds
        filled = {*kinds.filled, *self._found}
        if kinds.filled:
            filled |= create_stages(self._connection, kinds)
        rows, files = write_tables(self._connection, batch, kinds, filled)
        self._reconcile(batch, files)
        return Flattened(rows, files, sent)

    def _clear(self) -> None:
        """Remove what the connection and the files of objects have of a batch, to free their memory."""
        self._objects.clear()
        self._seen = {kind: {} for kind in SHARED}
        self._found.clear()
        for slug in FINDINGS:
            self._connection.execute(f"truncate {table(slug).qualified}")
        drop_stages(self._connection)

    def _read(self, page: RawPage, window_id: str, *, repairing: bool) -> Sent:
        """Add a page to the files of objects, and what it has besides to the tables of findings."""
        content = page.content()
        if not repairing and (examined := self._gate.examine(content, self._seen)).fits:
            self._objects.add(page.number, examined.objects)
            for kind, shared in examined.shared.items():
                self._seen[kind] |= shared
            return examined.sent
        repaired = repair(content, self._shape)
        self._objects.add(page.number, repaired.objects)
        misfits = ({"position": number, **asdict(misfit)} for number, misfit in enumerate(repaired.misfits, start=1))
        self._report("ops_quarantine", page, window_id, misfits)
        self._report(
            "ops_schema_drift", page, window_id, ({"path": found.path, **asdict(found)} for found in repaired.drift)
        )
        return repaired.sent

    def _report(self, slug: str, page: RawPage, window_id: str, findings: Iterable[Mapping[str, object]]) -> None:
        """Insert findings on a page into one of the tables of ``FINDINGS``."""
        provenance = {
            "page_key": f"{window_id}/{page.number:05d}",
            "_window_id": window_id,
            "_page": page.number,
            "_extracted_at": page.served_at,
        }
        if rows := [{**provenance, **finding} for finding in findings]:
            insert_rows(self._connection, table(slug), rows)
            self._found.add(slug)

    def _reconcile(self, batch: Batch, files: Mapping[str, Path]) -> None:
        """Check that the rows and the records quarantined whole add up to the records of each page."""
        accounted: Counter[int] = Counter()
        for slug in ACCOUNTS.keys() & files.keys():
            accounted.update(
                dict(self._connection.execute(sql_files.read(ACCOUNTS[slug]), {"file": str(files[slug])}).fetchall())
            )
        for page in batch.pages:
            if accounted[page.number] != page.records:
                raise RecordsLostError(batch.window_id, page.number, page.records, accounted[page.number])
