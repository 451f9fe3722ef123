"""Alerts of real runs: of the command line without any history, of Dagster's, and of runs that could not say so."""

import json
from collections.abc import Iterator
from signal import SIGKILL, SIGSEGV

import dagster as dg
import pytest
from click.testing import CliRunner
from dagster._utils import get_run_crash_explanation
from sqlalchemy import update

from pipelines import definitions, jobs
from pipelines.alerts import NO_STEP, NOT_STARTED
from pipelines.cli.main import main
from pipelines.dead_runs import LOADED_AT, explain_killed, mark_dead
from pipelines.sources import COMMAND_LINE
from tests.receiver import Receiver, receiving
from wms_sync.state.outbox import Outbox
from wms_sync.state.runs import KILLED, KILLED_KIND, RunRecords
from wms_sync.state.schema import alerts


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


@pytest.fixture
def records(settings) -> Iterator[RunRecords]:
    with RunRecords(settings.database_url) as opened:
        yield opened


def test_the_command_line_alone_tells_of_its_failure(webhook, service, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environment = {
        "WMS_BASE_URL": service.base_url,
        "WMS_API_TOKEN": "wrong-token",
        "WMS_START_DATE": "2026-02-20",
        "WMS_ALERT_WEBHOOK_URL": webhook.url,
    }
    webhook.status = 500
    failed = CliRunner().invoke(main, ["sync"], env=environment)
    assert failed.exit_code == 2
    assert "An alert waits" in failed.output
    webhook.status = 204
    with Outbox(f"sqlite:///{tmp_path}/data/state.db") as outbox, outbox._engine.begin() as connection:
        connection.execute(update(alerts).values(due_at=alerts.c.created_at))  # the pause is over
    assert CliRunner().invoke(main, ["status"], env=environment).exit_code == 0
    [told] = webhook.taken
    assert (told["event"], told["job"]) == ("run_failed", "sync")
    assert "refused the token" in told["text"]
    tested = CliRunner().invoke(main, ["alert", "test"], env=environment)
    assert (tested.exit_code, tested.output) == (0, "ok    WMS_ALERT_WEBHOOK_URL took the test\n")
    assert webhook.events == ["run_failed", "test"]
    assert "wrong-token" not in json.dumps(webhook.taken) + failed.output


def test_a_test_of_no_channel_or_a_silent_one_is_an_error(webhook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = CliRunner().invoke(main, ["alert", "test"])
    assert (nothing.exit_code, "No channel is set" in nothing.output) == (2, True)
    webhook.status = 302
    environment = {"WMS_ALERT_WEBHOOK_URL": webhook.url, "WMS_HEARTBEAT_URL": "http://127.0.0.1:1/a-secret"}
    silent = CliRunner().invoke(main, ["alert", "test"], env=environment)
    assert silent.exit_code == 1
    assert silent.output.count("fail") == 2
    assert "a-secret" not in silent.output
    assert not (tmp_path / "data").exists()


def test_a_run_of_dagster_is_told_by_its_sensor(webhook, make_settings, instance):
    settings = make_settings(alert_webhook_url=webhook.url, api_token="wrong-token")
    built = definitions.build(settings)
    run = built.resolve_job_def(jobs.SYNC_NOW).execute_in_process(instance=instance, raise_on_error=False)
    for _ in range(2):
        built.resolve_sensor_def("alerts_are_sent").evaluate_tick(dg.build_sensor_context(instance=instance))
    [told] = webhook.taken
    assert (told["event"], told["job"], told["run_id"]) == ("run_failed", "sync", run.run_id)
    assert "refused the token" in told["text"]
    assert "wrong-token" not in json.dumps(told)


def test_runs_that_failed_before_their_first_step_are_recorded_and_no_other_project(settings, instance, records):
    built = definitions.build(settings)
    sensor, cursor, job = built.resolve_sensor_def("failed_run_alerts"), None, built.resolve_job_def(jobs.REBUILD)

    @dg.job
    def of_another_project() -> None:
        pass

    ours: list[str] = []
    for attempt in range(2):
        # as the daemon asks, for a code location: runs of the command line belong to none
        context = dg.build_sensor_context(instance, cursor, repository_name="__repository__", definitions=built)
        cursor = sensor.evaluate_tick(context).cursor
        if attempt == 0:
            of_itself = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
            records.started(of_itself.run_id, "rebuild by hand", "ui")
            records.ended(of_itself.run_id, "failed", error="The disk is full.", error_kind="NotEnoughRoom")
            for failing in (of_another_project, job):
                run = instance.create_run_for_job(failing, status=dg.DagsterRunStatus.STARTED)
                instance.report_run_failed(run, "The job could not be loaded.")
                ours = [run.run_id]
            instance.report_run_failed(of_itself, "Steps failed.")
    assert {(one.purpose, one.error_kind, one.error) for one in records.newest(9)} == {
        ("rebuild by hand", "NotEnoughRoom", "The disk is full."),
        ("rebuild", NOT_STARTED, NO_STEP),
    }
    assert records.of(ours[0]) is not None


@pytest.mark.parametrize(
    ("exit_code", "cause"),
    [
        (-SIGKILL, "was ended by signal 9 (SIGKILL). The kernel sends it when the machine or its container has no"),
        (-SIGSEGV, "was ended by signal 11 (SIGSEGV). What it had landed is kept; the next run continues from there."),
        (3, "ended by itself with exit code 3. What it had landed is kept"),
        (None, KILLED),
    ],
)
def test_a_killed_run_is_recorded_with_the_cause_that_dagster_saw(settings, instance, records, exit_code, cause):
    job = definitions.build(settings).resolve_job_def(jobs.REBUILD)
    run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    records.started(run.run_id, "rebuild", "ui")
    if exit_code is not None:  # what Dagster's code server writes
        instance.report_engine_event(get_run_crash_explanation("Run execution process for it", exit_code), run)
        instance.report_run_failed(run)
    explain_killed(instance, settings)
    [killed] = records.newest(1)
    assert (killed.outcome, killed.error_kind) == ("failed", KILLED_KIND)
    assert cause in (killed.error or "")


def test_a_run_that_failed_between_its_steps_is_recorded_by_the_kind_of_its_error_only(settings, instance, records):
    @dg.op
    def breaks() -> None:
        raise ValueError("with something private in it")

    @dg.job(name=jobs.REBUILD)
    def between() -> None:
        breaks()

    run_id = between.execute_in_process(instance=instance, raise_on_error=False).run_id
    records.started(run_id, "rebuild", "ui")
    explain_killed(instance, settings)
    [failed] = records.newest(1)
    assert (failed.error_kind, failed.error) == ("ValueError", "ValueError; the run's log has the details.")


def test_a_run_that_died_with_its_code_server_is_marked_by_the_next_one(settings, instance, records):
    job = definitions.build(settings).resolve_job_def(jobs.REBUILD)
    old, new = (instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED) for _ in range(2))
    for run in (old, new):
        records.started(run.run_id, "rebuild", "ui")
    assert mark_dead(instance, settings, parents_since=LOADED_AT) == [], "this code server sees how they end"
    elsewhere = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    records.started(elsewhere.run_id, "rebuild", COMMAND_LINE)
    assert mark_dead(instance, settings, parents_since=LOADED_AT) == [elsewhere.run_id], "nobody sees how it ends"
    with records._engine.begin() as connection:
        connection.exec_driver_sql("update runs set started_at = ? where run_id = ?", ("2026-01-01", old.run_id))
    assert mark_dead(instance, settings, parents_since=LOADED_AT) == [old.run_id]
    ended = instance.get_run_by_id(old.run_id)
    assert ended is not None
    assert ended.status == dg.DagsterRunStatus.FAILURE
