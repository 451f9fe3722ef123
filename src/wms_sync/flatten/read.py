"""Raw pages to files of objects: as they are where they pass the gate, repaired where they do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.flatten.findings import Drift, Misfit, whole_page
from wms_sync.flatten.gate import Gate
from wms_sync.flatten.objects import Objects
from wms_sync.flatten.page import Page
from wms_sync.flatten.repair import repair
from wms_sync.flatten.shape import Many, shape_of


@dataclass(frozen=True)
class Read:
    """What a batch cost: rows of quarantine, unknown keys, and shipments that are on no row."""

    quarantined: int = 0
    drift: int = 0
    records_removed: int = 0

    def __add__(self, other: Read) -> Read:
        return Read(
            self.quarantined + other.quarantined,
            self.drift + other.drift,
            self.records_removed + other.records_removed,
        )


class PageReader:
    """Fills the views of schema ``page``, ``ops.quarantine`` and ``ops.schema_drift`` of its connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, work_dir: Path) -> None:
        self._connection = connection
        self._shape = shape_of(connection)
        self._gate = Gate(self._shape)
        self._batch = self._objects(work_dir / "batch", "page")
        self._alone_dir = work_dir / "alone"

    @cached_property
    def _alone(self) -> Objects:
        """Where one page is tried by itself; most runs never need it."""
        return self._objects(self._alone_dir, "alone")

    def _objects(self, folder: Path, schema: str) -> Objects:
        kinds = [kind for kind, node in self._shape.included.items() if isinstance(node, Many)]
        return Objects(self._connection, folder, schema, kinds)

    def read(self, pages: Sequence[Page], window_id: str, *, unreadable: Collection[Page] = ()) -> Read:
        """Take the pages of one batch in, newest first, in place of what was there. Unreadable ones are repaired."""
        self.clear()
        return sum((self._take(page, window_id, mend=page in unreadable) for page in reversed(pages)), start=Read())

    def clear(self) -> None:
        """Forget the batch."""
        self._batch.clear()
        for slug in ("quarantine", "schema_drift"):
            self._connection.execute(f"truncate ops.{slug}")

    def unreadable(self, pages: Sequence[Page]) -> list[Page]:
        """The pages that pass the gate and that DuckDB cannot read all the same: a garbled timestamp, say."""
        return [page for page in pages if self._gate.examine(page.content()).fits and not self._reads(page.content())]

    def _take(self, page: Page, window_id: str, *, mend: bool) -> Read:
        content = page.content()
        verdict = self._gate.examine(content)
        if mend or not verdict.fits:
            return self._mend(page, content, window_id)
        self._batch.add(page.number, content)
        self._list_drift(page, window_id, verdict.drift)
        return Read(drift=len(verdict.drift))

    def _mend(self, page: Page, content: bytes, window_id: str) -> Read:
        repaired = repair(content, self._shape, self._untaken)
        misfits, removed = repaired.misfits, repaired.records_removed
        if repaired.content is not None and self._reads(repaired.content):
            self._batch.add(page.number, repaired.content)
        else:
            if repaired.content is not None:
                misfits = [*misfits, whole_page(content, "DuckDB cannot read it, not even repaired")]
            removed = page.records
        self._gate.learn(repaired.drift)
        self._quarantine(page, window_id, misfits)
        self._list_drift(page, window_id, repaired.drift)
        return Read(len(misfits), len(repaired.drift), removed)

    def _reads(self, content: bytes) -> bool:
        self._alone.clear()
        self._alone.add(0, content)
        readable = self._alone.readable()
        self._alone.clear()
        return readable

    def _untaken(self, duckdb_type: str, texts: list[str]) -> list[str]:
        statement = sql_files.read("flatten/page/unreadable.sql").format(type=duckdb_type)
        return [text for (text,) in self._connection.execute(statement, {"texts": texts}).fetchall()]

    def _quarantine(self, page: Page, window_id: str, misfits: Sequence[Misfit]) -> None:
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

    def _list_drift(self, page: Page, window_id: str, drift: Sequence[Drift]) -> None:
        if drift:
            self._connection.execute(
                sql_files.read("flatten/page/schema_drift.sql"),
                {
                    **_provenance(page, window_id),
                    "paths": [found.path for found in drift],
                    "examples": [found.example for found in drift],
                    "occurrences": [found.occurrences for found in drift],
                },
            )


def _provenance(page: Page, window_id: str) -> dict[str, str | int]:
    return {
        "page_key": f"{window_id}/{page.number:05d}",
        "window_id": window_id,
        "page": page.number,
        "extracted_at": page.extracted_at.isoformat(),
    }
