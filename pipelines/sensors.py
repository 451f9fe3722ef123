"""Sensors: tables that follow reads, dead runs and alerts, hourly upkeep.

The sensor of master data is in `master_data_files`.
"""

import dagster as dg

from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts import all_channels, send_alerts
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

from . import coverage, dead_runs
from .jobs import AssetJob
from .shipments import days_missing

LOOK_SECONDS = 30
UPKEEP_SECONDS = 3600
ALERT_SECONDS = 40.0
"""The maximum time that a tick waits for receivers of alerts. Dagster ends a tick that takes longer than a minute."""
RUNNING = dg.DefaultSensorStatus.RUNNING


def tables_follow(settings: Settings, load_tables: AssetJob) -> dg.SensorDefinition:
    """Return a sensor that loads the tables once after each run that only reads, if the run succeeded."""

    @dg.sensor(
        name="tables_follow",
        job=load_tables,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=RUNNING,
        description="Loads the tables after a run that only reads, such as a backfill of days.",
    )
    def tables_follow(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        with StateStore.opened(settings.database_url) as store:
            run_ids = sorted({window.run_id for window in store.windows("landed")})
        read = [
            run.run_id for run in map(context.instance.get_run_by_id, run_ids) if run is not None and run.is_success
        ]
        if not read:
            return dg.SkipReason("no run has read anything that is not in the tables")
        return dg.RunRequest(run_key=" ".join(read))  # a load that fails is not repeated

    return tables_follow


def alerts(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that records the end of dead runs, queues new alerts and sends those that are due."""

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=RUNNING,
        description="Marks runs whose process is gone as failed, and sends the alerts and heartbeats that are due.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        why = "the alerts that were due have been sent" if all_channels(settings) else "no alert channel is set"
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
        with StateStore.opened(settings.database_url) as store:
            if not store.windows():
                return dg.SensorResult(skip_reason="nothing has been read yet")
            missing = days_missing(settings, store, context.instance)
        return dg.SensorResult(asset_events=[*coverage.evaluations(settings), *missing])

    return upkeep
