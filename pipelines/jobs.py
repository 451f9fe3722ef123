"""The jobs: sync_now, backfill (days), the tables alone, rebuild, maintain, and a push of each kind of master data.

The steps of a job run in one process, so that the modules they need are imported only once.
"""

from typing import Any

import dagster as dg

from pipelines import tables
from pipelines.operation import Operation
from pipelines.shipment_pages import sync
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.state.runs import LOADING, SYNC

SYNC_NOW, BACKFILL, TABLES, REBUILD, MAINTAIN = "sync_now", "backfill", "tables", "rebuild", "maintain"
ASSET_JOB = "__ASSET_JOB"
"""Dagster's name for the job of assets that were selected by hand, in any code location."""
PURPOSES = {SYNC_NOW: SYNC, TABLES: LOADING, ASSET_JOB: "materialising assets"}
"""What runs of these jobs are for, in their records; the other jobs are called so."""

AssetJob = Any  # Dagster does not export the type of what define_asset_job returns


@dg.job(
    name=SYNC_NOW,
    description="Reads everything that is not covered yet, then loads the tables: the night, now.",
    executor_def=dg.in_process_executor,
)
def sync_now() -> None:
    """Run a sync: each night, by hand, and as `wms-sync sync`. What it reads follows from coverage, so it has no days.

    It is an op: as assets, pages and tables would cost a planned event each.
    """
    sync()


def backfill(pages: dg.AssetsDefinition) -> AssetJob:
    """Return the job that reads days again, then loads the tables: for a range of days, and `wms-sync backfill`."""
    return dg.define_asset_job(
        BACKFILL,
        selection=dg.AssetSelection.assets(pages),
        description="Reads the chosen days again, whole, then loads the tables.",
        executor_def=dg.in_process_executor,
    )


def tables_only(analytics: dg.AssetsDefinition) -> AssetJob:
    """Return the job that loads what is landed, without a call to the service."""
    return dg.define_asset_job(
        TABLES,
        selection=dg.AssetSelection.assets(analytics),
        description="Loads every landed window that is not in the tables yet, and publishes.",
        executor_def=dg.in_process_executor,
    )


def push(kind: Kind, asset: dg.AssetsDefinition) -> AssetJob:
    """Return the job that plans files of a kind, and sends what is approved or switched on; also `wms-sync push`."""
    from pipelines.master_data import push_name  # the other jobs need nothing of master data

    return dg.define_asset_job(
        push_name(kind),
        selection=dg.AssetSelection.assets(asset),
        description=(
            f"Checks and plans CSV files of {kind.many}. Sends the plans that are approved in its configuration; with "
            "WMS_PUSH_ENABLED, without approval."
        ),
        executor_def=dg.in_process_executor,
    )


@dg.op(out=dg.Out(dg.Nothing), description="Makes every table again from raw pages, without a call to the service.")
def rebuild_tables(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Make the tables again, check and publish them; the tables' assets record it as their newest materialisation."""
    with operation.step(context, "rebuild") as run:
        run.rebuild()
    tables.show(context, run)


@dg.job(
    name=REBUILD,
    description="Makes every table again from the raw pages on disk: after an upgrade, or after a key was added.",
    executor_def=dg.in_process_executor,
)
def rebuild() -> None:
    """Run the rebuild. It is neither an asset nor a partition: it makes the same tables from the same pages."""
    rebuild_tables()


@dg.op(out=dg.Out(dg.Nothing), description="Puts the files of a lake together, without a call to the service.")
def put_together(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Maintain the tables. Their rows stay as they are, so nothing is materialised."""
    with operation.step(context, "maintain") as run:
        run.maintain()
    if run.maintained is not None:
        context.add_output_metadata(run.maintained.counts)


@dg.job(
    name=MAINTAIN,
    description="Puts the files that loads have left in a lake together, and deletes what no reader needs any more.",
    executor_def=dg.in_process_executor,
)
def maintain() -> None:
    """Run maintenance. A file needs none."""
    put_together()


def purpose_of(job_name: str) -> str:
    """Return what a run of a job is for, for a record that the run itself could not write."""
    return PURPOSES.get(job_name, job_name.replace("push_", "push ", 1))


WITHOUT_ASSETS = {job.name: job for job in (sync_now, rebuild, maintain)}
"""The jobs of ops alone, by name."""
