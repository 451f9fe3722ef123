"""A scheduled night against a service that does not answer: its attempts, the last one, and what has only one.

And the alert about it.
"""

import json
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


def down_for(minutes: float) -> Callable[[object], Response | None]:
    """What is answered to the attempts of a night if the service is down for so many minutes after the tick."""
    begins = [sum(PAUSES[:attempt], timedelta()) for attempt in range(len(PAUSES) + 1)]
    answers = islice(cycle(IN_ITS_PLACE), sum(begun < minutes * MINUTE for begun in begins))
    return lambda _: next(answers, None)


def test_between_attempts_a_night_waits_without_the_lock(late, service):
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
        assert [record.outcome for record in records.newest(9)] == ["read"]
    assert "last_success_timestamp_seconds{" not in settings.layout.metrics.read_text(), "its load comes yet"


NIGHTS: dict[str, tuple[float, dict[str, str], dict[str, str], int, str, str]] = {
    # for how many minutes the service is down, changed settings, the tags of the run, how often it is tried again, how
    # it ends, and why it fails
    "the service is back": (20, {}, BY_SCHEDULE, 4, "succeeded", ""),
    "the service stays down": (1000, {}, BY_SCHEDULE, 9, "failed", "may not be the service"),
    "what waiting does not mend": (
        0,
        {"api_token": "wrong-token"},
        BY_SCHEDULE,
        0,
        "failed",
        "refused the token (401). It is wrong, expired or lacks permission: check WMS_API_TOKEN",
    ),
    "what a person started": (1, {}, {}, 0, "failed", "503"),
    "another schedule": (1, {}, {SCHEDULE: "maintenance"}, 0, "failed", "503"),
}


@pytest.mark.parametrize(("minutes", "changes", "tags", "retries", "outcome", "why"), NIGHTS.values(), ids=NIGHTS)
def test_what_is_tried_again(late, service, instance, receiver, minutes, changes, tags, retries, outcome, why):
    """In the same run. Its one alert is sent once nothing is tried again, and shows no secret."""
    settings = late(**changes)
    built = definitions.build(settings, RunResource(settings, pauses=SHORT))
    service.sandbox.intercept = down_for(minutes)
    night = built.resolve_job_def(jobs.NIGHTLY_SYNC).execute_in_process(
        instance=instance, tags=tags, raise_on_error=False
    )
    waited = instance.all_logs(night.run_id, of_type=dg.DagsterEventType.STEP_UP_FOR_RETRY)
    seconds = [entry.dagster_event.step_retry_data.seconds_to_wait for entry in waited]
    assert seconds == [pause.total_seconds() for pause in SHORT[:retries]]
    with RunRecords.opened(settings.database_url) as records:
        [record] = records.newest(9)
    assert (record.run_id, record.outcome, record.due_at) == (night.run_id, outcome, None)
    assert outcome == "succeeded" or why in failure_of(night)
    for _ in range(2):
        built.resolve_sensor_def("alerts").evaluate_tick(dg.build_sensor_context(instance=instance))
    told = [(body["status"], body["finding"], body["run_id"]) for body in receiver.taken]
    assert told == ([] if night.success else [("new", "run-sync", night.run_id)])
    history = "\n".join(str(entry) for entry in instance.all_logs(night.run_id))
    assert (f"sync {outcome}: " in history, "wrong-token" in json.dumps(receiver.taken) + history) == (True, False)


def test_the_schedule_follows_settings_and_is_off(make_settings):
    settings = make_settings(schedule_cron="30 3 * * *", schedule_timezone="America/New_York")
    schedule = definitions.build(settings).resolve_schedule_def(NIGHTLY)
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 3 * * *", "America/New_York")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    context = dg.build_schedule_context(scheduled_execution_time=datetime.now(UTC))
    assert len(schedule.evaluate_tick(context).run_requests or ()) == 1
