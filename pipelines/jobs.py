"""Jobs and their schedules: nightly_sync, backfill_days, load_tables, rebuild_tables, maintain, plans and pushes.

The nightly schedule is off until an operator switches it on (Automation, in the UI): an instance started on a laptop
must not read a production service every night by itself. The schedule of a lake's maintenance is on: maintenance sends
no requests to the service, and runs only after loads.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from wms_sync.master_data.kind import Kind
from wms_sync.settings import Settings
from wms_sync.targets.target import maintenance_is_due

from .operation import NIGHTLY, RunResource
from .tables import LOADING

NIGHTLY_SYNC, BACKFILL_DAYS, MAINTAIN = "nightly_sync", "backfill_days", "maintain"
LOAD_TABLES, REBUILD_TABLES = "load_tables", "rebuild_tables"
PUSHED = "Sends the plans approved in its configuration; if there are none, all plans if WMS_PUSH_ENABLED is on."

AssetJob = Any  # Dagster does not export the return type of define_asset_job


def shipment_jobs(
    changes: dg.AssetsDefinition, days: dg.AssetsDefinition, tables: dg.AssetsDefinition
) -> Sequence[AssetJob]:
    """Return the jobs for shipments, each defined by a selection of assets."""
    loaded = dg.AssetSelection.assets(tables).without_checks()  # the step evaluates them all
    return (
        dg.define_asset_job(
            NIGHTLY_SYNC,
            selection=dg.AssetSelection.assets(changes).without_checks() | loaded,
            description="Reads what changed since the last sync, loads the tables and evaluates every check.",
        ),
        dg.define_asset_job(
            LOAD_TABLES,
            selection=loaded,
            description="Loads what was read and is not in the tables, and evaluates every check. Sends no request.",
        ),
        dg.define_asset_job(
            BACKFILL_DAYS,
            selection=dg.AssetSelection.assets(days),
            description="Reads the chosen days again, in one run. The tables are loaded afterwards.",
        ),
        dg.define_asset_job(
            REBUILD_TABLES,
            selection=loaded,
            config={"ops": {LOADING: {"config": {"rebuild": True}}}},
            description="Rebuilds every table from raw pages: after an upgrade, or when sql/types gains a key.",
        ),
    )


def plan_name(kind: Kind) -> str:
    """Return the name of the job that plans files of a kind and sends nothing: `plan_location_tags`."""
    return f"plan_{kind.slug}"


def push_name(kind: Kind) -> str:
    """Return the name of the job that pushes a kind, the only job that sends its rows: `push_location_tags`."""
    return f"push_{kind.slug}"


def master_data_jobs(assets: Mapping[Kind, dg.AssetsDefinition]) -> Sequence[AssetJob]:
    """Return two jobs for each kind: one plans files; one sends approved plans, or without approvals all if enabled."""
    return [
        dg.define_asset_job(
            name(kind),
            selection=dg.AssetSelection.assets(asset),
            description=f"Checks and plans CSV files of {kind.plural}. {sends}",
        )
        for name, sends in ((plan_name, "Sends nothing."), (push_name, PUSHED))
        for kind, asset in assets.items()
    ]


@dg.op(out=dg.Out(dg.Nothing))
def put_together(context: dg.OpExecutionContext, operation: dg.ResourceParam[RunResource]) -> None:
    """Merge the files of a lake, without a request to the service. Rows stay the same, so no asset is materialised."""
    with operation.step(context) as run:
        done = run.maintain()
    if done is not None:
        context.add_output_metadata(done.counts)


@dg.job(name=MAINTAIN, executor_def=dg.in_process_executor)
def maintain() -> None:
    """Merge the files that loads have left in a lake, and delete the files that no reader needs any more."""
    put_together()


def schedules(settings: Settings, nightly_sync: AssetJob) -> Sequence[dg.ScheduleDefinition]:
    """Return the schedules: the nightly sync and, if the tables are in a lake, its maintenance.

    Of missed ticks Dagster makes up for the last one, which reads everything.
    """
    night = dg.ScheduleDefinition(
        name=NIGHTLY,
        job=nightly_sync,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        description="Reads what changed since the last sync and loads the tables.",
    )
    return (night, _maintenance(settings)) if settings.analytics == "ducklake" else (night,)


def _maintenance(settings: Settings) -> dg.ScheduleDefinition:
    """Return the schedule of a lake's maintenance: at the ticks of the nightly sync, after enough loads.

    A maintenance run waits for the writer's lock, so it may run before or after the sync of the same tick.
    """

    @dg.schedule(
        name="maintenance",
        job=maintain,
        cron_schedule=settings.schedule_cron,
        execution_timezone=settings.schedule_timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Merges the files of a lake after WMS_MAINTENANCE_NIGHTS loads.",
    )
    def maintenance(_: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        return (
            dg.RunRequest()
            if maintenance_is_due(settings)
            else dg.SkipReason("too few loads since the last maintenance")
        )

    return maintenance
