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
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.interrupts import interruptible
from wms_sync.layout import Layout
from wms_sync.reports.outcomes import mends_by_waiting
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import data_as_of
from wms_sync.state.lock import lock_of
from wms_sync.state.runs import NOT_PUBLISHED, Outcome, RunRecord, RunRecords, lock_for
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.state.store import StateStore
from wms_sync.state.turns import taking_turn
from wms_sync.storage.durable import unusable

if TYPE_CHECKING:
    from wms_sync.shipments.load.refresh import RefreshReport

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

    @classmethod
    def of(cls, refreshed: RefreshReport) -> Ended:
        """Return the end of a run that loaded the tables: failed if nothing was published."""
        return SUCCEEDED if refreshed.published else cls("failed", refreshed.refusal, NOT_PUBLISHED)


SUCCEEDED = Ended()


class Recording:
    """The lock and the record of one run. After the run, `summary` is the last line of its log."""

    def __init__(self, settings: Settings, run_id: str, purpose: str, source: str) -> None:
        self.run_id = run_id
        self.summary: str | None = None
        self._settings = settings
        self._purpose = purpose
        self._source = source
        self._store: StateStore | None = None
        self._writing: StateStore | None = None
        self._is_ready = False
        self._is_open = False
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
        before: Callable[[], object],
        afterwards: Callable[[StateStore], object],
        keep: Callable[[Layout, StateStore], object] = write_snapshot,
        retry_after: timedelta | None = None,
    ) -> Iterator[StateStore]:
        """Hold the lock inside the block, whose first phase is `name`; afterwards record the end of the run.

        First call `before`, which puts a lost state store back; nothing is recorded in a store that it refuses. Yield
        the state store for writing, which is opened once the lock is held: a restore may replace it until then.
        Call `counts` at the end of each phase, and `end` after the last phase. Record an error as the end of the run,
        even an error raised while waiting for the lock. After an error that may pass by itself, the run waits for
        `retry_after`, unless that is None. Then `keep` the state, as a snapshot at least, release the lock, and call
        `afterwards` with the state store. A run of several steps calls this method once for each step and attempt.
        """
        layout = self._settings.layout
        lock = lock_of(self._settings.database_url, layout)
        self._phase = ""
        self._writing = None
        with ExitStack() as stack:
            stack.callback(self._close)
            stack.callback(self._released, afterwards)
            try:
                with interruptible():
                    before()
                    self._is_ready = True
                    hold = lock.hold(self._purpose, what=lock_for(self._purpose), run_id=self.run_id)
                    held = stack.enter_context(hold)
                    store = self._opened()
                    self._started(store.runs)
                    self._phase, self._since, self._counts = name, monotonic(), counts
                    turn = stack.enter_context(taking_turn(store.engine, layout, held))
                    self._writing = StateStore(store.engine, turn)
                    with turn.explaining():
                        yield self._writing
                ended = end()
            except BaseException as error:
                ended = Ended.by(error, retry_after)
                raise
            finally:
                self._ended(ended)
                self._keep_state(keep)

    def next_phase(self, name: str) -> None:
        """Record the end of the current phase, and begin the next one. Call this inside the block of ``phase``."""
        with never_failing("a phase of this run could not be recorded"):
            self._phase_ended(self._opened().runs)
        self._phase, self._since = name, monotonic()

    def _opened(self) -> StateStore:
        if self._store is None:
            self._store = StateStore.opened(self._settings.database_url)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _started(self, records: RunRecords) -> None:
        with never_failing("the start of this run could not be recorded"):
            for killed in records.mark_killed(self._settings.layout):
                logger.warning(
                    "an earlier run, %(purpose)s (%(run)s), was killed",
                    {"purpose": killed.purpose, "run": killed.run_id},
                )
            records.started(self.run_id, self._purpose, self._source)
            self._is_open = True

    def _ended(self, ended: Ended) -> None:
        record: RunRecord | None = None
        if self._is_ready:
            record = self._record_end(ended)
        self._is_open = False
        if ended.outcome == "failed" and record is None:
            from wms_sync.reports.alerts import report_unrecorded  # only a run without a record needs them

            now, kind = datetime.now(UTC), ended.kind
            failed = RunRecord(self.run_id, self._purpose, self._source, now, now, "failed", ended.error, kind)
            report_unrecorded(self._settings, failed)

    def _record_end(self, ended: Ended) -> RunRecord | None:
        record: RunRecord | None = None
        with never_failing("the end of this run could not be recorded"):
            store = self._opened()
            records = store.runs
            if not self._is_open:
                records.started(self.run_id, self._purpose, self._source)
            self._phase_ended(records)
            reaches = data_as_of(self._settings, store)
            records.ended(
                self.run_id,
                ended.outcome,
                error=ended.error,
                error_kind=ended.kind,
                data_as_of=reaches,
                due_at=ended.due_at,
            )
            if (record := records.of(self.run_id)) is not None:
                self.summary = summary(record)
        return record

    def _keep_state(self, keep: Callable[[Layout, StateStore], object]) -> None:
        """Keep the state. If that fails, note it for a finding: the outcome of the run stays."""
        if self._writing is None:
            return
        layout, store = self._settings.layout, self._writing
        try:
            with layout.files.in_turn(store.turn):
                keep(layout, store)
        except (WmsSyncError, OSError) as error:
            trouble = str(error)
            logger.warning("no snapshot of the state store was written: %(trouble)s", {"trouble": trouble})
            with never_failing("this could not be noted for the findings"):
                store.snapshots.note(trouble)

    def _phase_ended(self, records: RunRecords) -> None:
        if self._phase:  # otherwise the run never had its lock
            records.phase_ended(self.run_id, self._phase, monotonic() - self._since, self._counts())

    def _released(self, afterwards: Callable[[StateStore], object]) -> None:
        if not self._is_ready:
            return
        with never_failing("the findings after this run could not be determined"):
            afterwards(self._opened())


def summary(record: RunRecord) -> str:
    """Return what a run did as one line, or has done if a read was its last phase: the tables are loaded afterwards.

    `sync succeeded: 5,000 shipments read, 81,234 rows merged, 0 quarantined; read 5.6 s, load 7.1 s; data as of
    2026-03-01 02:00:03 UTC`. Other counts are left out if they are zero or in ``DETAILS``.
    """
    parts = [
        count_of(count, *_in_words(name))
        for name, count in record.counts.items()
        if name in ALWAYS_SHOWN or (count > 0 and name not in DETAILS)
    ]
    took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in record.phases.items())
    reaches = f"data as of {record.data_as_of:%Y-%m-%d %H:%M:%S} UTC" if record.data_as_of else "no data yet"
    was_read = record.outcome == "succeeded" and [*record.phases] == ["read"]
    did, reaches = ("read", "not in the tables yet") if was_read else (record.outcome, reaches)
    return f"{record.purpose} {did}: {'; '.join(part for part in (', '.join(parts), took, reaches) if part)}"


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
