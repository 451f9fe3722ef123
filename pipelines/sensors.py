"""Sensors: load the tables after any run landed pages, watch coverage while nothing runs, mark dead runs."""

from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines import coverage, dead_runs, jobs
from pipelines.asset_keys import location_tags
from pipelines.shown_days import missing_days
from wms_sync.settings import Settings
from wms_sync.state.lock import lock_of
from wms_sync.state.store import StateStore

FOLLOW_SECONDS = 10
WATCH_SECONDS = 3600
DEAD_SECONDS = 60
FORGOTTEN_AFTER = timedelta(days=1)
"""A run that is in progress for longer, while no process holds the writer's lock, was killed."""

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def tables_follow_pages(settings: Settings, tables_only: jobs.AssetJob) -> dg.SensorDefinition:
    """Return a sensor that runs the tables' job if pages are landed and not loaded, and no other run is active.

    The run key is the newest landed window, so that a run that fails is not repeated for ever.
    """

    @dg.sensor(
        name="tables_follow_pages",
        job=tables_only,
        minimum_interval_seconds=FOLLOW_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Loads the tables if pages are landed and the run that landed them did not load them.",
    )
    def tables_follow_pages(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if reason := busy(context.instance, settings):
            return dg.SkipReason(reason)
        with StateStore(settings.database_url) as store:
            landed = store.windows("landed")
        if not landed:
            return dg.SkipReason("every landed page is in the tables")
        return dg.RunRequest(run_key=landed[-1].id)

    return tables_follow_pages


def coverage_is_watched(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that evaluates the coverage checks every hour: a sync that stopped running shows in them.

    It also shows the days that were read by runs without a history, or with another one.
    """

    @dg.sensor(
        name="coverage_is_watched",
        minimum_interval_seconds=WATCH_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates the checks of coverage every hour, and shows days that runs without a history read.",
    )
    def coverage_is_watched(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        with StateStore(settings.database_url) as store:
            found = coverage.results(settings, store)
            days = missing_days(settings, store, context.instance)
        return dg.SensorResult(asset_events=[*map(coverage.evaluation, found), *days])

    return coverage_is_watched


def dead_runs_are_marked(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that looks every minute for runs whose process is gone, of which Dagster knows nothing."""

    @dg.sensor(
        name="dead_runs_are_marked",
        minimum_interval_seconds=DEAD_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Marks runs as failed whose process was killed, where Dagster does not notice it.",
    )
    def dead_runs_are_marked(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        marked = dead_runs.mark_dead(context.instance, settings, parents_since=dead_runs.LOADED_AT)
        return dg.SkipReason(f"marked as failed: {', '.join(marked)}" if marked else "every run is alive")

    return dead_runs_are_marked


def busy(instance: dg.DagsterInstance, settings: Settings) -> str | None:
    """Return which run goes on or is queued, so that no other should begin now; None if there is none."""
    if (holder := lock_of(settings.database_url, settings.layout).holder()) is not None:
        return f"{holder} is writing"
    since = datetime.now(UTC) - FORGOTTEN_AFTER
    if instance.get_runs_count(dg.RunsFilter(statuses=UNFINISHED, created_after=since, tags=location_tags())):
        return "a run is queued or in progress"
    return None
