"""Dagster's history does not grow for ever: runs that ended longer ago than `WMS_HISTORY_DAYS` are deleted.

Dagster keeps every run, about 0.8 MB each, and what it deletes of a run (`DagsterInstance.delete_run`) leaves the run's
file behind and takes its materialisations along: days that were read long ago would be shown as missing, and a table
that did not change as never made. So the storage of `event_log` keeps the newest materialisation, observation and check
of each asset and day, with their metadata; what they say of their run is then that it is gone. In another storage
nothing is deleted.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from pipelines.event_log import FastSqliteEventLogStorage
from wms_sync.grammar import count_of
from wms_sync.settings import Settings

PRUNE_SECONDS = 3600
RUNS_AT_ONCE = 100
"""So that a sensor is not late, and a command of the command line has not to wait long, the first time."""
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]


def prune(instance: dg.DagsterInstance, days: int | None, now: datetime | None = None) -> int:
    """Delete runs that were started before so many days and have ended, the oldest first; return how many."""
    storage = instance.event_log_storage
    if days is None or not isinstance(storage, FastSqliteEventLogStorage):
        return 0
    before = (now or datetime.now(UTC)) - timedelta(days=days)
    due = instance.get_runs(dg.RunsFilter(statuses=ENDED, created_before=before), limit=RUNS_AT_ONCE, ascending=True)
    for run in due:
        shutil.rmtree(Path(instance.storage_directory()) / run.run_id, ignore_errors=True)  # what it printed
        storage.prune_run(run.run_id)
        instance.run_storage.delete_run(run.run_id)  # last: what is interrupted before is repeated
    return len(due)


def history_is_pruned(settings: Settings) -> dg.SensorDefinition:
    """Return a sensor that deletes old runs every hour."""

    @dg.sensor(
        name="history_is_pruned",
        minimum_interval_seconds=PRUNE_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Deletes runs older than WMS_HISTORY_DAYS; tables and days keep what was last made of them.",
    )
    def history_is_pruned(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        deleted = prune(context.instance, settings.history_days)
        return dg.SkipReason(f"deleted {count_of(deleted, 'old run')}" if deleted else "no run is old enough")

    return history_is_pruned
