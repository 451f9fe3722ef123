"""The resource of every step: settings, watchers of progress, and the reports of the run's steps.

It is a plain object and not configurable in the UI: settings come from the environment only, and no secret becomes run
configuration. Runs that Dagster launches show progress in the log; the command line passes its own watcher. What the
library logs is in the log of Dagster's run, whoever started it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Generic, TypeVar

import dagster as dg

from pipelines.failures import step_failures
from pipelines.logs import logging_to
from pipelines.metadata import Metadata
from pipelines.recording import SUCCEEDED, Counts, Ended, Recording
from pipelines.sources import source_of, tag_run
from wms_sync.extract.progress import Progress, Watcher
from wms_sync.extract.read import ReadReport
from wms_sync.load.refresh import RefreshReport
from wms_sync.master_data.plan.steps import Plan
from wms_sync.master_data.push.file import PushReport
from wms_sync.master_data.push.outcomes import PushProgress
from wms_sync.master_data.push.outcomes import Watcher as PushWatcher
from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.upkeep.recovery import begin

LINE_SECONDS = 10.0
NOT_PUBLISHED = "NotPublished"
Context = dg.OpExecutionContext | dg.AssetExecutionContext
T = TypeVar("T")


class Operation:
    """The resource of one run.

    Its steps store what they did in `read`, `days` (what is shown of each), `refreshed`, `report` (the page's path) and
    `handled` (master data).
    """

    def __init__(
        self,
        settings: Settings,
        *,
        watcher: Watcher | None = None,
        push_watcher: PushWatcher | None = None,
    ) -> None:
        self.settings = settings
        self.read: ReadReport | None = None
        self.days: Mapping[date, Metadata] = {}
        self.refreshed: RefreshReport | None = None
        self.report: Path | None = None
        self.handled: list[Plan | PushReport] = []
        self._recording: Recording | None = None
        self._watcher = watcher
        self._push_watcher = push_watcher

    def watcher(self, log: logging.Logger) -> Watcher:
        """Return the watcher of a read: the one that was passed in, else one that writes lines to the log."""
        return self._watcher or PlainLines(log.info, line)

    def push_watcher(self, log: logging.Logger) -> PushWatcher:
        """Return the watcher of a push, likewise."""
        return self._push_watcher or PlainLines(log.info, push_line)

    @contextmanager
    def step(self, purpose: str, context: Context, *, phase: str, is_last: bool = True) -> Iterator[Run]:
        """Hold the writer's turn inside the block, which is a step of Dagster's run; yield the library's run.

        The step is a phase of the run's record, which ends with the last one; the block stores its report in `read` or
        `refreshed`. Known errors end the step with their message.
        """
        with (
            step_failures(self.settings, context.run.tags),
            logging_to(context.log),
            self.recording(purpose, context) as recording,
            recording.phase(phase, counts=self._counts, end=self._end if is_last else None),
            begin(self.settings, purpose, context.run.run_id) as run,
        ):
            yield run

    @contextmanager
    def recording(self, purpose: str, context: Context) -> Iterator[Recording]:
        """Yield the record of the context's run, which its first step begins; its summary is the run's last line."""
        run = context.run
        if self._recording is None or self._recording.run_id != run.run_id:
            tag_run(context.instance, run, purpose)
            self._recording = Recording(self.settings, run.run_id, purpose, source_of(run.tags))
        try:
            yield self._recording
        finally:
            if self._recording.summary is not None:
                context.log.info(self._recording.summary)

    def _counts(self) -> Counts:
        read = {} if self.read is None else self.read.counts
        return {**read, **({} if self.refreshed is None else self.refreshed.counts)}

    def _end(self) -> Ended:
        if self.refreshed is None or self.refreshed.published:
            return SUCCEEDED
        return Ended("failed", self.refreshed.refusal, NOT_PUBLISHED)


class PlainLines(Generic[T]):
    """A watcher that writes a line at once, then one every ten seconds; the final state is in the step's metadata."""

    def __init__(self, write: Callable[[str], object], line: Callable[[T], str]) -> None:
        self._write = write
        self._line = line
        self._next = monotonic()

    def __call__(self, progress: T) -> None:
        """Take the progress after a page or row; called from any thread."""
        now = monotonic()
        if now >= self._next:
            self._next = now + LINE_SECONDS
            self._write(self._line(progress))


def line(progress: Progress) -> str:
    """Return progress as a line: `52,000 of 100,000 shipments (52 %), 52 pages, 4 of 10 windows`."""
    share = f" ({progress.records * 100 // progress.expected} %)" if progress.expected else ""
    return (
        f"{progress.records:,} of {progress.expected:,} shipments{share}, {progress.pages:,} pages, "
        f"{progress.windows_done} of {progress.windows} windows"
    )


def push_line(progress: PushProgress) -> str:
    """Return progress as a line: `1,200 of 10,000 sent (12 %), 1,198 created, 2 rejected, about 80 s left`."""
    counted = "".join(f", {count:,} {outcome}" for outcome, count in progress.counts.items())
    left = f", about {progress.remaining_seconds:.0f} s left" if progress.remaining_seconds is not None else ""
    return f"{progress.done:,} of {progress.total:,} sent ({progress.done * 100 // progress.total} %){counted}{left}"
