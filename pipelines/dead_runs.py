"""Find runs whose process was killed: mark them as failed in Dagster's history, and record what ended them.

A run that does not hold its lock, though its record is not closed, was killed. The runs that Dagster launches are
children of its code server, which sees how they end and says so in their log; if it was killed too, nobody does. Nor
does anybody see how a run of the command line ends, which lives in the process of the command.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from signal import SIGKILL, Signals

import dagster as dg

from pipelines.sources import COMMAND_LINE
from wms_sync.settings import Settings
from wms_sync.state.runs import KILLED, KILLED_KIND, RunRecords

UNFINISHED = {dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING}
LOADED_AT = datetime.now(UTC)
"""A run that began before this code server did has no parent that could notice its end."""
NEWEST = 20
SIGNAL = re.compile(r"was terminated by signal (\d+)")
EXIT_CODE = re.compile(r"unexpectedly exited with code (\d+)")
GOES_ON = "What it had landed is kept; the next run continues from there."
OUT_OF_MEMORY = (
    "The kernel sends it when the machine or its container has no memory left: `journalctl -k` names what it ended. If "
    "nobody killed the run by hand, give it more memory, or lower WMS_MEMORY_LIMIT, WMS_PAGE_SIZE or "
    "WMS_MAX_PARALLEL_REQUESTS."
)


def mark_dead(instance: dg.DagsterInstance, settings: Settings, *, parents_since: datetime | None = None) -> list[str]:
    """Mark killed runs as failed whose end Dagster does not see; return their ids.

    These are runs of the command line, and those that Dagster launched before `parents_since`, when the code server
    began that would see it. The pod of a run is looked after by Dagster's run monitoring. A run that is not in this
    history belongs to another `DAGSTER_HOME`, and is marked when a run uses that home.
    """
    with RunRecords(settings.database_url) as records:
        records.mark_killed(settings.layout)
        killed = [one for one in records.newest(NEWEST) if one.error_kind == KILLED_KIND]
    marked = []
    for record in killed:
        is_alone = record.source == COMMAND_LINE or (parents_since is not None and record.started_at < parents_since)
        run = instance.get_run_by_id(record.run_id) if is_alone else None
        if run is not None and run.status in UNFINISHED:
            instance.report_run_failed(run, KILLED)
            marked.append(run.run_id)
    return marked


def explain_killed(instance: dg.DagsterInstance, settings: Settings) -> None:
    """Record the runs whose process is gone as failed, with the cause that Dagster saw, if it saw one.

    The cause is also in the log of the run, where Dagster has only a sentence of its own.
    """
    with RunRecords(settings.database_url) as records:
        records.mark_killed(settings.layout)
        for one in records.newest(NEWEST):
            if one.error == KILLED and (failure := failure_of(instance, one.run_id)) is not None:
                cause, kind = failure
                records.explain(one.run_id, cause, kind)
                if kind == KILLED_KIND:
                    instance.report_engine_event(cause, instance.get_run_by_id(one.run_id))


def failure_of(instance: dg.DagsterInstance, run_id: str) -> tuple[str, str] | None:
    """Return why a run failed and the kind of the error, from its log: how its process ended, or the step's error.

    Of errors that are not known only the name of their class is told. None if the log does not say.
    """
    if instance.get_run_by_id(run_id) is None:
        return None
    if (cause := _end_of_process(instance, run_id)) is not None:
        return cause, KILLED_KIND
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE):
        failure = entry.get_dagster_event().step_failure_data
        error = None if failure.error is None else failure.error.cause or failure.error
        kind = "an error" if error is None or error.cls_name is None else error.cls_name
        known = failure.user_failure_data
        text = known.description if known is not None else None
        return text or f"{kind}; the run's log has the details.", kind
    return None


def _end_of_process(instance: dg.DagsterInstance, run_id: str) -> str | None:
    """Return how the process of a run ended, from what the code server wrote into its log; None if it wrote nothing."""
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        text = entry.dagster_event.message if entry.dagster_event is not None else None
        if (found := SIGNAL.search(text or "")) is not None:
            return _ended_by(int(found[1]))
        if (found := EXIT_CODE.search(text or "")) is not None:
            return f"The process of this run ended by itself with exit code {found[1]}. {GOES_ON}"
    return None


def _ended_by(number: int) -> str:
    name = Signals(number).name
    memory = f" {OUT_OF_MEMORY}" if number == SIGKILL else ""
    return f"The process of this run was ended by signal {number} ({name}).{memory} {GOES_ON}"
