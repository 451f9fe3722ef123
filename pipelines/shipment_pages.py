"""The partitioned asset: raw pages of list shipments, as received. The same run then loads the tables from them.

A range of days is one run (`BackfillPolicy.single_run`), which reads exactly these days again. A sync reads what
coverage lacks, so it has no partitions: it is a job of the same steps, and shows the days that it read.

The asset is a graph of two ops, `read_pages` and `load_tables`. An op loads the tables and logs their materialisations;
the tables' assets are not selected into the run. The reason is speed: Dagster 1.13.27 stores a planned event for each
asset of a run and each day of its range, also for assets without partitions. With the 36 downstream assets and 1,000
days that took 136 to 238 s, against 11 to 16 s this way. It also means that every way to choose days starts one run:
for Dagster the tables of a backfill are made when their materialisations are logged. Where somebody selects the tables
too (`Materialize all`), their own step loads them, so that each is made once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import dagster as dg

from pipelines import tables
from pipelines.asset_keys import pages
from pipelines.coverage import showing_failed_sync
from pipelines.days import daily
from pipelines.operation import Operation
from pipelines.shown_days import facts_of_days, show_sync
from wms_sync.api.client import GlobalApi
from wms_sync.audit.compare import stored_shipments
from wms_sync.audit.slice import SliceReader
from wms_sync.extract.read import Reading
from wms_sync.extract.warnings import Warnings
from wms_sync.flatten.workers import Flattening
from wms_sync.intervals import Interval
from wms_sync.reports.days import days_of
from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.state.runs import SYNC


@dg.op(out=dg.Out(dg.Nothing), description="Reads the chosen days again, whole, into raw/shipments.")
def read_pages(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Read the days with one call of the library."""
    days = _days(context)
    purpose = f"backfill {days.start:%Y-%m-%d} to {days.end:%Y-%m-%d}"
    with operation.step(purpose, context, phase="read", is_last=False) as run:
        with _reading(context, operation, run) as (reading, _):
            operation.read = report = reading.backfill(days.start, days.end)
        operation.days = facts_of_days(run, report, days_of([Interval(days.start, days.end)]))


@dg.op(out=dg.Out(dg.Nothing), description="Reads everything that is not covered yet into raw/shipments.")
def read_new_pages(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Read what coverage lacks, and a slice of old shipments again."""
    with (
        showing_failed_sync(context, operation.settings),
        operation.step(SYNC, context, phase="read", is_last=False) as run,
    ):
        with _reading(context, operation, run) as (reading, audit):
            operation.read = report = reading.sync()
            audit.read(report.horizon)
        show_sync(context, run, report)


@dg.op(ins={"pages": dg.In(dg.Nothing)}, out=dg.Out(dg.Nothing), description=tables.LOADS)
def load_tables(
    context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]
) -> Iterator[dg.Output[None] | tables.TableEvent]:
    """Load the tables, unless their own step does so in this run.

    The days of the asset are materialised first, so that Dagster does not repeat the read if the load fails.
    """
    for day, facts in operation.days.items():
        context.get_step_execution_context().add_asset_metadata(facts, pages(), partition_key=day.isoformat())
    yield dg.Output(None)
    if context.job_def.has_node_named(tables.STEP):
        return
    with showing_failed_sync(context, operation.settings):
        refreshed = tables.refresh_tables(context, operation)
        yield from tables.table_events(refreshed, operation.report)


def shipment_pages(settings: Settings) -> dg.AssetsDefinition:
    """Return the asset, with a partition for each day that can be read."""

    @dg.graph_asset(
        name=pages().path[-1],
        key_prefix=pages().path[:-1],
        partitions_def=daily(settings),
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name="raw",
        kinds={"json"},
        owners=list(settings.owners),
        tags={"wms/layer": "raw"},
        description=(
            "Pages of list shipments as the service sent them, under raw/shipments. A partition is a day of updated_at "
            "(UTC). Materialising days reads exactly these days again, in one run that loads the tables too; the job "
            "sync_now reads what is not covered yet. Each day has its own records, pages and bytes; the newest day of "
            "a run also says what is true of the whole run."
        ),
    )
    def shipment_pages() -> Any:  # noqa: ANN401 - a node of the graph, not a value
        return load_tables(read_pages())

    return shipment_pages


@contextmanager
def _reading(context: dg.OpExecutionContext, operation: Operation, run: Run) -> Iterator[tuple[Reading, SliceReader]]:
    """Yield what reads; each window that lands is flattened meanwhile. At the end of the block all are flattened."""
    settings, warnings = run.settings, Warnings()
    with GlobalApi.from_settings(settings) as api, Flattening(settings, run.store) as ahead:
        stored = partial(stored_shipments, settings)
        yield (
            Reading(run, api, watcher=operation.watcher(context.log), landed=ahead.add, warnings=warnings),
            SliceReader(run, api, stored=stored, landed=ahead.add, warnings=warnings),
        )


def _days(context: dg.OpExecutionContext) -> dg.TimeWindow:
    """Return the chosen days. Raise `Failure` if there are none: Dagster also launches runs without partitions."""
    if not (context.has_partition_key or context.has_partition_key_range):
        raise dg.Failure(
            "This run has no days to read again: choose days (partitions). The job sync_now reads what is not covered.",
            allow_retries=False,
        )
    return context.partition_time_window
