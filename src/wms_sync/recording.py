"""Hold the lock of a run, and record the run in the state store, whether a command or Dagster started it.

If recording fails, the run continues; only the run's own error is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.exc import SQLAlchemyError

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of, moment
from wms_sync.interrupts import interruptible
from wms_sync.logs import ThisRun
from wms_sync.reports.finding import Finding
from wms_sync.reports.findings import acknowledgeable, findings_in
from wms_sync.reports.installation import read_installation
from wms_sync.reports.metrics import write_metrics
from wms_sync.reports.outcomes import mends_by_waiting
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import data_as_of
from wms_sync.state.errors import StateLost
from wms_sync.state.holder import WRITER
from wms_sync.state.leases import taking_lease
from wms_sync.state.lock import lock_of
from wms_sync.state.run_records import Outcome, RunRecord, lock_for
from wms_sync.state.snapshot_files import is_behind, write_snapshot
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import unusable
from wms_sync.upkeep.recovery import keep_creates_elsewhere, recover_state

logger = logging.getLogger("wms_sync.runs")
Counts = Mapping[str, int]
ALWAYS_SHOWN = {
    "records": ("shipment read", "shipments read"),
    "merged": ("row merged", "rows merged"),
    "quarantined": ("quarantined", "quarantined"),
}
SINGULAR = {
    "unknown_keys": "unknown key",
    "failed_checks": "failed check",
    "shipments_compared": "shipment compared",
    "changes_missed": "change missed",
    "orders": "order",
    "rows": "row",
    "warnings": "warning",
    "tables_put_together": "table put together",
    "files_left": "file left",
    "files_deleted": "file deleted",
}
"""The singular of counts of things. Other names, such as ``rejected``, have only one form."""
DETAILS = frozenset({"pages", "windows", "bytes", "requests", "followed", "merged_windows", "published_bytes"})
"""Counts that the summary leaves out; the run's metadata has them."""


class Ended(Struct, frozen=True):
    """The end of a run. `kind` is the name of the error's class; `due_at` is the next attempt of a run that waits."""

    outcome: Outcome = "succeeded"
    error: str | None = None
    kind: str | None = None
    due_at: datetime | None = None

    @classmethod
    def by(cls, error: BaseException, retry_after: timedelta | None = None) -> Ended:
        """Return the end of a run that raised this error, and that is tried again if the error may pass by itself.

        Only the log shows a defect's message: it may quote data.
        """
        kind = type(error).__name__
        if not isinstance(error, Exception):
            return cls("interrupted", "The run was interrupted; the next run continues where it stopped.", kind)
        known = error if isinstance(error, WmsSyncError) else unusable(error)
        if known is None:
            return cls("failed", f"{kind}; the run's log has the details", kind)
        kind = type(known).__name__
        if retry_after is not None and mends_by_waiting(kind):
            return cls("waiting", str(known), kind, datetime.now(UTC) + retry_after)
        return cls("failed", str(known), kind)


SUCCEEDED = Ended()


class Recording:
    """The lock and the record of one run.

    After the run, `summary` is the last line of its log, None if the run could not be recorded; `findings` are those of
    the installation.
    """

    def __init__(self, settings: Settings, run_id: str, purpose: str, source: str) -> None:
        self.run_id = run_id
        self.summary: str | None = None
        self.findings: tuple[Finding, ...] = ()
        self._settings = settings
        self._purpose = purpose
        self._source = source
        self._store: StateStore | None = None
        self._record: RunRecord | None = None
        self._phase = ""
        self._since = 0.0
        self._counts: Callable[[], Counts] = dict

    @contextmanager
    def phase(
        self,
        name: str,
        *,
        counts: Callable[[], Counts],
        end: Callable[[], Ended],
        retry_after: timedelta | None = None,
    ) -> Iterator[StateStore]:
        """Hold the lock inside the block, whose first phase is `name`; afterwards record the end of the run.

        First put a lost state store back; nothing is recorded in a store that does not belong to the files. Yield the
        state store for writing, which is opened once the lock is held: a restore may replace it until then. Call
        `counts` at the end of each phase, and `end` after the last phase. Record an error as the end of the run, even
        an error raised while waiting for the lock. After an error that may pass by itself, the run waits for
        `retry_after`, unless that is None. Then write a snapshot, release the lock, and determine the findings. A run
        of several steps calls this method once for each step and attempt.
        """
        ThisRun.id = self.run_id
        self.summary, self._record, self._phase, self._counts = None, None, "", dict
        layout, what = self._settings.layout, lock_for(self._purpose)
        writing, is_ready = None, False
        with ExitStack() as stack:
            stack.callback(self._close)
            try:
                with interruptible():
                    recover_state(self._settings)
                    is_ready = True
                    stack.callback(self._examine)  # once the lock is released
                    lock = lock_of(self._settings.database_url, layout)
                    held = stack.enter_context(lock.hold(self._purpose, what=what, run_id=self.run_id))
                    store = self._opened()
                    is_ready = not is_behind(layout, store)
                    if not is_ready:
                        raise StateLost
                    self._start()
                    self._phase, self._since, self._counts = name, monotonic(), counts
                    lease = stack.enter_context(taking_lease(store.engine, layout, held))
                    writing = StateStore(store.engine, lease)
                    with lease.explaining():
                        yield writing
                ended = end()
            except BaseException as error:
                ended = Ended.by(error, retry_after)
                raise
            finally:
                if is_ready:
                    self._record_end(ended)
                if ended.outcome == "failed" and self.summary is None:
                    self._report_unrecorded(ended)
                if writing is not None:
                    self._keep_state(writing)

    def next_phase(self, name: str) -> None:
        """Record the end of the current phase, and begin the next one. Call this inside the block of ``phase``."""
        with never_failing("a phase of this run could not be recorded"):
            self._save()
        self._phase, self._since = name, monotonic()

    def _opened(self) -> StateStore:
        if self._store is None:
            self._store = StateStore.opened(self._settings.database_url)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _start(self) -> None:
        with never_failing("the start of this run could not be recorded"):
            for killed in self._opened().runs.mark_killed(self._settings.layout):
                logger.warning(
                    "an earlier run, %(purpose)s (%(run)s), was killed",
                    {"purpose": killed.purpose, "run": killed.run_id},
                )
            self._save()

    def _save(self, **end: object) -> RunRecord:
        """Write the record, with the current phase if there is one, and with these fields of its end. Return it.

        A run that has a record already, because it released its lock between two steps or attempts, continues with that
        record.
        """
        records = self._opened().runs
        before = self._record or records.of(self.run_id) or RunRecord(self.run_id, self._purpose, self._source)
        record = RunRecord(self.run_id, before.purpose, before.source, before.started_at)
        phases, counts = {**before.phases}, {**before.counts, **self._counts()}
        if self._phase:  # otherwise the run does not have its lock yet, or never had it
            phases[self._phase] = round(phases.get(self._phase, 0.0) + monotonic() - self._since, 2)
        self._record = replace(record, phases=phases, counts=counts, **end)
        records.save(self._record)
        return self._record

    def _record_end(self, ended: Ended) -> None:
        with never_failing("the end of this run could not be recorded"):
            record = self._save(
                outcome=ended.outcome,
                ended_at=datetime.now(UTC) if ended.due_at is None else None,
                error=ended.error,
                error_kind=ended.kind,
                due_at=ended.due_at,
                data_as_of=data_as_of(self._settings, self._opened()),
            )
            self.summary = summary(record)

    def _report_unrecorded(self, ended: Ended) -> None:
        from wms_sync.reports.alerts import report_unrecorded  # only a run without a record needs them

        now = datetime.now(UTC)
        error, kind = ended.error, ended.kind
        failed = RunRecord(self.run_id, self._purpose, self._source, now, now, "failed", error, kind)
        report_unrecorded(self._settings, failed)

    def _keep_state(self, store: StateStore) -> None:
        """Write a snapshot. If that fails, note it for a finding: the outcome of the run stays."""
        layout = self._settings.layout
        try:
            with layout.files.held_by(store.lease):
                if lock_for(self._purpose) != WRITER:
                    keep_creates_elsewhere(layout, store)
                write_snapshot(layout, store)
        except (WmsSyncError, OSError) as error:
            trouble = str(error)
            logger.warning("no snapshot of the state store was written: %(trouble)s", {"trouble": trouble})
            with never_failing("this could not be noted for the findings"):
                store.snapshots.note(trouble)

    def _examine(self) -> None:
        """Determine the findings, write the metrics, and delete acknowledgements whose facts have changed."""
        with never_failing("the findings after this run could not be determined"):
            store = self._opened()
            installation = read_installation(self._settings, store)
            self.findings = findings_in(installation)
            with never_failing("the metrics could not be written, or not be pushed to WMS_METRICS_URL"):
                write_metrics(installation, self.findings)
            if not any(finding.hides_others for finding in self.findings):
                store.acknowledgements.keep(set(acknowledgeable(self.findings, installation.inbox).items()))


def summary(record: RunRecord) -> str:
    """Return what a run did as one line.

    `sync succeeded: 5,000 shipments read, 81,234 rows merged, 0 quarantined; read 5.6 s, load 7.1 s; data as of
    2026-03-01 02:00:03 UTC`. Other counts are left out if they are zero or in ``DETAILS``.
    """
    parts = [
        count_of(count, *_in_words(name))
        for name, count in record.counts.items()
        if name in ALWAYS_SHOWN or (count > 0 and name not in DETAILS)
    ]
    took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in record.phases.items())
    as_of = f"data as of {moment(record.data_as_of)}" if record.data_as_of else "no data yet"
    reaches = "not in the tables yet" if record.outcome == "read" else as_of
    return f"{record.purpose} {record.outcome}: {'; '.join(filter(None, (', '.join(parts), took, reaches)))}"


def _in_words(name: str) -> tuple[str, str]:
    words = name.replace("_", " ")
    return ALWAYS_SHOWN.get(name) or (SINGULAR.get(name, words), words)


@contextmanager
def never_failing(loss: str) -> Iterator[None]:
    """Log a known error of the block as a loss, and continue."""
    try:
        yield
    except (WmsSyncError, SQLAlchemyError, OSError, HTTPException) as error:
        # level INFO: usually the run itself fails because of the same problem, and its error says what to do
        logger.info("%(loss)s (%(kind)s)", {"loss": loss, "kind": type(error).__name__})
