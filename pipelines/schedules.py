"""The nightly schedule: one run that reads everything that is not covered.

It is off until an operator switches it on (Automation, in the UI). Loading a production service every night is a
decision, which an instance that someone starts on a laptop must not make by itself.
"""

import dagster as dg

from pipelines import jobs
from pipelines.days import DayRange
from pipelines.shipment_pages import Mode, run_config
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

NIGHTLY = "nightly"


def nightly(settings: Settings, shipments: jobs.AssetJob) -> dg.ScheduleDefinition:
    """Return the schedule, at `WMS_SCHEDULE_CRON` in `WMS_SCHEDULE_TIMEZONE`.

    Missed nights need no attention: the next run reads everything that is not covered.
    """

    @dg.schedule(
        name=NIGHTLY,
        job=shipments,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Reads everything that changed since the sync cursor and loads the tables.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        with StateStore(settings.database_url) as store:
            covered = store.covered(tolerance=settings.clock_tolerance)
        days = DayRange.since_cursor(settings, covered, context.scheduled_execution_time)
        return dg.RunRequest(run_config=run_config(Mode.SYNC), tags=dict(days.tags))

    return nightly
