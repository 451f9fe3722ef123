"""A sync, a backfill, a load, a rebuild or maintenance: everything between the command and its result.

Each is one turn of the writer. What is read is flattened while the read goes on, then loaded, checked and published.
The run is recorded from its first phase to its last, whoever started it; runs that were killed before are told first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
from msgspec import Struct

from wms_sync.analytics.target import Maintained, target_of
from wms_sync.api.client import GlobalApi
from wms_sync.audit.compare import stored_shipments
from wms_sync.audit.slice import SliceReader
from wms_sync.errors import WmsSyncError
from wms_sync.extract.progress import Watcher
from wms_sync.extract.read import Reading, ReadReport
from wms_sync.extract.warnings import Warnings
from wms_sync.flatten.workers import Flattening
from wms_sync.intervals import Interval
from wms_sync.load.refresh import RefreshReport, rebuild, refresh
from wms_sync.runs.recording import SUCCEEDED, Counts, Ended, Recording
from wms_sync.runs.report_page import report_load
from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.state.runs import LOADING, MAINTENANCE, SYNC
from wms_sync.upkeep.maintenance import maintain
from wms_sync.upkeep.recovery import begin


class NotPublished(WmsSyncError):
    """Blocking checks failed; the published file is unchanged."""


class RunReport(Struct, frozen=True):
    """The reports of a run that succeeded; None for steps that it does not have."""

    run_id: str
    read: ReadReport | None
    refreshed: RefreshReport | None
    maintained: Maintained | None = None


def _purpose_of(days: Interval) -> str:
    return f"backfill {days.start:%Y-%m-%d} to {days.end:%Y-%m-%d}"


class Operation:
    """One run. What it has done by now is in its reports, also if it fails; ``page`` is where the HTML report is.

    Requests go through ``transport``, if there is one, instead of a socket.
    A load whose blocking checks fail raises nothing: ``refreshed`` says that nothing was published.
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
        self.page: Path | None = None
        self._source = source
        self._watcher = watcher
        self._transport = transport
        self._recording: Recording | None = None

    @property
    def summary(self) -> str | None:
        """Return what the run did as one line, once it has ended."""
        return None if self._recording is None else self._recording.summary

    @property
    def report(self) -> RunReport:
        """Return the reports of the run, which has ended. Raise ``NotPublished`` if nothing was published."""
        if self.refreshed is not None and not self.refreshed.published:
            raise NotPublished(self.refreshed.refusal)
        return RunReport(self.run_id, self.read, self.refreshed, self.maintained)

    def sync(self) -> None:
        """Read what is not covered yet and a slice of old shipments, and load the tables."""
        with self._turn(SYNC, phase="read") as run:
            self._read_changes(run)
            self._then_load(run)

    def backfill(self, days: Interval) -> None:
        """Read whole days again, and load the tables."""
        with self._turn(_purpose_of(days), phase="read") as run:
            self._read_days(run, days)
            self._then_load(run)

    def read_changes(self) -> ReadReport:
        """Read what ``sync`` reads; whoever calls ``load`` loads it."""
        with self._turn(SYNC, phase="read") as run:
            return self._read_changes(run)

    def read_days(self, days: Interval) -> ReadReport:
        """Read what ``backfill`` reads; whoever calls ``load`` loads it."""
        with self._turn(_purpose_of(days), phase="read") as run:
            return self._read_days(run, days)

    def load(self) -> RefreshReport:
        """Load every window that is landed and not in the tables, by whichever run."""
        with self._turn(LOADING, phase="load") as run:
            return self._load(run, refresh)

    def rebuild(self) -> RefreshReport:
        """Make every table again from raw pages, without one call to the service."""
        with self._turn("rebuild", phase="rebuild", anew=True) as run:
            return self._load(run, rebuild)

    def maintain(self) -> Maintained | None:
        """Put the files of a lake together, without one call to the service."""
        with self._turn(MAINTENANCE, phase="maintain") as run:
            self.maintained = done = maintain(run)
            return done

    def _read_changes(self, run: Run) -> ReadReport:
        with self._reading(run) as (reading, audit):
            self.read = report = reading.sync()
            audit.read(report.horizon)
        return report

    def _read_days(self, run: Run, days: Interval) -> ReadReport:
        with self._reading(run) as (reading, _):
            self.read = report = reading.backfill(days.start, days.end)
        return report

    @contextmanager
    def _turn(self, purpose: str, *, phase: str, anew: bool = False) -> Iterator[Run]:
        """Hold the writer's turn inside the block, which begins with a phase of the run's record."""
        if self._recording is None:
            self._recording = Recording(self.settings, self.run_id, purpose, self._source)
        with (
            self._recording.phase(phase, counts=self._counts, end=self._end) as held,
            begin(self.settings, purpose, self.run_id, anew=anew, held=held) as run,
        ):
            yield run

    @contextmanager
    def _reading(self, run: Run) -> Iterator[tuple[Reading, SliceReader]]:
        """Yield what reads; each window that lands is flattened meanwhile, and all are at the end of the block.

        Nothing is read that no load could take.
        """
        target_of(run.settings).try_files()
        settings, warnings = run.settings, Warnings()
        with (
            GlobalApi.from_settings(settings, warn=warnings.warn, transport=self._transport) as api,
            Flattening(settings, run.store) as ahead,
        ):
            stored = partial(stored_shipments, settings)
            yield (
                Reading(run, api, watcher=self._watcher, landed=ahead.add, warnings=warnings),
                SliceReader(run, api, stored=stored, landed=ahead.add, warnings=warnings),
            )

    def _then_load(self, run: Run) -> None:
        assert self._recording is not None  # noqa: S101 - the turn has begun it
        self._recording.next_phase("load")
        self._load(run, refresh)

    def _load(self, run: Run, loads: Callable[[Run], RefreshReport]) -> RefreshReport:
        self.refreshed = report = loads(run)
        self.page = report_load(run, report)
        return report

    def _counts(self) -> Counts:
        read = {} if self.read is None else self.read.counts
        loaded = {} if self.refreshed is None else self.refreshed.counts
        return {**read, **loaded, **({} if self.maintained is None else self.maintained.counts)}

    def _end(self) -> Ended:
        return SUCCEEDED if self.refreshed is None else Ended.of(self.refreshed)
