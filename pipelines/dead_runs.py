"""Find runs that ended without a record: mark them as failed in Dagster, and record the cause for alerts.

A run normally records its own end. The exceptions are runs that were killed, canceled between two attempts, or failed
before their first step. A run that Dagster launches is a child process of its code server, which logs how the process
ends. If the code server was killed too, nothing logs the end, and Dagster's default launcher has no health check.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from signal import Signals

import dagster as dg
from msgspec.structs import replace

from wms_sync.settings import Settings
from wms_sync.state.run_records import KILLED, KILLED_KIND, LOADING, MAINTENANCE, SYNC, RunRecord, RunRecords

from . import asset_keys
from .jobs import BACKFILL_DAYS, LOAD_TABLES, MAINTAIN, NIGHTLY_SYNC, REBUILD_TABLES
from .operation import UNRECORDED, source_of

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
LOADED_AT = datetime.now(UTC)
"""The start of this code server. A run that began earlier has no parent process that could notice its end."""
PURPOSES = {
    NIGHTLY_SYNC: SYNC,
    BACKFILL_DAYS: "backfill",
    LOAD_TABLES: LOADING,
    REBUILD_TABLES: "rebuild",
    MAINTAIN: MAINTENANCE,
}
NEWEST = 20
LATELY = timedelta(days=1)
END = re.compile(r"was terminated by signal (?P<signal>\d+)|unexpectedly exited with code (?P<code>\d+)")
CANCELED = "The run was canceled between two attempts; the next run continues where it stopped."
GOES_ON = "Landed pages are kept; the next run continues where it stopped."
OUT_OF_MEMORY = (
    "The kernel sends it when the machine or its container has no memory left: `journalctl -k` names the process. If "
    "nobody killed the run by hand, give it more memory, or lower WMS_MEMORY_LIMIT, WMS_PAGE_SIZE or "
    "WMS_MAX_PARALLEL_REQUESTS."
)
NOT_STARTED = "NotStarted"
NO_STEP = "The run failed before it read, loaded or sent anything; its log in Dagster shows why."


def settle(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Record the end of runs that could not record it themselves, and mark them as failed in Dagster.

    If the state store was lost, ignore runs that are older than the new state store.
    """
    now = datetime.now(UTC)
    with RunRecords.opened(settings.database_url) as records:
        records.mark_killed(settings.layout)
        for record in records.newest(NEWEST):
            run = instance.get_run_by_id(record.run_id)
            if run is not None and record.outcome == "waiting" and run.status == dg.DagsterRunStatus.CANCELED:
                canceled = replace(record, outcome="interrupted", error=CANCELED, error_kind=None)
                records.save(replace(canceled, ended_at=now, due_at=None))
            if run is None or record.error_kind != KILLED_KIND:
                continue
            if run.status in UNFINISHED and record.started_at < LOADED_AT:
                instance.report_run_failed(run, KILLED)
            if record.error == KILLED and (cause := _end_of_process(instance, record.run_id)) is not None:
                records.save(replace(record, error=cause))
                instance.report_engine_event(cause, run)
        failed = dg.RunsFilter(
            statuses=[dg.DagsterRunStatus.FAILURE],
            created_after=max(now - LATELY, records.kept_since()),
            tags=asset_keys.location_tags(settings),
        )
        for run in instance.get_runs(failed, limit=NEWEST):
            if records.of(run.run_id) is None and UNRECORDED not in run.tags:
                cause = _end_of_process(instance, run.run_id)
                error, kind = (NO_STEP, NOT_STARTED) if cause is None else (cause, KILLED_KIND)
                purpose, source = _purpose_of(run.job_name), source_of(run.tags)
                records.save(RunRecord(run.run_id, purpose, source, now, now, "failed", error, kind))


def _purpose_of(job: str) -> str:
    """Return the purpose that a run of this job records, so that the next successful run ends the alert."""
    if job.startswith(("plan_", "push_")):  # a plan has no record of its own
        return f"push {job[5:]}"
    return PURPOSES.get(job, "materialising assets")


def _end_of_process(instance: dg.DagsterInstance, run_id: str) -> str | None:
    """Return how the process of a run ended, as the code server logged it; None if the run's log does not say."""
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        found = END.search(entry.message)
        if found is not None and found["code"]:
            return f"The process of this run ended by itself with exit code {found['code']}. {GOES_ON}"
        if found is not None:
            signal = Signals(int(found["signal"]))
            memory = f" {OUT_OF_MEMORY}" if signal == Signals.SIGKILL else ""
            return f"The process of this run was ended by signal {signal:d} ({signal.name}).{memory} {GOES_ON}"
    return None
