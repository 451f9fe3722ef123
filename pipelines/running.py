"""Run Dagster's jobs in this process, so that its UI shows what the command line runs: quiet, interruptible, with the
library's errors.

The command line does so if there is a `DAGSTER_HOME`; else it calls the library itself (`directly`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError  # not exported by dagster

from pipelines import jobs
from pipelines.asset_keys import command_line_tags, name_instance
from pipelines.days import DayRange
from pipelines.dead_runs import mark_dead
from pipelines.history import prune
from pipelines.instance import naming_home, used_instance
from pipelines.operation import NO_VALUES, Operation
from pipelines.sources import COMMAND_LINE, SOURCE
from pipelines.stopping import sigterm_interrupts
from wms_sync.durable import keep_private
from wms_sync.errors import WmsSyncError
from wms_sync.runs.operation import NotPublished, RunReport
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecords

if TYPE_CHECKING:
    from wms_sync.extract.progress import Watcher
    from wms_sync.master_data.kinds.kind import Kind
    from wms_sync.master_data.push.file import PushReport
    from wms_sync.master_data.push.outcomes import Watcher as PushWatcher

SILENT: Mapping[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Errors are raised, and whoever started the run reports them once."""


def run_sync(
    settings: Settings,
    *,
    watcher: Watcher | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunReport:
    """Run the nightly job now: read everything that is not covered, and load the tables."""
    return run_job(Operation(settings, watcher=watcher), jobs.SYNC_NOW, instance=instance)


def run_backfill(
    settings: Settings,
    start: date,
    end: date,
    *,
    watcher: Watcher | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunReport:
    """Read the days of `[start, end)` again, and load the tables."""
    operation = Operation(settings, watcher=watcher)
    return run_job(operation, jobs.BACKFILL, days=DayRange.until(start, end), instance=instance)


def run_rebuild(settings: Settings, *, instance: dg.DagsterInstance | None = None) -> RunReport:
    """Make every table again from raw pages."""
    return run_job(Operation(settings), jobs.REBUILD, instance=instance)


def run_maintain(settings: Settings, *, instance: dg.DagsterInstance | None = None) -> RunReport:
    """Put the files of a lake together."""
    return run_job(Operation(settings), jobs.MAINTAIN, instance=instance)


def run_push(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool = False,
    watcher: PushWatcher | None = None,
    instance: dg.DagsterInstance | None = None,
) -> PushReport:
    """Push one file, whether or not `WMS_PUSH_ENABLED` is on. Once it sends, SIGINT and SIGTERM end it with a report.

    The report says what stopped a push: an error, a wrong header or an interrupt. Dagster's run is then marked failed.
    """
    from pipelines import master_data  # what else a command does needs none of it

    operation = Operation(settings.model_copy(update={"push_enabled": True}), push_watcher=watcher)
    config = master_data.run_config(kind, [master_data.GivenFile(path=str(path.absolute()))], resend=resend)
    try:
        run_job(operation, master_data.push_name(kind), config=config, instance=instance)
    except WmsSyncError:
        if not operation.handled:
            raise
    [report] = operation.handled
    return cast("PushReport", report)  # sending is switched on


def run_job(
    operation: Operation,
    job_name: str,
    *,
    days: DayRange | None = None,
    config: Mapping[str, Any] | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunReport:
    """Run a job in this process. On an error the run is marked as failed, and the library's error is raised.

    SIGINT and SIGTERM end it between two pages and raise `KeyboardInterrupt`.
    """
    job, resources = _job(operation, job_name)
    config = {**SILENT, **(config or {})}
    run_id = str(uuid4())
    tags = {SOURCE: COMMAND_LINE, **command_line_tags(), **(days.tags if days is not None else {})}
    with (
        _recorded_if_not_begun(operation.settings, run_id, job_name),
        naming_home(),
        used_instance(instance) as used,
        sigterm_interrupts(),
    ):
        try:
            result = job.execute_in_process(
                run_config=config, instance=used, run_id=run_id, tags=tags, resources=resources
            )
        except dg.Failure as failure:
            raise _cause(failure) from None
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        mark_dead(used, operation.settings)
        prune(used, operation.settings.history_days)
    return RunReport(result.run_id, operation.read, operation.refreshed, operation.maintained)


def _job(operation: Operation, name: str) -> tuple[dg.JobDefinition, dict[str, Any] | None]:
    """Return a job, and its resources unless it has them. Jobs without assets do not need the definitions of all."""
    if (job := jobs.WITHOUT_ASSETS.get(name)) is not None:
        keep_private()
        name_instance(operation.settings.instance)
        return job, {"operation": operation, **NO_VALUES}
    from pipelines.definitions import build

    return build(operation.settings, operation).resolve_job_def(name), None


def _cause(failure: dg.Failure) -> BaseException:
    if isinstance(failure.__cause__, WmsSyncError):
        return failure.__cause__
    return NotPublished(failure.description or "The run failed.")


@contextmanager
def _recorded_if_not_begun(settings: Settings, run_id: str, job_name: str) -> Iterator[None]:
    """Record a run that failed before its first step, such as for a home that cannot be used: nothing else would."""
    try:
        yield
    except WmsSyncError as error:
        with suppress(WmsSyncError), RunRecords(settings.database_url) as records:
            if records.of(run_id) is None:
                records.started(run_id, jobs.purpose_of(job_name), COMMAND_LINE)
                records.ended(run_id, "failed", error=str(error), error_kind=type(error).__name__)
        raise
