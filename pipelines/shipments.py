"""The source assets: raw pages of list shipments, as the service sent them.

`changed_shipments` reads the changes since the sync cursor. It has no partitions, because coverage decides what to
read. `shipment_days` reads days again: a partition is a day of the service's `updated_at` (UTC), today included, and a
range of days is one run (`BackfillPolicy.single_run`). `days_shown` reports every covered day as materialised, with the
day's own numbers, whichever run read it: a window covers several days, and its Parquet files have the day of each
record.

Dagster 1.13 stores a planned event for each asset of a run and each day of its range. So a backfill selects only the
asset of days, and the sensor `tables_follow` then loads the tables.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

import dagster as dg
import duckdb

from wms_sync import sql_files
from wms_sync.intervals import Interval, interval
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.read.plan import gaps_so_far
from wms_sync.state.store import COMPLETE_STATES, StateStore

from . import asset_keys, metadata
from .operation import RunResource

logger = logging.getLogger("wms_sync.days")


def changed_shipments(settings: Settings) -> dg.AssetsDefinition:
    """Return the asset that reads the time that is not covered yet."""

    @dg.asset(
        key=asset_keys.changes(settings),
        group_name=asset_keys.RAW,
        kinds={"json"},
        owners=list(settings.owners),
        tags={"wms/layer": asset_keys.RAW},
        description=(
            "Pages of list shipments: everything that changed since the last sync, and some old shipments for the "
            "audit. Materialising this asset reads the time that is not covered; it also succeeds without changes. The "
            "tables are loaded afterwards."
        ),
    )
    def changed_shipments(
        context: dg.AssetExecutionContext, operation: dg.ResourceParam[RunResource]
    ) -> dg.MaterializeResult[None]:
        with operation.step(context) as run:
            report = run.read_changes()
        with StateStore.opened(settings.database_url) as store:
            for day in days_shown(settings, store, days_of(report.intervals)):
                context.log_event(day)
        return dg.MaterializeResult(metadata=metadata.of_read(report))

    return changed_shipments


def shipment_days(settings: Settings) -> dg.AssetsDefinition:
    """Return the asset with a partition for each readable day."""

    @dg.asset(
        key=asset_keys.days(settings),
        partitions_def=daily(settings),
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name=asset_keys.RAW,
        kinds={"json"},
        owners=list(settings.owners),
        tags={"wms/layer": asset_keys.RAW},
        description=(
            "Pages of list shipments by day of updated_at (UTC). Materialising days reads exactly these days again, "
            "in one run; the tables are loaded afterwards. Days that a sync covered are shown too, each with its "
            "records, pages and bytes."
        ),
    )
    def shipment_days(
        context: dg.AssetExecutionContext, operation: dg.ResourceParam[RunResource]
    ) -> dg.MaterializeResult[None]:
        days = _chosen(context, settings)
        with operation.step(context) as run:
            report = run.read_days(days)
        if unread := days_of([days]) - days_of(report.intervals):
            raise dg.Failure(
                f"The service's clock has not passed the beginning of {min(unread)} (UTC), so this day and later ones "
                "were not read: choose earlier days, or correct the clock if it is wrong (`wms-sync doctor`).",
                allow_retries=False,
            )
        with StateStore.opened(settings.database_url) as store:
            for day in days_shown(settings, store, days_of([days])):
                context.add_asset_metadata(day.metadata, context.asset_key, partition_key=day.partition)
        return dg.MaterializeResult(metadata={"records_of_run": report.progress.records, "requests": report.requests})

    return shipment_days


def daily(settings: Settings) -> dg.DailyPartitionsDefinition:
    """Return daily partitions from the start date up to and including today, which is read up to the horizon."""
    return dg.DailyPartitionsDefinition(start_date=settings.start_date.isoformat(), end_offset=1)


def days_of(intervals: Iterable[Interval]) -> set[date]:
    """Return the days that the intervals touch."""
    ends = ((part.start.date(), (part.end - timedelta(microseconds=1)).date()) for part in intervals)
    return {first + timedelta(days=number) for first, last in ends for number in range((last - first).days + 1)}


def days_shown(settings: Settings, store: StateStore, days: Iterable[date]) -> Iterator[dg.AssetMaterialization]:
    """Yield a materialisation of each of these days, with the numbers of all windows of the day, whoever read them."""
    layout, files = settings.layout, list[str]()
    windows: dict[date, list[str]] = {day: [] for day in sorted(days)}
    for window in store.windows(*COMPLETE_STATES):
        shared = windows.keys() & days_of([window.interval]) if window.covers_time else ()
        for day in shared:
            windows[day].append(window.id)
        if shared and is_flattened(layout, window.id):
            files += flattened_window(layout, window.id).files(layout, "shipments")
    counts = _records(settings, files)
    for day, ids in windows.items():
        facts = metadata.of_day(ids, None if counts is None else counts.get(day, 0))
        yield dg.AssetMaterialization(asset_keys.days(settings), partition=day.isoformat(), metadata=facts)


def _records(settings: Settings, files: Sequence[str]) -> Mapping[date, int] | None:
    """Count the shipments in Parquet files by the day (UTC) of their `updated_at`; None if a file cannot be read."""
    try:
        with duckdb.connect(config={"memory_limit": settings.memory_limit}) as connection:
            query = sql_files.read("queries/read_of_days.sql")
            return dict(connection.execute(query, {"files": files}).fetchall()) if files else {}
    except (duckdb.Error, OSError) as error:
        logger.warning("The records read of each day cannot be counted: %(error)s", {"error": error})
        return None


def days_missing(
    settings: Settings, store: StateStore, instance: dg.DagsterInstance
) -> Sequence[dg.AssetMaterialization]:
    """Return materialisations of the days without a gap in coverage that Dagster's catalogue lacks or shows as failed.

    The last day may be covered only up to the newest moment read.
    """
    newest, gaps = gaps_so_far(settings.start, store.covered())
    days = days_of(interval(settings.start, newest)) - days_of(gaps)
    covered = {day.isoformat(): day for day in days}
    known = instance.get_status_by_partition(asset_keys.days(settings), list(covered), daily(settings)) or {}
    lacking = (day for name, day in covered.items() if known.get(name) in {None, dg.AssetPartitionStatus.FAILED})
    return list(days_shown(settings, store, lacking))


def _chosen(context: dg.AssetExecutionContext, settings: Settings) -> Interval:
    """Return the days chosen for a run. Raise `Failure` if they cannot be read: Dagster launches such runs, too."""
    if not (context.has_partition_key or context.has_partition_key_range):
        raise _nothing_to_read("This run has no days to read again: choose days (partitions).")
    start, end = context.partition_time_window
    if end <= start:
        raise _nothing_to_read("The last day of this run is before its first day: choose other days.")
    if start < settings.start:  # an old run that is executed again after WMS_START_DATE was set to a later day
        raise _nothing_to_read(
            f"{start:%Y-%m-%d} is before WMS_START_DATE ({settings.start_date}): choose later days, or set "
            "WMS_START_DATE to an earlier day, since which the next sync reads everything, and reload the definitions."
        )
    return Interval(start, end)


def _nothing_to_read(why: str) -> dg.Failure:
    return dg.Failure(f"{why} Nothing was read. The job nightly_sync reads uncovered time.", allow_retries=False)
