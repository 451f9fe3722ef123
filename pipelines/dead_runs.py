"""Find runs that ended without a record: mark them as failed in Dagster, and record the cause for alerts.

A run normally records its own end. The exceptions are runs that were killed, canceled between two attempts, or failed
outside of their steps. A run that Dagster launches is a child process of its code server, which logs how the process
ends. If the code server was killed too, nothing logs the end, and Dagster's default launcher has no health check.

Not every run has a record if it succeeds, such as a plan. So a failure recorded here ends when Dagster has a newer run
of the same job that succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from signal import Signals

import dagster as dg
from msgspec.structs import replace

from wms_sync.master_data.kinds import KINDS
from wms_sync.settings import Settings
from wms_sync.state.run_records import KEPT, KILLED, KILLED_KIND, LOADING, MAINTENANCE, SYNC, RunRecord, RunRecords

from . import asset_keys
from .jobs import LOAD_TABLES, MAINTAIN, NIGHTLY_SYNC, REBUILD_TABLES, push_name
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
    LOAD_TABLES: LOADING,
    REBUILD_TABLES: "rebuild",
    MAINTAIN: MAINTENANCE,
    **{push_name(kind): f"push {kind.slug}" for kind in KINDS},
}
"""The purposes of jobs whose every run has the same: a successful command of that purpose ends a failure, too."""
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
NO_STEP = "The run failed outside of its steps; its log in Dagster shows why."
SUCCEEDED_LATER = "This run failed; a newer run of the same job succeeded."


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
        tags = asset_keys.location_tags(settings)
        since = max(now - LATELY, records.kept_since())
        failed = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], created_after=since, tags=tags)
        for run in instance.get_runs(failed, limit=NEWEST):
            before = records.of(run.run_id)
            if UNRECORDED not in run.tags and (before is None or before.outcome == "read"):
                error = _end_of_process(instance, run.run_id) or NO_STEP
                by_hand = "materialising assets" if run.job_name.startswith("__") else run.job_name
                purpose, source = PURPOSES.get(run.job_name, by_hand), source_of(run.tags)
                record = before or RunRecord(run.run_id, purpose, source, now)
                records.save(replace(record, ended_at=now, outcome="failed", error=error, error_kind=NOT_STARTED))
        for record in records.newest(KEPT):
            known = instance.get_run_record_by_id(record.run_id) if record.error_kind == NOT_STARTED else None
            if known is not None and _has_newer_success(instance, known, tags):
                records.save(replace(record, outcome="succeeded", error=SUCCEEDED_LATER, error_kind=None))


def _has_newer_success(instance: dg.DagsterInstance, known: dg.RunRecord, tags: Mapping[str, str]) -> bool:
    job, succeeded = known.dagster_run.job_name, [dg.DagsterRunStatus.SUCCESS]
    newer = dg.RunsFilter(job_name=job, statuses=succeeded, created_after=known.create_timestamp, tags=tags)
    return bool(instance.get_runs(newer, limit=1))


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
