"""Sensors: retries of nights, dead runs and alerts, hourly upkeep, and Dagster's own sensor of automation conditions.

The sensor of master data is in `master_data_files`. Every run of a night has two tags: the tick of the schedule and the
number of the attempt. These tags and the record of the last attempt determine the next attempt, so retries survive a
restart of the daemon. The run key of an attempt prevents two runs if a tick is evaluated twice.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines import asset_keys, coverage, dead_runs, jobs
from pipelines.operation import ATTEMPT, NIGHT
from pipelines.shipments import days_missing
from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts.deliver import send_alerts
from wms_sync.reports.failures import PAUSES, mends_by_waiting, next_attempt
from wms_sync.settings import Settings
from wms_sync.state.lock import lock_of
from wms_sync.state.runs import SYNC, RunRecord, RunRecords
from wms_sync.state.store import StateStore

LOOK_SECONDS = 30
UPKEEP_SECONDS = 3600
ALERT_SECONDS = 40.0
"""The maximum time that a tick waits for receivers of alerts. Dagster ends a tick that takes longer than a minute."""
FORGOTTEN_AFTER = timedelta(days=1)
"""A run that has been in progress for longer, while no process holds the writer's lock, was killed."""
RECORDS = 50
RUNNING = dg.DefaultSensorStatus.RUNNING


def automation() -> dg.SensorDefinition:
    """Return Dagster's sensor of automation conditions, which loads the tables after reads. It is on by default."""
    return dg.AutomationConditionSensorDefinition(
        "default_automation_condition_sensor",
        target=dg.AssetSelection.all(),
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=RUNNING,
    )


def alerts(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that records the end of dead runs, queues new alerts and sends those that are due."""

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=RUNNING,
        description="Marks runs whose process is gone as failed, and sends the alerts and heartbeats that are due.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        why = "the alerts that were due have been sent" if settings.has_alert_channel else "no alert channel is set"
        try:
            dead_runs.settle(context.instance, settings)
        except WmsSyncError as error:  # such as a full disk; alerts must still be sent
            why = f"the end of dead runs could not be recorded: {error}"
        send_alerts(settings, seconds=ALERT_SECONDS)
        return dg.SkipReason(why)

    return alerts


def upkeep(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that evaluates the coverage checks every hour, so that they fail when no sync runs any more.

    It also reports the days that commands without a `DAGSTER_HOME` read.
    """

    @dg.sensor(
        name="upkeep",
        minimum_interval_seconds=UPKEEP_SECONDS,
        default_status=RUNNING,
        description="Every hour: evaluates the checks of coverage, and reports days that commands have read.",
    )
    def upkeep(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        with StateStore(settings.database_url) as store:
            if not store.windows():
                return dg.SensorResult(skip_reason="nothing has been read yet")
            missing = days_missing(settings, store, context.instance)
        return dg.SensorResult(asset_events=[*coverage.evaluations(settings), *missing])

    return upkeep


def night_retries(settings: Settings, pauses: Sequence[timedelta] = PAUSES) -> dg.SensorDefinition:
    """Return a sensor that requests the next attempt when the pause is over, if the newest sync is a failed night."""

    @dg.sensor(
        name="night_retries",
        job_name=jobs.NIGHTLY_SYNC,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=RUNNING,
        description="Retries a nightly sync if the service, database, storage or network did not answer.",
    )
    def night_retries(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        failed = _failed_night(settings)
        run = None if failed is None else context.instance.get_run_by_id(failed.run_id)
        if failed is None or failed.ended_at is None or run is None or NIGHT not in run.tags:
            return dg.SkipReason("no failed nightly sync can be retried")
        tick, number, now = datetime.fromisoformat(run.tags[NIGHT]), int(run.tags[ATTEMPT]), datetime.now(UTC)
        due = next_attempt(tick, failed.ended_at, number, settings.night_retry_hours, pauses)
        if due is None:
            return dg.SkipReason(f"the sync of {tick:%Y-%m-%d %H:%M} UTC has failed: attempt {number} was the last")
        if due > now:
            return dg.SkipReason(f"attempt {number + 1} begins at {due:%H:%M:%S} UTC")
        if reason := busy(context.instance, settings):
            return dg.SkipReason(reason)
        return jobs.attempt(tick, number + 1, run_key=f"{run.tags[NIGHT]} {number + 1}")

    return night_retries


def busy(instance: dg.DagsterInstance, settings: Settings) -> str | None:
    """Return the reason not to start a run now: another run is in progress or queued. Return None if there is none."""
    if (holder := lock_of(settings.database_url, settings.layout).holder()) is not None:
        return f"{holder} is writing"
    since, tags = datetime.now(UTC) - FORGOTTEN_AFTER, asset_keys.location_tags(settings)
    unfinished = dg.RunsFilter(statuses=dead_runs.UNFINISHED, created_after=since, tags=tags)
    return "a run is queued or in progress" if instance.get_runs(unfinished, limit=1) else None


def _failed_night(settings: Settings) -> RunRecord | None:
    """Return the newest sync if it failed with an error that may pass by itself; otherwise None."""
    with RunRecords(settings.database_url) as records:
        newest = next((record for record in records.newest(RECORDS) if record.group == SYNC), None)
    is_passing = newest is not None and newest.outcome == "failed" and mends_by_waiting(newest.error_kind)
    return newest if is_passing else None
