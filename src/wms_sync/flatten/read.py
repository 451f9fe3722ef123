"""Raw pages to files of objects: as they are where they pass the gate, repaired where they do not.

A page is never put aside as a whole: of one that cannot be repaired, what DuckDB does not read is looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.flatten.errors import PageUnreadableError
from wms_sync.flatten.findings import UNKNOWN_KEY, Drift, Misfit
from wms_sync.flatten.gate import Gate
from wms_sync.flatten.objects import Objects
from wms_sync.flatten.page import Page
from wms_sync.flatten.repair import Repaired, repair, written
from wms_sync.flatten.salvage import salvage
from wms_sync.flatten.shape import Many, shape_of


@dataclass(frozen=True)
class Read:
    """What a batch cost: rows of quarantine and of drift, and the shipments in quarantine as a whole, by page."""

    quarantined: int = 0
    drift: int = 0
    removed: Mapping[int, int] = field(default_factory=dict)

    def __add__(self, other: Read) -> Read:
        return Read(
            self.quarantined + other.quarantined,
            self.drift + other.drift,
            {**self.removed, **other.removed},
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
        repaired = repair(content, self._shape)
        if repaired.document is None:
            misfits, removed = self._given_up(page, repaired)
        else:
            misfits, removed = repaired.misfits, repaired.removed
            if not self._reads(written(repaired.document)):
                more, gone = salvage(repaired.document, lambda part: self._reads(written(part)))
                misfits, removed = [*misfits, *more], removed + gone
            self._batch.add(page.number, written(repaired.document))
        self._gate.learn(found for found in repaired.drift if found.why == UNKNOWN_KEY)
        self._quarantine(page, window_id, misfits)
        self._list_drift(page, window_id, repaired.drift)
        return Read(len(misfits), len(repaired.drift), {page.number: removed})

    def _given_up(self, page: Page, repaired: Repaired) -> tuple[list[Misfit], int]:
        """The records of a page by their number, once it is known to be what the service sends."""
        if not page.sent_again:
            raise PageUnreadableError(page.path, repaired.misfits[-1].why)
        why = "nothing can be read of the page, though it was asked for twice"
        records = [Misfit("Shipment", None, f"$.collection[{index}]", "", why) for index in range(page.records)]
        return [*repaired.misfits, *records], page.records

    def _reads(self, content: bytes) -> bool:
        self._alone.clear()
        self._alone.add(0, content)
        readable = self._alone.readable()
        self._alone.clear()
        return readable

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
                    "whys": [found.why for found in drift],
                },
            )


def _provenance(page: Page, window_id: str) -> dict[str, str | int]:
    return {
        "page_key": f"{window_id}/{page.number:05d}",
        "window_id": window_id,
        "page": page.number,
        "extracted_at": page.extracted_at.isoformat(),
    }
