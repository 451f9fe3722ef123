"""The partitioned asset: raw pages of list shipments, as received. The same run then loads the tables from them.

A range of days is one run (`BackfillPolicy.single_run`), which reads exactly these days again. A sync reads what
coverage lacks, so it has no partitions: it is a job of its own, and shows the days that it read.

The asset is a graph of one op, which calls the library once, for the read and the load. It logs the materialisations of
the tables; their assets are not selected into the run. The reason is speed: Dagster 1.13.27 stores a planned event for
each asset of a run and each day of its range, also for assets without partitions. With the 36 downstream assets and
1,000 days that took 136 to 238 s, against 11 to 16 s this way. It also means that every way to choose days starts one
run: for Dagster the tables of a backfill are made when their materialisations are logged. Where somebody selects the
tables too (`Materialize all`), their own step loads them, so that each is made once.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

import dagster as dg

from pipelines import coverage, tables
from pipelines.asset_keys import pages
from pipelines.days import daily
from pipelines.metadata import Metadata
from pipelines.operation import Operation
from pipelines.shown_days import facts_of_days, show_sync
from wms_sync.extract.read import ReadReport
from wms_sync.intervals import Interval
from wms_sync.reports.days import days_of
from wms_sync.settings import Settings
from wms_sync.state.run import Run


@dg.op(out=dg.Out(dg.Nothing), description="Reads the chosen days again, whole, and loads the tables.")
def read_days(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> Iterator[dg.Output[None]]:
    """Read the days with one call of the library, which also loads, unless the tables' own step does so in this run.

    The days of the asset are materialised once they are read, so that Dagster does not repeat the read if the load
    fails.
    """
    days, loads = _days(context, operation.settings), not context.job_def.has_node_named(tables.STEP)
    shown: dict[date, Metadata] = {}
    failure: Exception | None = None

    def show(run: Run, report: ReadReport) -> None:
        shown.update(facts_of_days(run, report, days_of([days])))

    try:
        with operation.step(context, "backfill") as run:
            run.backfill(days, show, loads=loads)
    except Exception as error:
        if not shown:
            raise
        failure = error
    for day, facts in shown.items():
        context.get_step_execution_context().add_asset_metadata(facts, pages(), partition_key=day.isoformat())
    yield dg.Output(None)
    if failure is not None:
        raise failure
    tables.show(context, run)


@dg.op(out=dg.Out(dg.Nothing), description="Reads what is not covered yet, loads the tables, and checks coverage.")
def sync(context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]) -> None:
    """Read what coverage lacks and a slice of old shipments again, and load, with one call of the library."""
    with coverage.showing_failed_sync(context, operation.settings):
        with operation.step(context, "sync") as run:
            run.sync(lambda run, report: show_sync(context, run, report))
        tables.show(context, run, coverage.evaluations(operation.settings))


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
        return read_days()

    return shipment_pages


def _days(context: dg.OpExecutionContext, settings: Settings) -> Interval:
    """Return the chosen days. Raise `Failure` if they are none that can be read: Dagster launches such runs too."""
    if not (context.has_partition_key or context.has_partition_key_range):
        raise _nothing_to_read("This run has no days to read again: choose days (partitions).")
    start, end = context.partition_time_window
    if end <= start:
        raise _nothing_to_read("The days of this run end before they begin: choose others.")
    if start < settings.start:  # a run of old that is executed again, after WMS_START_DATE was set later
        raise _nothing_to_read(
            f"{start:%Y-%m-%d} is before WMS_START_DATE ({settings.start_date}): choose later days, or set that "
            "earlier and reload definitions."
        )
    return Interval(start, end)


def _nothing_to_read(why: str) -> dg.Failure:
    return dg.Failure(f"{why} Nothing was read. The job sync_now reads what is not covered.", allow_retries=False)
