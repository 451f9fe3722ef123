"""The schedules: the night, which reads everything that is not covered, and the maintenance of a lake.

The night is off until an operator switches it on (Automation, in the UI). Loading a production service every night is a
decision, which an instance that someone starts on a laptop must not make by itself. Maintenance is on: it asks the
service nothing, and follows loads that somebody has decided on.
"""

import dagster as dg

from pipelines import nights
from wms_sync.settings import Settings
from wms_sync.upkeep.maintenance import is_due

NIGHTLY, MAINTENANCE = "nightly", "maintenance"


def all_schedules(
    settings: Settings, sync: dg.JobDefinition, maintain: dg.JobDefinition
) -> list[dg.ScheduleDefinition]:
    """Return the schedules of an installation; a file needs no maintenance."""
    night = nightly(settings, sync)
    return [night, maintenance(settings, maintain)] if settings.analytics == "ducklake" else [night]


def nightly(settings: Settings, sync: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Return the schedule, at `WMS_SCHEDULE_CRON` in `WMS_SCHEDULE_TIMEZONE`.

    Missed nights need no attention: the next run reads everything that is not covered. A night that fails
    since something did not answer is tried again (`nights`).
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


def maintenance(settings: Settings, maintain: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Return the schedule of a lake's maintenance: at the ticks of the night, once enough loads have gathered.

    It waits for the turn, so it does not matter whether it begins before the night or after it.
    """

    @dg.schedule(
        name=MAINTENANCE,
        job=maintain,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Puts the files of a lake together after WMS_MAINTENANCE_NIGHTS loads.",
    )
    def maintenance(_: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        return dg.RunRequest() if is_due(settings) else dg.SkipReason("too few loads since the last maintenance")

    return maintenance
