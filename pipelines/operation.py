"""The resource of every step: settings, and the run of the library that the steps of a run belong to.

It is a plain object and not configurable in the UI: settings come from the environment only, and no secret becomes run
configuration. What the library logs, and its progress, is in the log of Dagster's run. Within a run only the API client
retries; Dagster does not run a failed step again. A night may be tried again as another run (`sensors`): the failure of
an attempt says so.
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
"""The tags with which Dagster names who launched a run."""
NIGHT, ATTEMPT = "wms/night", "wms/attempt"
"""The tags of a scheduled night: the tick of its schedule, and the number of the attempt."""
UNRECORDED = "wms/unrecorded"
"""The tag of a run that the state store did not record, as on a full disk. If it failed, it has sent so itself."""


class Operation:
    """The resource of one run. Requests go through `transport`, if there is one, instead of a socket."""

    def __init__(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> None:
        self.settings = settings
        self.transport = transport
        self._run: library.Operation | None = None

    @contextmanager
    def step(self, context: Context) -> Iterator[library.Operation]:
        """Yield the run of the library, which the first step begins; its summary is the last line of the log.

        Known errors, and files that the system refuses, end the step with their message; the error itself is the
        failure's `__cause__`.
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
        """Yield the record of a push; its summary is the run's last line."""
        recording = Recording(self.settings, context.run.run_id, purpose, source_of(context.run.tags))
        try:
            yield recording
        finally:
            _end(context, recording.summary)


def _end(context: Context, summary: str | None) -> None:
    """Log the summary of a record, or mark a run that has none."""
    if summary is None:
        context.instance.add_run_tags(context.run.run_id, {UNRECORDED: "yes"})
    else:
        context.log.info(summary)


def source_of(tags: Mapping[str, str]) -> str:
    """Return who started the run with these tags, for its record."""
    if SCHEDULE in tags or NIGHT in tags:
        return "schedule"
    return "sensor" if SENSOR in tags else "ui"


def _outlook(settings: Settings, tags: Mapping[str, str], error: WmsSyncError) -> str:
    """Return what a failed attempt means for its night, empty if the run is no attempt."""
    if NIGHT not in tags or not mends_by_waiting(type(error).__name__):
        return ""
    tick, number = datetime.fromisoformat(tags[NIGHT]), int(tags[ATTEMPT])
    due = next_attempt(tick, datetime.now(UTC), number, settings.night_retry_hours)
    if due is None:
        return f"This was attempt {number} of this night, and the last: the night has failed."
    until = tick + timedelta(hours=settings.night_retry_hours)
    return f"This was attempt {number} of this night; the next begins at {due:%H:%M} UTC, the last until {until:%H:%M}."
