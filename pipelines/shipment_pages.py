"""The partitioned asset: raw pages of list shipments, as received.

A range of days is one run (`BackfillPolicy.single_run`). In mode `days` exactly the chosen days are read again; in mode
`sync` coverage decides what is read and the partitions only show it.
"""

from enum import Enum

import dagster as dg

from pipelines import coverage, metadata
from pipelines.days import daily
from pipelines.failures import explained
from pipelines.operation import Operation
from wms_sync.api.client import GlobalApi
from wms_sync.extract.read import Reading, ReadReport
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

KEY = dg.AssetKey("shipment_pages")


class Mode(Enum):
    """What a run of shipment_pages reads."""

    DAYS = "days"
    SYNC = "sync"


class ReadConfig(dg.Config):
    """`days` reads the chosen days again, whole; `sync` reads everything that is not covered yet."""

    mode: Mode = Mode.DAYS


def run_config(mode: Mode) -> dict[str, object]:
    """The run configuration that reads in this mode."""
    return {"ops": {KEY.path[-1]: {"config": {"mode": mode.name}}}}


def shipment_pages(settings: Settings) -> dg.AssetsDefinition:
    """The asset, with a partition for each day that can be read."""

    @dg.asset(
        key=KEY,
        partitions_def=daily(settings),
        backfill_policy=dg.BackfillPolicy.single_run(),
        check_specs=coverage.specs(KEY),
        group_name="raw",
        kinds={"json"},
        description=(
            "Pages of list shipments as the service sent them, under raw/shipments. A partition is a day of updated_at "
            "(UTC). Materialising days reads exactly these days again; the tables follow."
        ),
    )
    def shipment_pages(
        context: dg.AssetExecutionContext, config: ReadConfig, operation: dg.ResourceParam[Operation]
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster compares the class
        with explained(), operation.writing(_purpose(context, config), context.log) as store:
            report = _read(context, config, operation, store)
            checked = coverage.results(operation.settings, store, KEY)
        operation.read = report
        return dg.MaterializeResult(metadata=metadata.of_read(report), check_results=checked)

    return shipment_pages


def _read(context: dg.AssetExecutionContext, config: ReadConfig, operation: Operation, store: StateStore) -> ReadReport:
    with GlobalApi.from_settings(operation.settings, say=operation.say(context.log)) as api:
        reading = Reading(operation.settings, store, api, run_id=context.run_id, watcher=operation.watcher(context.log))
        if config.mode is Mode.SYNC:
            return reading.sync()
        days = context.partition_time_window
        return reading.backfill(days.start, days.end)


def _purpose(context: dg.AssetExecutionContext, config: ReadConfig) -> str:
    if config.mode is Mode.SYNC:
        return "sync"
    days = context.partition_time_window
    return f"backfill {days.start:%Y-%m-%d} to {days.end:%Y-%m-%d}"
