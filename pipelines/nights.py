"""Try a scheduled night again that failed since something did not answer: a sensor requests each attempt.

Every run of a night has two tags, the tick of its schedule and the number of the attempt. What is due follows from them
and from the record of the last attempt, so it survives a restart of the daemon, and the run key of an attempt keeps a
tick that is evaluated twice from starting two.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines.sensors import busy
from pipelines.sources import ATTEMPT, NIGHT
from wms_sync.extract.nights import PAUSES, mends_by_waiting, next_attempt
from wms_sync.settings import Settings
from wms_sync.state.runs import SYNC, RunRecord, RunRecords

LOOK_SECONDS = 30
RECORDS = 50


def attempt(tick: datetime, number: int, *, run_key: str | None) -> dg.RunRequest:
    """Return the request for an attempt of the night of this tick."""
    return dg.RunRequest(run_key=run_key, tags={NIGHT: tick.astimezone(UTC).isoformat(), ATTEMPT: str(number)})


def nights_are_retried(settings: Settings, sync: str, pauses: Sequence[timedelta] = PAUSES) -> dg.SensorDefinition:
    """Return a sensor that requests the next attempt of the newest night when its pause is over.

    `sync` is the name of the job that reads everything that is not covered.
    """

    @dg.sensor(
        name="nights_are_retried",
        job_name=sync,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tries a scheduled night again that failed since something did not answer.",
    )
    def nights_are_retried(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        failed = _failed_night(settings)
        run = None if failed is None else context.instance.get_run_by_id(failed.run_id)
        if failed is None or failed.ended_at is None or run is None or NIGHT not in run.tags:
            return dg.SkipReason("no night has failed that waiting may mend")
        tick, number, now = datetime.fromisoformat(run.tags[NIGHT]), int(run.tags[ATTEMPT]), datetime.now(UTC)
        due = next_attempt(tick, failed.ended_at, number, settings.night_retry_hours, pauses)
        if due is None:
            return dg.SkipReason(f"the night of {tick:%Y-%m-%d %H:%M} UTC has failed: attempt {number} was the last")
        if due > now:
            return dg.SkipReason(f"attempt {number + 1} begins at {due:%H:%M:%S} UTC")
        if reason := busy(context.instance, settings):
            return dg.SkipReason(reason)
        return attempt(tick, number + 1, run_key=f"{run.tags[NIGHT]} {number + 1}")

    return nights_are_retried


def _failed_night(settings: Settings) -> RunRecord | None:
    """Return the newest sync, if it is of a schedule and failed with an error that waiting may mend."""
    with RunRecords(settings.database_url) as records:
        newest = next((one for one in records.newest(RECORDS) if one.group == SYNC), None)
    is_passing = newest is not None and newest.outcome == "failed" and mends_by_waiting(newest.error_kind)
    return newest if is_passing else None
