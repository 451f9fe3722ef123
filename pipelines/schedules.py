"""The nightly schedule: one run that reads everything that is not covered.

It is off until an operator switches it on (Automation, in the UI). Loading a production service every night is a
decision, which an instance that someone starts on a laptop must not make by itself.
"""

import dagster as dg

from pipelines import nights
from wms_sync.settings import Settings

NIGHTLY = "nightly"


def nightly(settings: Settings, sync: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Return the schedule, at `WMS_SCHEDULE_CRON` in `WMS_SCHEDULE_TIMEZONE`.

    Missed nights need no attention: the next run reads everything that is not covered. A night that fails because of
    the service or the network is tried again (`nights`).
    """

    @dg.schedule(
        name=NIGHTLY,
        job=sync,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Reads everything that changed since the sync cursor and loads the tables.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        return nights.attempt(context.scheduled_execution_time, 1, run_key=None)

    return nightly
