"""Turn raw pages into files of objects: unchanged if they pass the gate, else repaired.

A page with readable records is never quarantined whole: if DuckDB cannot read the repaired page, ``salvage`` finds the
values that it cannot read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import duckdb
from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.flatten.errors import PageUnreadableError
from wms_sync.flatten.findings import UNKNOWN_KEY, Drift, Misfit
from wms_sync.flatten.gate import Gate
from wms_sync.flatten.objects import Objects
from wms_sync.flatten.page import RawPage
from wms_sync.flatten.repair import Repaired, as_json, repair
from wms_sync.flatten.salvage import salvage
from wms_sync.flatten.shape import shape_of
from wms_sync.flatten.split import SHARED, Seen, Splitter
from wms_sync.flatten.statements import Kinds


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
        self._splitter = Splitter(self._shape.kinds)
        self._batch = self._objects(work_dir / "batch")
        self._seen: Seen = {}
        self._alone_dir = work_dir / "alone"

    @cached_property
    def _alone(self) -> Objects:
        """Return the files in which a single page is tried; created on first use, since most runs never need them."""
        return self._objects(self._alone_dir)

    def _objects(self, folder: Path) -> Objects:
        return Objects(self._connection, folder, self._shape.columns)

    def read(self, pages: Sequence[RawPage], window_id: str, *, unreadable: Collection[RawPage] = ()) -> Findings:
        """Replace the current batch with these pages. Those in ``unreadable`` are always repaired.

        Of identical objects of a shared kind only the first is written, so the newest page is read first.
        """
        self.clear()
        return sum(
            (self._add(page, window_id, needs_repair=page in unreadable) for page in reversed(pages)), start=Findings()
        )

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

    def unreadable(self, pages: Sequence[RawPage]) -> list[RawPage]:
        """Return the pages that pass the gate but that DuckDB cannot read, for example for an impossible timestamp."""
        return [page for page in pages if self._gate.examine(page.content()).fits and not self._reads(page.content())]

    def _add(self, page: RawPage, window_id: str, *, needs_repair: bool) -> Findings:
        content = page.content()
        examined = self._gate.examine(content, self._seen)
        if needs_repair or not examined.fits:
            return self._add_repaired(page, content, window_id)
        self._batch.add(page.number, examined.objects)
        for kind, shared in examined.shared.items():
            self._seen[kind] |= shared
        self._list_drift(page, window_id, examined.drift)
        return Findings(drift=len(examined.drift))

    def _add_repaired(self, page: RawPage, content: bytes, window_id: str) -> Findings:
        repaired = repair(content, self._shape)
        if repaired.document is None:
            misfits, removed = self._all_records(page, repaired)
        else:
            misfits, removed = repaired.misfits, repaired.removed
            if not self._reads(as_json(repaired.document)):
                more, gone = salvage(repaired.document, lambda part: self._reads(as_json(part)))
                misfits, removed = [*misfits, *more], removed + gone
            self._batch.add(page.number, self._splitter.split(as_json(repaired.document)))
        self._gate.learn(found for found in repaired.drift if found.why == UNKNOWN_KEY)
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

    def _reads(self, content: bytes) -> bool:
        self._alone.clear()
        self._alone.add(0, self._splitter.split(content))
        readable = self._alone.readable()
        self._alone.clear()
        return readable

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
