"""Raw pages into the table ``page``, in memory: strictly where they fit, repaired where they do not.

DuckDB reads all pages of a batch at once while a thread passes them through the gate. A page that does not pass is
taken out and read again, repaired. When the strict read fails, no page is in, and each is read alone to find which it
was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import quote
from wms_sync.flatten.findings import Drift, Misfit, whole_page
from wms_sync.flatten.gate import Gate, Verdict
from wms_sync.flatten.page import Page
from wms_sync.flatten.repair import repair
from wms_sync.flatten.shape import shape_of

# What DuckDB raises for what stands in a file; running out of memory or of disk is not among them.
# Its message quotes the file, cut anywhere: in the middle of a letter, Python cannot even decode the message.
_CONTENT_ERRORS = (duckdb.InvalidInputException, duckdb.DataError, UnicodeDecodeError)
_PAGES_A_READ = 3
_ROOM = 64 * 1024  # above the size of the largest page


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
    """Fills ``page``, ``ops.quarantine`` and ``ops.schema_drift`` of its connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, work_dir: Path) -> None:
        self._connection = connection
        self._work_dir = work_dir
        self._shape = shape_of(connection)
        self._gate = Gate(self._shape)

    def read(self, pages: Sequence[Page], window_id: str) -> Read:
        """Read the pages of one batch into the empty tables."""
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="gate") as pool:
            examined = pool.submit(self._examine, pages)
            is_read = self._insert_all(pages, window_id)
            verdicts = examined.result()
        settled = (self._settle(page, verdicts[page], window_id, is_read=page in is_read) for page in pages)
        cost = sum(settled, start=Read())
        self._drop_repeated(set().union(*(verdict.repeated for verdict in verdicts.values())))
        return cost

    def _examine(self, pages: Iterable[Page]) -> dict[Page, Verdict]:
        return {page: self._gate.examine(page.content()) for page in pages}

    def _settle(self, page: Page, verdict: Verdict, window_id: str, *, is_read: bool) -> Read:
        """See to it that one page is in the table as it should be."""
        if not verdict.fits:
            verdict = self._gate.examine(page.content())  # the gate may have learned since
        if verdict.fits and (is_read or self._insert({page: page.path}, window_id)):
            self._list_drift(page, window_id, verdict.drift)
            return Read(drift=len(verdict.drift))
        if is_read:
            self._connection.execute("delete from page where _page = ?", [page.number])
        return self._mend(page, window_id)

    def _insert_all(self, pages: Sequence[Page], window_id: str) -> set[Page]:
        """Insert a few pages at a time: DuckDB holds those of one statement twice. Gives the pages that are in."""
        groups = [pages[start : start + _PAGES_A_READ] for start in range(0, len(pages), _PAGES_A_READ)]
        read = [group for group in groups if self._insert({page: page.path for page in group}, window_id)]
        return {page for group in read for page in group}

    def _insert(self, files: dict[Page, Path], window_id: str) -> bool:
        try:
            self._connection.execute(
                sql_files.read("flatten/page/read.sql"),
                {
                    "files": [str(path) for path in files.values()],
                    "numbers": [page.number for page in files],
                    "extracted_at": [page.extracted_at.isoformat() for page in files],
                    "largest": max(page.uncompressed_bytes for page in files) + _ROOM,
                    "window_id": window_id,
                },
            )
        except _CONTENT_ERRORS:
            return False
        return True

    def _mend(self, page: Page, window_id: str) -> Read:
        content = page.content()
        repaired = repair(content, self._shape, self._unreadable)
        misfits, removed = repaired.misfits, repaired.records_removed
        if repaired.content is None or not self._insert_repaired(page, repaired.content, window_id):
            if repaired.content is not None:
                misfits = [*misfits, whole_page(content, "DuckDB cannot read it, not even repaired")]
            removed = page.records
        self._gate.learn(repaired.drift)
        self._quarantine(page, window_id, misfits)
        self._list_drift(page, window_id, repaired.drift)
        return Read(len(misfits), len(repaired.drift), removed)

    def _insert_repaired(self, page: Page, content: bytes, window_id: str) -> bool:
        path = self._work_dir / f"repaired-{page.number:05d}.json"
        path.write_bytes(content)
        try:
            return self._insert({page: path}, window_id)
        finally:
            path.unlink()

    def _unreadable(self, duckdb_type: str, texts: list[str]) -> list[str]:
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

    def _drop_repeated(self, kinds: Iterable[str]) -> None:
        statement = sql_files.read("flatten/page/repeated.sql")
        for kind in kinds:
            self._connection.execute(statement.format(kind=quote(kind)))


def _provenance(page: Page, window_id: str) -> dict[str, str | int]:
    return {
        "page_key": f"{window_id}/{page.number:05d}",
        "window_id": window_id,
        "page": page.number,
        "extracted_at": page.extracted_at.isoformat(),
    }
