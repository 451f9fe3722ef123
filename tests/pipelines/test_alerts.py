"""The sensor of alerts: failed runs, and runs that could not say so themselves."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from signal import SIGKILL, SIGSEGV

import dagster as dg
import pytest
from msgspec.structs import replace

from wms_sync.settings import Settings
from wms_sync.state.runs import KILLED, KILLED_KIND, RunRecord, RunRecords
from wms_sync_pipelines import definitions, jobs
from wms_sync_pipelines.dead_runs import NO_STEP, NOT_STARTED, settle


@pytest.fixture
def records(settings: Settings) -> Iterator[RunRecords]:
    with RunRecords.opened(settings.database_url) as opened:
        yield opened


@pytest.fixture
def begun(settings: Settings, instance: dg.DagsterInstance):
    """A run of the tables that Dagster has started."""
    job = definitions.build(settings).resolve_job_def(jobs.REBUILD_TABLES)
    return partial(instance.create_run_for_job, job, status=dg.DagsterRunStatus.STARTED)


def test_a_wrong_token_is_reported_once(receiver, make_settings, instance):
    settings = make_settings(alert_webhook_url=receiver.url, api_token="wrong-token")
    built = definitions.build(settings)
    run = built.resolve_job_def(jobs.NIGHTLY_SYNC).execute_in_process(instance=instance, raise_on_error=False)
    history = "\n".join(str(entry) for entry in instance.all_logs(run.run_id))
    assert "WMS_API_TOKEN" in history
    assert "sync failed: read 0." in history
    for _ in range(2):
        built.resolve_sensor_def("alerts").evaluate_tick(dg.build_sensor_context(instance=instance))
    [told] = receiver.taken
    assert (told["status"], told["finding"], told["run_id"]) == ("new", "run-sync", run.run_id)
    assert "refused the token" in told["text"]
    assert "wrong-token" not in json.dumps(told) + history


def test_runs_that_failed_before_a_step_are_recorded(settings, instance, records, begun):
    of_itself, of_nobody = begun(), begun()
    failed = RunRecord(of_itself.run_id, "rebuild by hand", "ui", outcome="failed", error="The disk is full.")
    records.save(replace(failed, error_kind="NotEnoughRoom"))
    for run in (of_itself, of_nobody):
        instance.report_run_failed(run, "The job could not be loaded.")
    for _ in range(2):
        settle(instance, settings)
    assert [(run.purpose, run.error_kind, run.error) for run in records.newest(9)] == [
        ("rebuild", NOT_STARTED, NO_STEP),
        ("rebuild by hand", "NotEnoughRoom", "The disk is full."),
    ]


def test_a_run_before_the_state_store_is_ignored(settings, instance, begun):
    """Its record went with the store: whether it had one, and whether it was told, nobody knows."""
    instance.report_run_failed(begun(), "The job could not be loaded.")
    with RunRecords.opened(settings.database_url) as records:
        settle(instance, settings)
        assert records.newest(9) == ()


def test_a_run_without_a_record_alerts_once(receiver, make_settings, instance):
    settings = make_settings(alert_webhook_url=receiver.url)
    with RunRecords.opened(settings.database_url):
        state = settings.layout.state
    kept = state.rename(state.with_suffix(".away"))
    state.mkdir()
    job = definitions.build(settings).resolve_job_def(jobs.NIGHTLY_SYNC)
    job.execute_in_process(instance=instance, raise_on_error=False)
    state.rmdir()
    kept.rename(state)
    settle(instance, settings)
    assert receiver.heard == ["new:run-sync"]
    with RunRecords.opened(settings.database_url) as records:
        assert records.newest(9) == ()


def test_a_run_of_another_instance_is_not_recorded(make_settings, instance, begun):
    """Several code locations share one history."""
    ours = make_settings(instance="north")
    with RunRecords.opened(ours.database_url) as records:
        instance.report_run_failed(begun(tags={"dagster/code_location": "south"}), "The job could not be loaded.")
        settle(instance, ours)
        assert records.newest(9) == ()


@pytest.mark.parametrize(
    ("exit_code", "cause"),
    [
        (SIGKILL, "was ended by signal 9 (SIGKILL). The kernel sends it when the machine or its container has no"),
        (
            SIGSEGV,
            "was ended by signal 11 (SIGSEGV). Landed pages are kept; the next run continues where it stopped.",
        ),
        (None, KILLED),
    ],
)
def test_a_killed_run_is_recorded_with_its_cause(settings, instance, records, begun, exit_code, cause):
    """What the code server writes of a real one is in `test_dagster_ui`."""
    run = begun()
    records.save(RunRecord(run.run_id, "rebuild", "ui"))
    if exit_code is not None:
        instance.report_engine_event(f"Run execution process for it was terminated by signal {exit_code:d}", run)
        instance.report_run_failed(run)
    settle(instance, settings)
    [killed] = records.newest(1)
    assert (killed.outcome, killed.error_kind) == ("failed", KILLED_KIND)
    assert cause in (killed.error or "")


def test_a_night_that_is_canceled_while_it_waits_was_not_killed(settings, instance, records, begun):
    night = begun()
    records.save(RunRecord(night.run_id, "sync", "schedule", outcome="waiting", due_at=datetime.now(UTC)))
    instance.report_run_canceled(night)
    settle(instance, settings)
    assert [(record.outcome, record.due_at) for record in records.newest(9)] == [("interrupted", None)]


def test_a_run_of_a_dead_code_server_is_marked(settings, instance, records, begun):
    old, new = begun(), begun()
    for run in (old, new):
        records.save(RunRecord(run.run_id, "rebuild", "ui"))
    with records.engine.begin() as connection:
        connection.exec_driver_sql("update runs set started_at = ? where run_id = ?", ("2026-01-01", old.run_id))
    settle(instance, settings)
    statuses = {run.run_id: run.status for run in instance.get_runs()}
    assert statuses[old.run_id] == dg.DagsterRunStatus.FAILURE
    assert statuses[new.run_id] == dg.DagsterRunStatus.STARTED, "this code server launched it and sees how it ends"
