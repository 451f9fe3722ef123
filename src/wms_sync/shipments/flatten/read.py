"""Turn raw pages into files of objects: unchanged if they pass the gate, else repaired value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.shipments.flatten.errors import PageUnreadableError
from wms_sync.shipments.flatten.findings import Drift, Misfit
from wms_sync.shipments.flatten.gate import Gate, Seen
from wms_sync.shipments.flatten.objects import Objects
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.repair import Repaired, repair
from wms_sync.shipments.flatten.shape import SHARED, shape_of
from wms_sync.shipments.flatten.statements import Kinds


class Findings(Struct, frozen=True):
    """Numbers of findings: quarantine rows, drift rows, and by page the shipments that were quarantined whole."""

    quarantined: int = 0
    drift: int = 0
    removed: Mapping[int, int] = field(default_factory=dict)

    @property
    def filled(self) -> set[str]:
        """Return the slugs of the tables of findings that have rows."""
        return {slug for slug, rows in (("ops_quarantine", self.quarantined), ("ops_schema_drift", self.drift)) if rows}

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.quarantined + other.quarantined,
            self.drift + other.drift,
            {**self.removed, **other.removed},
        )


class PageReader:
    """Fills the files of a batch and the tables ``ops.quarantine`` and ``ops.schema_drift`` of a connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, work_dir: Path) -> None:
        self._connection = connection
        self._shape = shape_of(connection)
        self._gate = Gate(self._shape)
        self._batch = Objects(work_dir / "batch", self._shape.columns)
        self._seen: Seen = {}

    def read(self, pages: Sequence[RawPage], window_id: str, *, repairing_all: bool = False) -> Findings:
        """Replace the current batch with these pages, and repair those that need it or ``repairing_all``.

        Of identical objects of a shared kind only the first is written, so the newest page is read first.
        """
        self.clear()
        return sum((self._add(page, window_id, repairing=repairing_all) for page in reversed(pages)), start=Findings())

    @property
    def kinds(self) -> Kinds:
        """Return what statements read of the current batch."""
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
            return Findings()
        repaired = repair(content, self._shape)
        if repaired.objects is None:
            misfits, removed = self._all_records(page, repaired)
        else:
            misfits, removed = repaired.misfits, repaired.removed
            self._batch.add(page.number, repaired.objects)
        self._quarantine(page, window_id, misfits)
        self._list_drift(page, window_id, repaired.drift)
        return Findings(len(misfits), len(repaired.drift), {page.number: removed})

    def _all_records(self, page: RawPage, repaired: Repaired) -> tuple[list[Misfit], int]:
        """Return a misfit for each record of a page that the service sent twice, and their number.

        Raises ``PageUnreadableError`` if the page was not yet read a second time.
        """
        if not page.sent_again:
            raise PageUnreadableError(page.path, repaired.misfits[-1].why)
        why = "nothing can be read of the page, though it was asked for twice"
        records = [Misfit("Shipment", None, f"$.collection[{index}]", "", why) for index in range(page.records)]
        return [*repaired.misfits, *records], page.records

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
        "extracted_at": page.extracted_at.isoformat(),
    }
