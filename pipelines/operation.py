"""The resource of every step: settings, watchers of progress, and the run of the library that the steps belong to.

It is a plain object and not configurable in the UI: settings come from the environment only, and no secret becomes run
configuration. Runs that Dagster launches show progress in the log; the command line passes its own watcher. What the
library logs is in the log of Dagster's run, whoever started it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.failures import step_failures
from pipelines.logs import logging_to
from pipelines.progress_lines import PlainLines, line, push_line
from pipelines.sources import COMMAND_LINE, source_of, tag_run
from wms_sync.analytics.target import Maintained
from wms_sync.extract.progress import Watcher
from wms_sync.extract.read import ReadReport
from wms_sync.load.refresh import RefreshReport
from wms_sync.runs import operation as library
from wms_sync.runs.recording import Recording
from wms_sync.settings import Settings

if TYPE_CHECKING:  # long to import, and only pushes need it
    from wms_sync.master_data.plan.steps import Plan
    from wms_sync.master_data.push.file import PushReport
    from wms_sync.master_data.push.outcomes import Watcher as PushWatcher

NO_VALUES = {"io_manager": dg.mem_io_manager}
"""The resource for values that steps hand on: ours have none. Dagster's own makes folders, and takes long to import."""
Context = dg.OpExecutionContext | dg.AssetExecutionContext


class Operation:
    """The resource of one run.

    `read` and `refreshed` are the reports of its steps, `handled` those of master data.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        watcher: Watcher | None = None,
        push_watcher: PushWatcher | None = None,
    ) -> None:
        self.settings = settings
        self.handled: list[Plan | PushReport] = []
        self._run: library.Operation | None = None
        self._watcher = watcher
        self._push_watcher = push_watcher

    @property
    def read(self) -> ReadReport | None:
        """Return the report of the run's read, if it has read."""
        return None if self._run is None else self._run.read

    @property
    def refreshed(self) -> RefreshReport | None:
        """Return the report of the run's load, if it has loaded."""
        return None if self._run is None else self._run.refreshed

    @property
    def maintained(self) -> Maintained | None:
        """Return what maintenance did, if it was the run's."""
        return None if self._run is None else self._run.maintained

    def push_watcher(self, log: logging.Logger) -> PushWatcher:
        """Return the watcher of a push: the one that was passed in, else one that writes lines to the log."""
        return self._push_watcher or PlainLines(log.info, push_line)

    @contextmanager
    def step(self, context: Context, mode: str) -> Iterator[library.Operation]:
        """Yield the run of the library, which the first step begins; its summary is the last line of the log.

        Known errors end the step with their message.
        """
        run = context.run
        if self._run is None or self._run.run_id != run.run_id:
            tag_run(context.instance, run, mode)
            watcher = self._watcher or PlainLines(context.log.info, line)
            self._run = library.Operation(self.settings, source=source_of(run.tags), run_id=run.run_id, watcher=watcher)
        with step_failures(self.settings, run.tags), logging_to(context.log):
            try:
                yield self._run
            finally:
                if self._run.summary is not None:
                    context.log.info(f"{self._run.summary}; {what_it_took(context.instance, run)}")

    @contextmanager
    def recording(self, purpose: str, context: Context) -> Iterator[Recording]:
        """Yield the record of a push; its summary is the run's last line."""
        tag_run(context.instance, context.run, "push")
        recording = Recording(self.settings, context.run.run_id, purpose, source_of(context.run.tags))
        try:
            yield recording
        finally:
            if recording.summary is not None:
                context.log.info(recording.summary)


def what_it_took(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Return how long the process of a run has computed, imports included, and how long Dagster let the run wait.

    `3.1 s of processor time; 14.2 s from the request to the start`. A run of the command line does not wait.
    """
    took = f"{process_time():.1f} s of processor time"
    record = None if source_of(run.tags) == COMMAND_LINE else instance.get_run_record_by_id(run.run_id)
    if record is None or record.start_time is None:
        return took
    return f"{took}; {record.start_time - record.create_timestamp.timestamp():.1f} s from the request to the start"
