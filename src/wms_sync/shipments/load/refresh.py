"""One load: flatten every landed window, merge those that are not in the tables, check and publish.

A load is all or nothing: it changes a private copy of the tables, which replaces them at the end, or a lake in one
transaction. The receipts in the published tables determine the windows still to be merged, whichever run landed them
and whatever was killed before. A load's writes to the state store before publishing are idempotent.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from time import monotonic
from typing import Self

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.catalogue import ops_tables, tables
from wms_sync.grammar import count_of
from wms_sync.shipments.flatten.page import PageDamagedError, RecordDamagedError
from wms_sync.shipments.flatten.window import give_up, take_away_damaged, take_away_damaged_records
from wms_sync.shipments.flatten.workers import flatten_landed
from wms_sync.shipments.load.checks import CheckResult, check_tables, write_checks
from wms_sync.shipments.load.merge import FOLLOWS, started_over
from wms_sync.shipments.load.omitted import PERSONAL
from wms_sync.shipments.load.pending import PendingWindows
from wms_sync.shipments.read.plan import data_as_of
from wms_sync.state.audits import Audit
from wms_sync.state.store import Run
from wms_sync.targets.database import Session, row_counts
from wms_sync.targets.errors import RawPagesDamagedError, refusals_explained
from wms_sync.targets.target import note_published, target_of

logger = logging.getLogger(__name__)
UNKNOWN_KEYS = "no_unknown_key_came_in_the_latest_load"
LEFT_OUT = "nothing_was_quarantined_in_the_latest_load"
"""The checks that count unknown keys, and values and records in quarantine."""
REFUSED = ("The tables could not be refreshed", "nothing was published, and landed pages are not read again")
AUDITED = {
    "compared": (),
    "changed": (),
    "orders_changed": ("order changed", "orders changed"),
    "missed": ("missed", "missed"),
    "absent": ("absent", "absent"),
    "voided": ("updated_at moved back", "updated_at moved back"),
}
"""The numbers of an audit that are reported; those with words are omitted if they are zero."""


class RefreshReport(Struct, frozen=True):
    """The result of a refresh. ``rows`` counts all rows by table, ``merged`` merged rows, without those of ``audits``.

    ``windows`` were merged. ``audits`` are the slices of old shipments that this run compared with the tables and
    merged. ``quarantined`` counts each value or record once, even if a sync and its audit both read it; ``drift``
    counts each key once, however many pages have it.

    ``verdicts`` counts how objects were merged, by root table: how many followed what is stored, and how many started
    over, by reason. ``data_as_of`` is the sync cursor of the tables. ``phases`` are seconds: flatten, merge, check,
    publish. ``target`` is the name of the file or lake that analysts open. ``has_more`` means that windows are left for
    another load, because one load does not merge all.
    """

    windows: tuple[str, ...]
    rows: Mapping[str, int]
    merged: Mapping[str, int]
    verdicts: Mapping[str, Mapping[str, int]]
    checks: tuple[CheckResult, ...]
    published: bool
    quarantined: int
    drift: int
    bytes: int
    data_as_of: datetime | None
    phases: Mapping[str, float]
    target: str
    has_more: bool
    audits: tuple[Audit, ...]

    @property
    def audited(self) -> str | None:
        """Return the result of audits: ``1,000 shipments compared, 0 changed``; None without an audit."""
        if not self.audits:
            return None
        found = {name: sum(getattr(audit, name) or 0 for audit in self.audits) for name in AUDITED}
        also = [count_of(found[name], *words) for name, words in AUDITED.items() if words and found[name]]
        return ", ".join(
            [f"{count_of(found['compared'], 'shipment')} compared", f"{found['changed']:,} changed", *also]
        )

    @property
    def refused_by(self) -> tuple[CheckResult, ...]:
        """Return the blocking checks that prevented publishing."""
        return tuple(result for result in self.checks if result.blocks_publishing)

    @property
    def refusal(self) -> str:
        """Return the reason why nothing was published: a line for each blocking check that failed."""
        lines = [f"- {result.check.name}: {result.finding}" for result in self.refused_by]
        heading = f"Nothing was published: {self.target} is unchanged. Blocking checks failed:"
        return "\n".join([heading, *lines])

    def followed_by(self, last: Self) -> Self:
        """Return the report of both loads; ``last`` describes the published tables."""
        return replace(
            last,
            windows=(*self.windows, *last.windows),
            merged=Counter(self.merged) + Counter(last.merged),
            verdicts={
                table: Counter(self.verdicts.get(table)) + Counter(last.verdicts.get(table))
                for table in {*self.verdicts, *last.verdicts}
            },
            # the checks of the last load have counted those of both
            quarantined=max(self.quarantined, last.quarantined),
            drift=max(self.drift, last.drift),
            audits=(*self.audits, *last.audits),
            phases={name: seconds + last.phases.get(name, 0.0) for name, seconds in self.phases.items()},
        )

    def merging(self, *slugs: str) -> dict[str, int]:
        """Return how many objects of these root tables followed, how many started over, and why."""
        verdicts = sum((Counter(self.verdicts.get(slug)) for slug in slugs), Counter[str]())
        reasons = started_over(verdicts)
        why = {f"over_{reason.replace(' ', '_')}": count for reason, count in sorted(reasons.items())}
        return {"followed": verdicts[FOLLOWS], "started_over": sum(reasons.values()), **why}

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts for the record of the run; ``merged`` counts rows."""
        return {
            "merged": sum(self.merged.values()),
            **self.merging(*self.verdicts),
            "merged_windows": len(self.windows) - len(self.audits),
            "shipments_compared": sum(audit.compared or 0 for audit in self.audits),
            "changes_missed": sum(audit.differing for audit in self.audits),
            "quarantined": self.quarantined,
            "unknown_keys": self.drift,
            "failed_checks": sum(not result.passed for result in self.checks),
            "published_bytes": self.bytes,
        }


class Refresh:
    """One load of new windows or, if ``from_scratch``, of everything."""

    def __init__(self, run: Run, *, from_scratch: bool = False) -> None:
        self._run = run
        self._from_scratch = from_scratch
        self._target = target_of(run.settings)
        self._took: dict[str, float] = {}

    def run(self) -> RefreshReport:
        """Bring the tables up to date, check them and publish them."""
        if self._from_scratch:
            self._prepare_rebuild()
        while True:
            with self._phase("flatten"):  # before the tables are opened, because either step may use all the memory
                damaged = flatten_landed(self._run.settings, self._run.store, from_scratch=self._from_scratch)
            self._give_up(damaged)
            try:
                return self._load()
            except (duckdb.Error, RecordDamagedError) as error:
                # a night does not fail for damaged files; a rebuild does, because it would lack what they hold
                is_final = self._from_scratch or isinstance(error, duckdb.OutOfMemoryException)
                if is_final or not take_away_damaged(self._run.layout, self._run.store):
                    raise
                # each time there are fewer, and what is left of their windows is flattened again

    def _load(self) -> RefreshReport:
        audits = self._run.store.audits
        with self._target.load(self._run.lease, from_scratch=self._from_scratch) as loading:
            pending = PendingWindows(self._run, loading.most)
            with self._phase("merge"):
                while not pending.is_complete:
                    with loading.session() as session:
                        pending.merge_next(session, audits)
            with self._phase("check"):
                with loading.session() as session, session.transaction():
                    pending.write_ops(session.connection, audits)
                results = check_tables(lambda: _connection_of(loading.session()))
                with loading.session() as session, session.transaction():
                    rows = row_counts(session.connection, (*tables(), *ops_tables()))
                    write_checks(session.connection, results, rows)
                    rows["ops_checks"] = len(results)
            is_accepted = not any(result.blocks_publishing for result in results)
            with self._phase("publish"):
                size = loading.publish() if is_accepted else 0
        if is_accepted:
            note_published(self._run.store, self._target, size)
            self._run.store.mark_loaded(pending.landed)
        if pending.kept:
            listed = ", ".join(f"{count:,} of {table}" for table, count in sorted(pending.kept.items()))
            text = (
                f"The tables keep rows that no Parquet file has any more: {listed}. They stay as they are until the "
                "service shows them again. `wms-sync verify` lists damaged files."
            )
            self._run.store.record_warnings({"kept": text}, from_scratch=False)
        # of the latest load: of this one, if it merged a window
        found = {result.check.name: result.offending if pending.merged else 0 for result in results}
        return RefreshReport(
            windows=tuple(pending.merged),
            rows=rows,
            data_as_of=data_as_of(self._run.settings, self._run.store),
            merged=pending.rows,
            verdicts=pending.verdicts,
            audits=tuple(audit for audit in audits.all() if audit.window_id in pending.compared),
            checks=results,
            published=is_accepted,
            quarantined=found[LEFT_OUT],
            drift=found[UNKNOWN_KEYS],
            bytes=size,
            phases=self._took,
            target=self._target.name,
            has_more=bool(pending.later),
        )

    def _prepare_rebuild(self) -> None:
        take_away_damaged_records(self._run.layout, self._run.store)
        personal = [table.slug for table in tables() if table.schema == PERSONAL]
        if not self._run.settings.include_addresses and any(map(self._run.layout.parquet_files, personal)):
            logger.info(
                "schema %(schema)s is left empty, because WMS_INCLUDE_ADDRESSES is off; raw pages and Parquet files "
                "keep their personal data",
                {"schema": PERSONAL},
            )

    def _give_up(self, damaged: Mapping[str, PageDamagedError]) -> None:
        """Give up the windows with damaged pages, so that they are read again.

        Raise ``RawPagesDamagedError``, unless the tables have these windows already and are not rebuilt.
        """
        needed = [
            f"{window_id}/{error.path.name}: {error.reason}"
            for window_id, error in damaged.items()
            if self._from_scratch or self._run.store.window(window_id).state != "loaded"
        ]
        for window_id, error in damaged.items():
            give_up(self._run.store, window_id, error)
        if needed:
            raise RawPagesDamagedError(needed)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """Add the seconds of the block to a phase."""
        started = monotonic()
        yield
        self._took[name] = self._took.get(name, 0.0) + monotonic() - started


def refresh(run: Run) -> RefreshReport:
    """Load the landed windows, check and publish. The caller holds the writer's lock."""
    logger.info("refreshing the tables (run %(run)s)", {"run": run.id})
    with refusals_explained(*REFUSED):
        report = Refresh(run).run()
        while report.published and report.has_more:
            logger.info("published a part: another load merges the remaining windows")
            report = report.followed_by(Refresh(run).run())
        return report


def rebuild(run: Run) -> RefreshReport:
    """Rebuild every table without requests, from Parquet files where raw pages were dropped.

    The caller holds the writer's lock.
    """
    logger.info("rebuilding every table from raw pages (run %(run)s)", {"run": run.id})
    with refusals_explained(*REFUSED):
        return Refresh(run, from_scratch=True).run()


@contextmanager
def _connection_of(opening: AbstractContextManager[Session]) -> Iterator[duckdb.DuckDBPyConnection]:
    with opening as session:
        yield session.connection
