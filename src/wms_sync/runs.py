"""One run from its lock to its record and report: a sync, backfill, load, rebuild, maintenance or push.

The command line and the steps of Dagster both call this module. Belongs here: the order of lock, record, reading,
loading and report. Keep out: who starts a run, its output, and its display in an orchestrator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event
from uuid import uuid4

import httpx

from wms_sync.errors import MasterDataError, WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.intervals import Interval
from wms_sync.master_data.create import Watcher as PushWatcher
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.plan import WRONG_USAGE, Plan
from wms_sync.master_data.push import PushReport, plan_file, push_file
from wms_sync.recording import SUCCEEDED, Counts, Ended, Recording
from wms_sync.reports.finding import Finding
from wms_sync.reports.report import remake_report, report_load
from wms_sync.service.client import GlobalApi
from wms_sync.settings import Settings
from wms_sync.shipments.audit import SliceReader
from wms_sync.shipments.flatten.workers import Flattening
from wms_sync.shipments.load.refresh import RefreshReport, rebuild, refresh
from wms_sync.shipments.read.progress import Warnings, Watcher
from wms_sync.shipments.read.reader import Reading, ReadReport
from wms_sync.state.ledger import CreatesJournal
from wms_sync.state.run_records import FORGET, LOADING, MAINTENANCE, SYNC, Outcome
from wms_sync.state.store import Run, StateStore
from wms_sync.targets.database import Maintained
from wms_sync.targets.errors import reported_refusals
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forget import Forgotten, forget
from wms_sync.upkeep.forgotten_orders import take_off_list
from wms_sync.upkeep.recovery import recover_state, recovered, refuse_another_service
from wms_sync.upkeep.retention import drop_old_pages

SHOWN_FAULTS = 10
KEPT_SNAPSHOTS = timedelta(days=2)
"""How long a lake keeps replaced files for transactions that are still open."""


Handled = Plan | PushReport


class NotPublished(WmsSyncError):
    """Blocking checks failed; the published tables are unchanged."""


class InterruptedPush(WmsSyncError):
    """The push ended early because of a signal."""


class RowsUnsent(MasterDataError):
    """The service did not accept every row. It is safe to push the file again."""


class WrongHeader(MasterDataError):
    """The header is wrong, so no row of the file was sent."""


class Operation:
    """One run. ``read``, ``refreshed``, ``maintained`` and ``forgotten`` report the finished steps, even if it fails.

    ``findings`` are those of the installation after the run. ``page`` is the path of the HTML report. Requests go
    through ``transport``, if there is one, instead of a socket. A load whose blocking checks fail raises no error:
    ``refreshed`` reports that nothing was published. ``retry_after`` is the pause after which the caller calls a method
    again if its error may pass by itself; None if it does not.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        source: str,
        run_id: str | None = None,
        watcher: Watcher | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self.run_id = run_id or str(uuid4())
        self.read: ReadReport | None = None
        self.refreshed: RefreshReport | None = None
        self.maintained: Maintained | None = None
        self.forgotten: Forgotten | None = None
        self.page: Path | None = None
        self.retry_after: timedelta | None = None
        self._source = source
        self._watcher = watcher
        self._transport = transport
        self._recording: Recording | None = None
        self.findings: tuple[Finding, ...] = ()

    @property
    def summary(self) -> str | None:
        """Return the summary of the run as one line; None until the run has ended."""
        return None if self._recording is None else self._recording.summary

    def refuse_unpublished(self) -> None:
        """Raise ``NotPublished`` if the load of the finished run published nothing."""
        if self.refreshed is not None and not self.refreshed.published:
            raise NotPublished(self.refreshed.refusal)

    def sync(self) -> None:
        """Read what is not covered yet, and some old shipments for the audit; then load the tables."""
        with self._writing(SYNC, phase="read") as run:
            self._read_changes(run)
            self._then_load(run)

    def backfill(self, days: Interval) -> None:
        """Read whole days again, and load the tables."""
        with self._writing(_purpose_of(days), phase="read") as run:
            self._read_days(run, days)
            self._then_load(run)

    def read_changes(self) -> ReadReport:
        """Read what ``sync`` reads, without loading it; ``load`` does that."""
        with self._writing(SYNC, phase="read") as run:
            return self._read_changes(run)

    def read_days(self, days: Interval) -> ReadReport:
        """Read what ``backfill`` reads, without loading it; ``load`` does that."""
        with self._writing(_purpose_of(days), phase="read") as run:
            return self._read_days(run, days)

    def load(self) -> RefreshReport:
        """Load every landed window that is not in the tables yet, whichever run read it."""
        with self._writing(LOADING, phase="load") as run:
            return self._load(run, refresh)

    def rebuild(self) -> RefreshReport:
        """Rebuild every table without requests, from Parquet files where raw pages were dropped."""
        with self._writing("rebuild", phase="rebuild", from_scratch=True) as run:
            return self._load(run, rebuild)

    def maintain(self) -> Maintained | None:
        """Merge the files of a lake, without a request to the service."""
        with self._writing(MAINTENANCE, phase="maintain") as run:
            self.maintained = done = target_of(run.settings).maintain(run.lease, KEPT_SNAPSHOTS)
            return done

    def forget(self, order_ids: Sequence[int]) -> None:
        """Forget these orders, after a ``forget`` that was interrupted; then rewrite the report."""
        with self._writing(FORGET, phase=FORGET) as run:
            if order_ids:
                self.forgotten = forget(run, order_ids)
            remake_report(run)

    def take_off(self, order_ids: Sequence[int]) -> None:
        """Take these orders off the list of forgotten orders."""
        with self._writing(FORGET, phase=FORGET) as run:
            take_off_list(run.layout, run.store, order_ids)

    def _read_changes(self, run: Run) -> ReadReport:
        """Read the changes since the sync cursor, then, if due, the slice of an audit."""
        with self._reading(run) as (reading, audit):
            self.read = report = reading.sync()  # its counts are kept even if the audit fails
            audit.read(report.horizon)
        return report

    def _read_days(self, run: Run, days: Interval) -> ReadReport:
        with self._reading(run) as (reading, _):
            self.read = report = reading.backfill(days.start, days.end)
        return report

    @contextmanager
    def _reading(self, run: Run) -> Iterator[tuple[Reading, SliceReader]]:
        """Yield the readers. Before the first request, raise the error that a load's file operations would raise.

        Other threads flatten landed windows: all by the end of the block, unless an error stops them.
        """
        target_of(run.settings).try_files()
        warnings = Warnings()
        with (
            GlobalApi.from_settings(run.settings, warn=warnings.warn, transport=self._transport) as api,
            Flattening(run.settings, run.store) as flattening,
        ):
            yield (
                Reading(run, api, watcher=self._watcher, landed=flattening.add, warnings=warnings),
                SliceReader(run, api, landed=flattening.add, warnings=warnings),
            )

    @contextmanager
    def _writing(self, purpose: str, *, phase: str, from_scratch: bool = False) -> Iterator[Run]:
        """Hold the writer's lock inside the block, whose first phase is ``phase``.

        Write the report after a load, so that its findings include those of this run.
        """
        before = self.refreshed
        if self._recording is None:
            self._recording = Recording(self.settings, self.run_id, purpose, self._source)
        with (
            self._recording.phase(
                phase,
                counts=self._counts,
                end=self._end,
                retry_after=self.retry_after,
            ) as store,
            recovered(self.settings, store, self.run_id, from_scratch=from_scratch) as run,
        ):
            yield run
        self.findings = self._recording.findings
        if self.refreshed is not None and self.refreshed is not before:
            self.page = report_load(self.settings, self.refreshed, self.findings)

    def _then_load(self, run: Run) -> None:
        assert self._recording is not None  # noqa: S101 - `_writing` has created it
        self._recording.next_phase("load")
        self._load(run, refresh)

    def _load(self, run: Run, loads: Callable[[Run], RefreshReport]) -> RefreshReport:
        self.refreshed = report = loads(run)
        if report.published:
            drop_old_pages(run)
        return report

    def _counts(self) -> Counts:
        read = {} if self.read is None else self.read.counts
        loaded = {} if self.refreshed is None else self.refreshed.counts
        maintained = {} if self.maintained is None else self.maintained.counts
        gone = self.forgotten
        forgotten = {} if gone is None else {"orders": len(gone.orders), "rows": gone.rows}
        return {**read, **loaded, **maintained, **forgotten}

    def _end(self) -> Ended:
        refreshed = self.refreshed
        if refreshed is not None and not refreshed.published:
            return Ended("failed", refreshed.refusal, NotPublished.__name__)
        return Ended("read") if refreshed is None and self.read is not None else SUCCEEDED


def push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    source: str,
    resend: bool,
    as_written: bool = False,
    limit: int | None = None,
    planned: Callable[[Plan], object],
    stop: Event,
    watcher: PushWatcher | None = None,
    transport: httpx.BaseTransport | None = None,
) -> PushReport:
    """Push one file and record the run; the arguments from ``resend`` on are those of ``push_file``."""
    recording = Recording(settings, str(uuid4()), purpose_of(kind), source)
    done: list[Handled] = []
    failures: list[WmsSyncError] = []
    with pushing(settings, recording, kind, done, failures) as send:
        report = send(
            path,
            resend=resend,
            as_written=as_written,
            limit=limit,
            planned=planned,
            watcher=watcher,
            stop=stop,
            transport=transport,
        )
        done.append(report)
        failures += failures_of(report)
    return report


@contextmanager
def pushing(
    settings: Settings,
    recording: Recording,
    kind: Kind,
    handled: Sequence[Handled],
    failures: Sequence[WmsSyncError],
) -> Iterator[Callable[..., PushReport]]:
    """Hold the lock on pushing the kind inside the block, as ``Recording.phase`` does.

    Yield ``push_file`` without the arguments that are the same for each file. The block adds the files that it handled
    to ``handled``, and the errors that make the run fail to ``failures``.
    """
    phase = recording.phase("push", counts=lambda: counts_of(handled), end=lambda: end_by(failures))
    with phase as store, reported_refusals():
        refuse_another_service(settings, store)  # tables of a different service have other objects and ids
        rows = CreatesJournal(settings.layout.creates).complete(store.ledger.all())
        # a killed push writes no snapshot, so a store of before it is not recognised as an old copy
        store.ledger.take_in(row for row in rows if row.kind == kind.name)
        yield partial(push_file, settings, store, kind, run_id=recording.run_id)


def plan_push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool = False,
    as_written: bool = False,
    limit: int | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Plan:
    """Return the plan that a push would apply now. Send nothing. Wait for locks only if the state store was lost."""
    recover_state(settings)
    with StateStore.opened(settings.database_url) as store:
        refuse_another_service(settings, store)
        return plan_file(
            settings,
            store,
            kind,
            path,
            resend=resend,
            as_written=as_written,
            limit=limit,
            transport=transport,
        )


def purpose_of(kind: Kind) -> str:
    """Return the purpose of a push of this kind, for its record."""
    return f"push {kind.slug}"


def counts_of(handled: Sequence[Handled]) -> Counts:
    """Return the counts for the run's record: rows by outcome."""
    counts: Counter[str] = Counter()
    for done in handled:
        if isinstance(done, PushReport):
            counts.update({outcome.name.lower(): count for outcome, count in done.counts.items()})
    return counts


def end_by(failures: Sequence[WmsSyncError]) -> Ended:
    """Return the end of a push with these failures."""
    if not failures:
        return SUCCEEDED
    kind = type(failures[0])
    outcome: Outcome = "interrupted" if kind is InterruptedPush else "failed"
    return Ended(outcome, "\n".join(map(str, failures)), kind.__name__)


def failures_of(done: Handled) -> Iterator[WmsSyncError]:
    """Yield the errors that make the run fail although the file was read."""
    name = done.checked.file.path.name
    if isinstance(done, PushReport) and done.stopped is not None:
        yield done.stopped
    elif isinstance(done, PushReport) and done.interrupted:
        yield InterruptedPush(f"The push was interrupted; repeat it to send the rest. {done.summary}")
    elif isinstance(done, PushReport) and done.unsettled:
        first = done.unsettled[0]
        yield RowsUnsent(
            f"The service did not accept {count_of(len(done.unsettled), 'row')} of {name}, "
            f"the first on line {first.line}: {first.why} {done.summary}"
        )
    if done.exit_code == WRONG_USAGE and done.checked.header_is_wrong:
        why = "; ".join(f"{violation.column}: {violation.rule}" for violation in done.checked.violations[:SHOWN_FAULTS])
        yield WrongHeader(f"The header of {name} is wrong, so no row was sent. {why}")


def _purpose_of(days: Interval) -> str:
    return f"backfill {days.start:%Y-%m-%d} to {days.end:%Y-%m-%d}"
