"""Sensors: dead runs and alerts, hourly upkeep, and Dagster's own sensor of automation conditions.

The sensor of master data is in `master_data_files`.
"""

import dagster as dg

from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts import send_alerts
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

from . import coverage, dead_runs
from .shipments import days_missing

LOOK_SECONDS = 30
UPKEEP_SECONDS = 3600
ALERT_SECONDS = 40.0
"""The maximum time that a tick waits for receivers of alerts. Dagster ends a tick that takes longer than a minute."""
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
        with StateStore.opened(settings.database_url) as store:
            if not store.windows():
                return dg.SensorResult(skip_reason="nothing has been read yet")
            missing = days_missing(settings, store, context.instance)
        return dg.SensorResult(asset_events=[*coverage.evaluations(settings), *missing])

    return upkeep
