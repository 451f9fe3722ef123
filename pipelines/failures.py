"""Turn errors of the library into failures of a step.

Within a run only the API client retries; Dagster does not run a failed step again by itself. A night may be tried again
as another run (`nights`): the failure of an attempt says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines.sources import ATTEMPT, NIGHT
from wms_sync.durable import unusable
from wms_sync.errors import WmsSyncError
from wms_sync.extract.nights import mends_by_waiting, next_attempt
from wms_sync.settings import Settings


@contextmanager
def step_failures(settings: Settings, tags: Mapping[str, str]) -> Iterator[None]:
    """End the step with the message of a known error, or of a file that the system refuses; the error itself is the
    failure's `__cause__`.

    `tags` are those of the run.
    """
    try:
        yield
    except Exception as error:
        known = error if isinstance(error, WmsSyncError) else unusable(error)
        if known is None:
            raise
        message = f"{known} {_outlook(settings, tags, known)}".rstrip()
        raise dg.Failure(description=message, allow_retries=False) from known


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
