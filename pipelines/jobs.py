"""The jobs: everything, the tables alone, the rebuild, and a push of each kind of master data.

Both steps of `shipments` run in one process: what they need is imported once.
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from pipelines import tables
from pipelines.failures import explained
from pipelines.master_data import push_name
from pipelines.operation import Operation
from wms_sync.load.refresh import rebuild as rebuild_report
from wms_sync.master_data.kinds.kind import Kind

SHIPMENTS, TABLES, REBUILD = "shipments", "tables", "rebuild"

AssetJob = Any  # Dagster does not export the type of what define_asset_job returns


def shipments(pages: dg.AssetsDefinition) -> AssetJob:
    """Read pages, then load the tables: one run for a range of days, the nightly job, `wms-sync sync`."""
    return dg.define_asset_job(
        SHIPMENTS,
        selection=dg.AssetSelection.assets(pages),
        description="Reads the chosen days (or, in mode sync, what is not covered) and loads the tables.",
        executor_def=dg.in_process_executor,
    )


def tables_only(analytics: dg.AssetsDefinition) -> AssetJob:
    """Load what is landed, without a call to the service."""
    return dg.define_asset_job(
        TABLES,
        selection=dg.AssetSelection.assets(analytics),
        description="Loads every landed window that is not in the tables yet, and publishes.",
        executor_def=dg.in_process_executor,
    )


def push(kind: Kind, asset: dg.AssetsDefinition) -> AssetJob:
    """Plan files of a kind, and push them where that is switched on; `wms-sync push`."""
    return dg.define_asset_job(
        push_name(kind),
        selection=dg.AssetSelection.assets(asset),
        description=f"Checks and plans CSV files of {kind.many}; with WMS_PUSH_ENABLED creates what is missing.",
        executor_def=dg.in_process_executor,
    )


@dg.op(out=dg.Out(dg.Nothing), description="Every table again from raw pages, without one call to the service.")
def rebuild_tables(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> Iterator[tables.Logged]:
    """Make the tables again, check, publish; the tables' assets show it as their newest materialisation."""
    with explained(), operation.writing("rebuild", context.log, context.run_id) as store:
        report = rebuild_report(operation.settings, store, run_id=context.run_id, say=operation.say(context.log))
    operation.refreshed = report
    yield from tables.logged(report)


@dg.job(
    name=REBUILD,
    description="Makes every table again from the raw pages on disk: after a new version, or when types learned a key.",
    executor_def=dg.in_process_executor,
)
def rebuild() -> None:
    """The rebuild is no partition and no asset of its own: it makes the same tables from the same pages."""
    rebuild_tables()
