"""The resource of every step: the settings, and the library's run that the steps of a Dagster run share.

The resource is a plain object and not configurable in the UI: settings come only from the environment, so that no
secret becomes run configuration. The log of Dagster's run has the library's log records and progress. Within a run only
the API client retries; Dagster does not retry a failed step. `sensors` may retry a night as another run: the failure of
an attempt says when the next attempt begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import dagster as dg
import httpx

from wms_sync import runs as library
from wms_sync.errors import WmsSyncError
from wms_sync.logs import PlainLines, line, logging_to
from wms_sync.recording import Recording
from wms_sync.reports.failures import mends_by_waiting, next_attempt
from wms_sync.settings import Settings
from wms_sync.storage.durable import unusable

Context = dg.OpExecutionContext | dg.AssetExecutionContext
SCHEDULE, SENSOR = "dagster/schedule_name", "dagster/sensor_name"
"""Dagster's tags for the schedule or sensor that launched a run."""
NIGHT, ATTEMPT = "wms/night", "wms/attempt"
"""The tags of a run of a scheduled night: the tick of the schedule, and the number of the attempt."""
UNRECORDED = "wms/unrecorded"
"""The tag of a run that the state store could not record, as on a full disk. If it failed, it sent its own alert."""


class Operation:
    """The resource of one run. Requests go through `transport`, if there is one, instead of a socket."""

    def __init__(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> None:
        self.settings = settings
        self.transport = transport
        self._run: library.Operation | None = None

    @contextmanager
    def step(self, context: Context) -> Iterator[library.Operation]:
        """Yield the library's run, which the first step begins. Log the summary of the run as the last line.

        Turn known errors, and files that cannot be used, into a `Failure` with the error's message and the error as its
        `__cause__`.
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
        with logging_to(context.log):
            try:
                yield self._run
            except Exception as error:
                known = error if isinstance(error, WmsSyncError) else unusable(error)
                if known is None:
                    raise
                text = f"{known} {_outlook(self.settings, run.tags, known)}".rstrip()
                raise dg.Failure(text, allow_retries=False) from known
            finally:
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
    if SCHEDULE in tags or NIGHT in tags:
        return "schedule"
    return "sensor" if SENSOR in tags else "ui"


def _outlook(settings: Settings, tags: Mapping[str, str], error: WmsSyncError) -> str:
    """Return a sentence on the next attempt of the nightly sync that failed with this error.

    It is empty if the run does not belong to a nightly sync, or if such errors are not retried.
    """
    if NIGHT not in tags or not mends_by_waiting(type(error).__name__):
        return ""
    tick, number = datetime.fromisoformat(tags[NIGHT]), int(tags[ATTEMPT])
    due = next_attempt(tick, datetime.now(UTC), number, settings.night_retry_hours)
    if due is None:
        return f"This was attempt {number} of this nightly sync, and the last one: the nightly sync has failed."
    until = tick + timedelta(hours=settings.night_retry_hours)
    return (
        f"This was attempt {number} of this nightly sync. The next attempt begins at {due:%H:%M} UTC, and no attempt "
        f"begins after {until:%H:%M} UTC."
    )
