"""The sensor of alerts: runs that could not say themselves that they failed."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from signal import SIGKILL, SIGSEGV
from typing import Any

import dagster as dg
import pytest

from wms_sync.settings import Settings
from wms_sync.state.run_records import KILLED, KILLED_KIND, RunRecord, RunRecords
from wms_sync_pipelines import definitions, jobs
from wms_sync_pipelines.dead_runs import NO_STEP, NOT_STARTED, settle

HERE = {"dagster/code_location": "wms-sync"}


@pytest.fixture
def records(settings: Settings) -> Iterator[RunRecords]:
    with RunRecords.opened(settings.database_url) as opened:
        yield opened


@pytest.fixture
def begun(settings: Settings, instance: dg.DagsterInstance):
    """A run of the tables that Dagster has started."""
    return partial(
        instance.create_run_for_job,
        definitions.build(settings).resolve_job_def(jobs.REBUILD_TABLES),
        status=dg.DagsterRunStatus.STARTED,
        tags=HERE,
    )


def test_a_run_without_a_record_alerts_once(receiver, make_settings, instance, records):
    settings = make_settings(alert_webhook_url=receiver.url)
    state = settings.layout.state
    kept = state.rename(state.with_suffix(".away"))
    state.mkdir()
    job = definitions.build(settings).resolve_job_def(jobs.NIGHTLY_SYNC)
    job.execute_in_process(instance=instance, raise_on_error=False, tags=HERE)
    state.rmdir()
    kept.rename(state)
    settle(instance, settings)
    assert (receiver.heard, records.newest(9)) == (["new:run-sync"], ())


CANNOT_LOAD = "The job could not be loaded."
ENDED_BY = "Run execution process for it was terminated by signal {:d}"
ENDS: dict[str, tuple[dict[str, Any], dict[str, str], Callable[..., object], list[tuple[object, ...]]]] = {
    # the record, the tags of the run, what Dagster sees, and purpose, outcome, kind and text of what is recorded then
    "before a step": (
        {},
        {},
        lambda instance, run: instance.report_run_failed(run, CANNOT_LOAD),
        [("rebuild", "failed", NOT_STARTED, NO_STEP)],
    ),
    "of another code location, which shares the history": (
        {},
        {"dagster/code_location": "south"},
        lambda instance, run: instance.report_run_failed(run, CANNOT_LOAD),
        [],
    ),
    "between its steps": (
        {"purpose": "sync", "outcome": "read"},
        {},
        lambda instance, run: instance.report_run_failed(run, CANNOT_LOAD),
        [("sync", "failed", NOT_STARTED, NO_STEP)],
    ),
    "by itself": (
        {"purpose": "rebuild by hand", "outcome": "failed", "error": "The disk is full.", "error_kind": "NoRoom"},
        {},
        lambda instance, run: instance.report_run_failed(run, CANNOT_LOAD),
        [("rebuild by hand", "failed", "NoRoom", "The disk is full.")],
    ),
    "by the kernel": (
        {"purpose": "rebuild"},
        {},
        lambda instance, run: instance.report_engine_event(ENDED_BY.format(SIGKILL), run),
        [("rebuild", "failed", KILLED_KIND, "signal 9 (SIGKILL). The kernel sends it when the machine or its")],
    ),
    "by a defect": (
        {"purpose": "rebuild"},
        {},
        lambda instance, run: instance.report_engine_event(ENDED_BY.format(SIGSEGV), run),
        [("rebuild", "failed", KILLED_KIND, "signal 11 (SIGSEGV). Landed pages are kept; the next run continues")],
    ),
    "by nobody knows whom": ({"purpose": "rebuild"}, {}, lambda *_: None, [("rebuild", "failed", KILLED_KIND, KILLED)]),
    "while it waited, canceled": (
        {"purpose": "sync", "source": "schedule", "outcome": "waiting", "due_at": datetime.now(UTC)},
        {},
        lambda instance, run: instance.report_run_canceled(run),
        [("sync", "interrupted", None, "canceled between two attempts")],
    ),
}


@pytest.mark.parametrize("name", [None, "north"])
@pytest.mark.parametrize(("record", "tags", "ends", "recorded"), ENDS.values(), ids=ENDS)
def test_how_a_run_ended_is_recorded_once(make_settings, instance, records, begun, record, tags, ends, recorded, name):
    """What the code server writes of a killed one is in `test_dagster_ui`."""
    run = begun(tags={"dagster/code_location": name or "wms-sync"} | tags)
    if record:
        records.save(RunRecord(**({"run_id": run.run_id, "source": "ui"} | record)))
    ends(instance, run)
    for _ in range(2):
        settle(instance, make_settings(instance=name))
    found = records.newest(9)
    assert [(one.purpose, one.outcome, one.error_kind, one.due_at) for one in found] == [
        (*end[:3], None) for end in recorded
    ]
    assert all(end[3] in (one.error or "") for one, end in zip(found, recorded, strict=True))


def test_a_run_before_the_state_store_is_ignored(settings, instance, begun, request):
    """Its record went with the store: whether it had one, and whether it was told, nobody knows."""
    instance.report_run_failed(begun(), CANNOT_LOAD)
    records = request.getfixturevalue("records")
    settle(instance, settings)
    assert records.newest(9) == ()


def test_a_run_of_a_dead_code_server_is_marked(settings, instance, records, begun):
    old, new = begun(), begun()
    for run in (old, new):
        records.save(RunRecord(run.run_id, "rebuild", "ui"))
    with records.engine.begin() as connection:
        connection.exec_driver_sql("update runs set started_at = ? where run_id = ?", ("2026-01-01", old.run_id))
    settle(instance, settings)
    assert {run.run_id: run.status for run in instance.get_runs()} == {
        old.run_id: dg.DagsterRunStatus.FAILURE,
        new.run_id: dg.DagsterRunStatus.STARTED,  # this code server launched it and sees how it ends
    }


@pytest.mark.parametrize("job", [jobs.BACKFILL_DAYS, "plan_retailers"])
def test_a_newer_success_of_the_job_ends_a_failure(settings, instance, records, begun, job):
    """A backfill records its days as its purpose, and a plan has no record: neither ended it."""
    defined = definitions.build(settings)
    began = partial(instance.create_run_for_job, defined.resolve_job_def(job), tags=HERE)
    instance.report_run_failed(began(status=dg.DagsterRunStatus.STARTED), CANNOT_LOAD)
    begun(status=dg.DagsterRunStatus.SUCCESS)

    def found() -> list[tuple[str, object]]:
        settle(instance, settings)
        return [(record.outcome, record.error_kind) for record in records.newest(9)]

    assert found() == [("failed", NOT_STARTED)], "a run of another job"
    began(status=dg.DagsterRunStatus.SUCCESS)
    assert found() == found() == [("succeeded", None)]
