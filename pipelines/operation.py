"""The resource of every step: the settings, and the library's run that the steps of a Dagster run share.

The resource is a plain object and not configurable in the UI: settings come only from the environment, so that no
secret becomes run configuration. The log of Dagster's run has the library's log records and progress.

A step of a scheduled night that fails because the service, PostgreSQL, object storage or the network did not answer is
tried again after a pause, in the same run. Every attempt takes the lock, repairs the state store and continues where
the last one stopped; during a pause the lock is free. No other failed step is tried again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

import dagster as dg
import httpx

from wms_sync import runs as library
from wms_sync.errors import WmsSyncError
from wms_sync.logs import PlainLines, line, logging_to
from wms_sync.recording import Recording
from wms_sync.reports.outcomes import mends_by_waiting
from wms_sync.settings import Settings
from wms_sync.storage.durable import unusable

Context = dg.OpExecutionContext | dg.AssetExecutionContext
SCHEDULE, SENSOR = "dagster/schedule_name", "dagster/sensor_name"
"""Dagster's tags for the schedule or sensor that launched a run."""
NIGHTLY = "nightly"
"""The name of the schedule whose runs are nights."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (2, 5, 10, 20, 30, 30, 30, 30, 30))
"""The pauses before the retries of a step of a night."""
UNRECORDED = "wms/unrecorded"
"""The tag of a run that the state store could not record, as on a full disk. If it failed, it sent its own alert."""


class RunResource:
    """The resource of one run. Requests go through `transport`, if there is one, instead of a socket.

    A step of a night is retried once for each of the `pauses`.
    """

    def __init__(
        self,
        settings: Settings,
        transport: httpx.BaseTransport | None = None,
        pauses: Sequence[timedelta] = PAUSES,
    ) -> None:
        self.settings = settings
        self.transport = transport
        self.pauses = pauses
        self._run: library.Operation | None = None

    @contextmanager
    def step(self, context: Context) -> Iterator[library.Operation]:
        """Yield the library's run, which the first step begins. Log the summary of the run as the last line.

        Turn known errors, and files that cannot be used, into a `Failure` with the error's message and the error as its
        `__cause__`, or into a `RetryRequested` if another attempt of a night follows.
        """
        run = context.run
        if self._run is None or self._run.run_id != run.run_id:
            self._run = library.Operation(
                self.settings,
                source=source_of(run.tags),
                run_id=run.run_id,
                watcher=PlainLines(context.log.info, line),
                transport=self.transport,
            )
        is_night, is_retried = run.tags.get(SCHEDULE) == NIGHTLY, False
        pause = next(iter(self.pauses[context.retry_number :]), None) if is_night else None
        self._run.retry_after = pause
        with logging_to(context.log):
            try:
                yield self._run
            except Exception as error:
                known = error if isinstance(error, WmsSyncError) else unusable(error)
                is_retried = pause is not None and mends_by_waiting(type(known).__name__)
                if pause is not None and is_retried:
                    raise dg.RetryRequested(len(self.pauses), pause.total_seconds()) from known
                if known is None:
                    raise
                raise dg.Failure(str(known), allow_retries=False) from known
            finally:
                if self._run.summary is not None or not is_retried:
                    _end(context, self._run.summary)

    @contextmanager
    def recording(self, purpose: str, context: Context) -> Iterator[Recording]:
        """Yield the record of a push. Log the summary of the push as the last line."""
        recording = Recording(self.settings, context.run.run_id, purpose, source_of(context.run.tags))
        try:
            yield recording
        finally:
            _end(context, recording.summary)


def _end(context: Context, summary: str | None) -> None:
    """Log the summary of the run, or tag the run as unrecorded if it has no summary."""
    if summary is None:
        context.instance.add_run_tags(context.run.run_id, {UNRECORDED: "yes"})
    else:
        context.log.info(summary)


def source_of(tags: Mapping[str, str]) -> str:
    """Return the source of the run with these tags, for its record."""
    if SCHEDULE in tags:
        return "schedule"
    return "sensor" if SENSOR in tags else "ui"
