"""The partitioned asset: raw pages of list shipments, as received. The same run then loads the tables from them.

A range of days is one run (`BackfillPolicy.single_run`). In mode `days` exactly the chosen days are read again; in mode
`sync` coverage decides what is read, and the partitions only show it.

The asset is a graph of two ops, `read_pages` and `load_tables`. An op loads the tables and logs their materialisations;
the tables' assets are not selected into the run. The reason is speed: Dagster 1.13.27 stores a planned event for each
asset of a run and each day of its range, also for assets without partitions. With the 36 downstream assets and 1,000
days that took 136 to 238 s, against 11 to 16 s this way. It also means that every way to choose days starts one run:
for Dagster the tables of a backfill are made when their materialisations are logged.
"""

from collections.abc import Iterator
from enum import Enum
from functools import partial
from typing import Any

import dagster as dg

from pipelines import metadata, tables
from pipelines.days import PAGES, daily
from pipelines.operation import Operation
from wms_sync.api.client import GlobalApi
from wms_sync.audit.compare import stored_shipments
from wms_sync.audit.slice import SliceReader
from wms_sync.extract.read import Reading, ReadReport
from wms_sync.extract.warnings import Warnings
from wms_sync.flatten.workers import Flattening
from wms_sync.settings import Settings
from wms_sync.state.run import Run

NAME = PAGES.path[-1]


class Mode(Enum):
    """What a run of shipment_pages reads."""

    DAYS = "days"
    SYNC = "sync"


class ReadConfig(dg.Config):
    """`DAYS` reads the chosen days again, whole; `SYNC` reads everything that is not covered yet."""

    mode: Mode = Mode.DAYS


def run_config(mode: Mode) -> dict[str, object]:
    """Return the run configuration for a read in this mode."""
    return {"ops": {NAME: {"config": {"mode": mode.name}}}}


@dg.op(out=dg.Out(dg.Nothing), description="Reads pages of list shipments into raw/shipments.")
def read_pages(context: dg.OpExecutionContext, config: ReadConfig, operation: dg.ResourceParam[Operation]) -> None:
    """Read pages with one call of the library; its report becomes the metadata of each day."""
    with operation.step(_purpose(context, config), context, phase="read", is_last=False) as run:
        operation.read = _read(context, config, operation, run)


@dg.op(ins={"pages": dg.In(dg.Nothing)}, out=dg.Out(dg.Nothing), description=tables.LOADS)
def load_tables(
    context: dg.OpExecutionContext, operation: dg.ResourceParam[Operation]
) -> Iterator[dg.Output[None] | tables.TableEvent]:
    """Load the tables. The days are materialised first, so that Dagster does not repeat the read if the load fails."""
    yield dg.Output(None, metadata={} if operation.read is None else dict(metadata.of_read(operation.read)))
    refreshed = tables.refresh_tables(context, operation)
    yield from tables.table_events(refreshed, operation.report)


@dg.config_mapping
def _config_of_the_asset(config: ReadConfig) -> dict[str, object]:
    return {"read_pages": {"config": {"mode": config.mode.name}}}


def shipment_pages(settings: Settings) -> dg.AssetsDefinition:
    """Return the asset, with a partition for each day that can be read."""

    @dg.graph_asset(
        name=NAME,
        config=_config_of_the_asset,
        partitions_def=daily(settings),
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name="raw",
        kinds={"json"},
        description=(
            "Pages of list shipments as the service sent them, under raw/shipments. A partition is a day of updated_at "
            "(UTC). Materialising days reads exactly these days again, in one run that loads the tables too."
        ),
    )
    def shipment_pages() -> Any:  # noqa: ANN401 - a node of the graph, not a value
        return load_tables(read_pages())

    return shipment_pages


def _read(context: dg.OpExecutionContext, config: ReadConfig, operation: Operation, run: Run) -> ReadReport:
    settings, warnings = run.settings, Warnings()
    with (
        GlobalApi.from_settings(settings) as api,
        Flattening(settings, run.store) as ahead,
    ):
        reading = Reading(
            run,
            api,
            watcher=operation.watcher(context.log),
            landed=ahead.add,
            warnings=warnings,
        )
        if config.mode is Mode.SYNC:
            report = reading.sync()
            SliceReader(
                run,
                api,
                stored=partial(stored_shipments, settings),
                landed=ahead.add,
                warnings=warnings,
            ).read(report.horizon)
            return report
        days = _days(context)
        return reading.backfill(days.start, days.end)


def _purpose(context: dg.OpExecutionContext, config: ReadConfig) -> str:
    if config.mode is Mode.SYNC:
        return "sync"
    days = _days(context)
    return f"backfill {days.start:%Y-%m-%d} to {days.end:%Y-%m-%d}"


def _days(context: dg.OpExecutionContext) -> dg.TimeWindow:
    """Return the chosen days. Raise `Failure` if there are none: Dagster also launches runs without partitions."""
    if not (context.has_partition_key or context.has_partition_key_range):
        raise dg.Failure(
            "This run has no days to read again: choose days (partitions), or the mode SYNC for what is not covered.",
            allow_retries=False,
        )
    return context.partition_time_window
