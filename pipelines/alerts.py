"""Sensors of alerts: send what is due, and see to it that every failed run has a record to be told from.

A run that lives until its end records itself, and is told from its record by any command or by the sensor here. What is
left are runs that ended otherwise: killed, or failed before their first step.
"""

from collections.abc import Set as AbstractSet

import dagster as dg

from pipelines import dead_runs, jobs
from pipelines.asset_keys import is_of_another
from pipelines.sources import source_of
from wms_sync.alerts.deliver import tell
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecords

SEND_SECONDS = 30
TICK_SECONDS = 40.0
"""The longest that a tick waits for receivers; Dagster ends one that takes longer than a minute."""
NOT_STARTED = "NotStarted"
NO_STEP = "The run failed before its first step; its log in Dagster says why. Nothing was read, loaded or sent."


def alerts_are_sent(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that looks for new facts and sends the alerts that are due."""

    @dg.sensor(
        name="alerts_are_sent",
        minimum_interval_seconds=SEND_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends alerts and heartbeats to the channels that are set, and again those that did not arrive.",
    )
    def alerts_are_sent(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        dead_runs.explain_killed(context.instance, settings)
        tell(settings, seconds=TICK_SECONDS)
        return dg.SkipReason("what is due is sent" if settings.tells_somebody else "no channel is set")

    return alerts_are_sent


def failed_run_alerts(
    settings: Settings, *, names: AbstractSet[str], assets: AbstractSet[dg.AssetKey]
) -> dg.SensorDefinition:
    """Return a sensor that records failed runs of these jobs and assets that could not do so themselves.

    Dagster stores runs of the command line without a code location. So it monitors all code locations and picks the
    jobs and assets of this one.
    """

    @dg.run_failure_sensor(
        name="failed_run_alerts",
        default_status=dg.DefaultSensorStatus.RUNNING,
        monitor_all_code_locations=True,
        description="Records runs that failed before their first step, so that alerts tell of them.",
    )
    def failed_run_alerts(context: dg.RunFailureSensorContext) -> None:
        run = context.dagster_run
        is_ours = run.job_name in names or (run.job_name == jobs.ASSET_JOB and (run.asset_selection or set()) <= assets)
        if not is_ours or is_of_another(run.tags):
            return
        with RunRecords(settings.database_url) as records:
            if records.of(run.run_id) is None:
                error, kind = dead_runs.failure_of(context.instance, run.run_id) or (NO_STEP, NOT_STARTED)
                records.started(run.run_id, jobs.purpose_of(run.job_name), source_of(run.tags))
                records.ended(run.run_id, "failed", error=error, error_kind=kind)

    return failed_run_alerts
