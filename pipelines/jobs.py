"""Jobs and their schedules: nightly_sync, backfill_days, rebuild_tables, a push of each kind of master data, maintain.

The night is off until an operator switches it on (Automation, in the UI). Loading a production service every night is a
decision, which an instance that someone starts on a laptop must not make by itself. Maintenance of a lake is on: it
asks the service nothing, and follows loads that somebody has decided on.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pipelines.operation import ATTEMPT, NIGHT, Operation
from wms_sync.cron import next_tick
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.settings import Settings
from wms_sync.upkeep.maintenance import is_due

NIGHTLY_SYNC, BACKFILL_DAYS, REBUILD_TABLES, MAINTAIN = "nightly_sync", "backfill_days", "rebuild_tables", "maintain"

AssetJob = Any  # Dagster does not export the type of what define_asset_job returns


def shipment_jobs(
    changes: dg.AssetsDefinition, days: dg.AssetsDefinition, tables: dg.AssetsDefinition
) -> Sequence[AssetJob]:
    """Return the jobs of shipments, by selection of their assets."""
    step = tables.op.name
    return (
        dg.define_asset_job(
            NIGHTLY_SYNC,
            selection=dg.AssetSelection.assets(changes, tables),
            description="Reads what changed since the sync cursor, and loads the tables.",
        ),
        dg.define_asset_job(
            BACKFILL_DAYS,
            selection=dg.AssetSelection.assets(days),
            description="Reads the chosen days again, whole and in one run; the tables follow.",
        ),
        dg.define_asset_job(
            REBUILD_TABLES,
            selection=dg.AssetSelection.assets(tables),
            config={"ops": {step: {"config": {"rebuild": True}}}},
            description="Makes every table again from the raw pages on disk: after an upgrade, or a new key.",
        ),
    )


def push_name(kind: Kind) -> str:
    """Return the name of the kind's job, the only one that sends: `push_location_tags`."""
    return f"push_{kind.slug}"


def push_jobs(pushed: Mapping[Kind, dg.AssetsDefinition]) -> Mapping[Kind, AssetJob]:
    """Return the jobs that plan files of a kind, and send what is approved or switched on."""
    return {
        kind: dg.define_asset_job(
            push_name(kind),
            selection=dg.AssetSelection.assets(asset),
            description=(
                f"Checks and plans CSV files of {kind.many}. Sends the plans that are approved in its configuration; "
                "with WMS_PUSH_ENABLED, without approval."
            ),
        )
        for kind, asset in pushed.items()
    }


@dg.op(out=dg.Out(dg.Nothing))
def put_together(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Put the files of a lake together, without a call to the service. Rows stay, so nothing is materialised."""
    with operation.step(context) as run:
        done = run.maintain()
    if done is not None:
        context.add_output_metadata(done.counts)


@dg.job(name=MAINTAIN, executor_def=dg.in_process_executor)
def maintain() -> None:
    """Put the files that loads have left in a lake together, and delete what no reader needs any more."""
    put_together()


def schedules(settings: Settings, nightly_sync: AssetJob) -> Sequence[dg.ScheduleDefinition]:
    """Return the schedules of an installation; a file needs no maintenance."""
    night = _nightly(settings, nightly_sync)
    return (night, _maintenance(settings)) if settings.analytics == "ducklake" else (night,)


def attempt(tick: datetime, number: int, *, run_key: str | None) -> dg.RunRequest:
    """Return the request for an attempt of the night of this tick."""
    return dg.RunRequest(run_key=run_key, tags={NIGHT: tick.astimezone(UTC).isoformat(), ATTEMPT: str(number)})


def _nightly(settings: Settings, nightly_sync: AssetJob) -> dg.ScheduleDefinition:
    """Return the schedule, at `WMS_SCHEDULE_CRON` in `WMS_SCHEDULE_TIMEZONE`.

    A night that fails because something did not answer is tried again (`sensors`).
    """

    @dg.schedule(
        name="nightly",
        job=nightly_sync,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Reads everything that changed since the sync cursor and loads the tables.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        tick = context.scheduled_execution_time
        if next_tick(settings.schedule_cron, settings.schedule_timezone, tick) < datetime.now(UTC):
            return dg.SkipReason("this night was missed; a later one reads what it would have read")
        return attempt(tick, 1, run_key=None)

    return nightly


def _maintenance(settings: Settings) -> dg.ScheduleDefinition:
    """Return the schedule of a lake's maintenance: at the ticks of the night, once enough loads have gathered.

    It waits for the turn, so it does not matter whether it begins before the night or after it.
    """

    @dg.schedule(
        name="maintenance",
        job=maintain,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Puts the files of a lake together after WMS_MAINTENANCE_NIGHTS loads.",
    )
    def maintenance(_: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        return dg.RunRequest() if is_due(settings) else dg.SkipReason("too few loads since the last maintenance")

    return maintenance
