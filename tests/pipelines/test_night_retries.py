"""A scheduled night against a service that does not answer: its attempts, the last one, and what has only one."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice

import dagster as dg
import pytest
from starlette.responses import JSONResponse, Response

from tests.cli.conftest import LATE_START
from tests.pipelines.conftest import failure_of
from wms_sandbox.errors import failed
from wms_sync import runs as library
from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts import deliver
from wms_sync.reports.findings import findings_of
from wms_sync.settings import Settings
from wms_sync.state.lock import FileLock
from wms_sync.state.run_records import RunRecords
from wms_sync_pipelines import definitions, jobs
from wms_sync_pipelines.operation import NIGHTLY, PAUSES, SCHEDULE, RunResource

LATER = {"retry-after": "86400"}
DOWN = failed(503, **LATER)
"""The service says when it is back: too late for the client to wait within an attempt."""
IN_ITS_PLACE = (
    DOWN,
    Response("<html>In maintenance</html>", headers=LATER),
    JSONResponse({"errors": [{"message": "In maintenance"}]}, headers=LATER),
    Response("<html>Blocked</html>", 403, headers=LATER),
)
"""What the service, a maintenance page or a firewall answers to the attempts of a night, in turn."""
MINUTE = timedelta(minutes=1)
SHORT = tuple(pause / 6000 for pause in PAUSES)
"""The pauses of a night, each minute as a hundredth of a second."""
BY_SCHEDULE = {SCHEDULE: NIGHTLY}


@pytest.fixture
def late(make_settings, service_of_today, receiver) -> Callable[..., Settings]:
    """Settings of an installation that began lately, for a service that intercepts nothing after the test."""
    return lambda **changes: make_settings(start_date=LATE_START, alert_webhook_url=receiver.url, **changes)


@pytest.fixture
def run(instance) -> Callable[..., dg.ExecuteInProcessResult]:
    """Runs the nightly sync as the daemon launches it, with pauses that a test can wait for."""

    def run(settings: Settings, tags: dict[str, str] = BY_SCHEDULE) -> dg.ExecuteInProcessResult:
        job = definitions.build(settings, RunResource(settings, pauses=SHORT)).resolve_job_def(jobs.NIGHTLY_SYNC)
        return job.execute_in_process(instance=instance, tags=tags, raise_on_error=False)

    return run


def down_for(minutes: float) -> Callable[[object], Response | None]:
    """What is answered to the attempts of a night if the service is down for so many minutes after the tick."""
    begins = [sum(PAUSES[:attempt], timedelta()) for attempt in range(len(PAUSES) + 1)]
    answers = islice(cycle(IN_ITS_PLACE), sum(begun < minutes * MINUTE for begun in begins))
    return lambda _: next(answers, None)


def test_a_night_succeeds_in_the_same_run_once_the_service_is_back(late, run, service, instance, receiver):
    settings = late()
    service.sandbox.intercept = down_for(20)
    night = run(settings)
    assert night.success
    retries = instance.all_logs(night.run_id, of_type=dg.DagsterEventType.STEP_UP_FOR_RETRY)
    waited = [entry.dagster_event.step_retry_data.seconds_to_wait for entry in retries]
    assert waited == [pause.total_seconds() for pause in SHORT[:4]]
    with RunRecords.opened(settings.database_url) as records:
        [record] = records.newest(9)
    assert (record.run_id, record.source, record.outcome, record.due_at) == (
        night.run_id,
        "schedule",
        "succeeded",
        None,
    )
    deliver(settings)
    assert receiver.taken == []


def test_a_night_fails_after_its_last_attempt(late, run, service, instance, receiver):
    settings = late()
    service.sandbox.intercept = down_for(1000)
    night = run(settings)
    assert "may not be the service" in failure_of(night)
    assert len(instance.all_logs(night.run_id, of_type=dg.DagsterEventType.STEP_UP_FOR_RETRY)) == len(PAUSES) == 9
    deliver(settings)
    service.sandbox.intercept = None
    assert run(settings).success
    deliver(settings)
    assert receiver.heard == ["new:run-sync", "ended:run-sync"]


def test_between_attempts_a_night_waits_without_the_lock(late, service, receiver):
    settings = late()
    service.sandbox.intercept = lambda _: DOWN
    night = library.Operation(settings, source="schedule")
    night.retry_after = 20 * MINUTE
    with RunRecords.opened(settings.database_url) as records:
        for _ in range(2):
            with pytest.raises(WmsSyncError, match="503"):
                night.read_changes()
            [record] = records.as_they_are(settings.layout)
            assert (record.run_id, record.outcome, record.ended_at) == (night.run_id, "waiting", None)
            assert record.due_at is not None
            assert timedelta() < record.due_at - datetime.now(UTC) <= 20 * MINUTE
            assert FileLock(settings.layout).holder() is None
            [finding] = [finding for finding in findings_of(settings) if finding.name == "run-sync"]
            assert (finding.severity, f"{record.due_at:%H:%M} UTC" in finding.what_to_do) == ("warning", True)
        service.sandbox.intercept = None
        night.read_changes()
        assert [record.outcome for record in records.newest(9)] == ["succeeded"]
    deliver(settings)
    assert receiver.taken == []


@pytest.mark.parametrize(
    ("changes", "tags"),
    [({"api_token": "wrong-token"}, BY_SCHEDULE), ({}, {}), ({}, {SCHEDULE: "maintenance"})],
    ids=["what waiting does not mend", "what a person started", "another schedule"],
)
def test_what_is_not_tried_again(late, run, service, instance, changes, tags):
    service.sandbox.intercept = None if changes else down_for(1)
    settings = late(**changes)
    night = run(settings, tags)
    assert instance.all_logs(night.run_id, of_type=dg.DagsterEventType.STEP_UP_FOR_RETRY) == []
    with RunRecords.opened(settings.database_url) as records:
        assert [record.outcome for record in records.newest(9)] == ["failed"]


def test_the_schedule_follows_settings_and_is_off(make_settings):
    settings = make_settings(schedule_cron="30 3 * * *", schedule_timezone="America/New_York")
    schedule = definitions.build(settings).resolve_schedule_def(NIGHTLY)
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 3 * * *", "America/New_York")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    context = dg.build_schedule_context(scheduled_execution_time=datetime.now(UTC))
    assert len(schedule.evaluate_tick(context).run_requests or ()) == 1
