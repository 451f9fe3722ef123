"""A scheduled night that the service refuses: attempts, the last one, and what is not tried again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest
from starlette.responses import JSONResponse, Response

from pipelines import definitions, jobs
from pipelines.operation import ATTEMPT, NIGHT
from pipelines.sensors import night_retries
from tests.cli.conftest import LATE_START
from tests.pipelines.conftest import failure_of
from wms_sandbox.errors import failed
from wms_sync.settings import Settings
from wms_sync.state.lock import FileLock
from wms_sync.state.runs import RunRecords

HOUR = timedelta(hours=1)
TICKS_AT = (datetime.now(UTC) + 2 * HOUR).hour
"""So no tick of the schedule comes between a night of some hours ago and now."""
AT_ONCE = (timedelta(),)
LATER = {"retry-after": "86400"}
DOWN = failed(503, **LATER)
"""The service says when it is back: too late for the client to wait within a run."""
IN_ITS_PLACE = {
    "a maintenance page": Response("<html>In maintenance</html>", headers=LATER),
    "errors": JSONResponse({"errors": [{"message": "In maintenance"}]}, headers=LATER),
    "a firewall": Response("<html>Blocked</html>", 403, headers=LATER),
}


class Nights:
    """One installation with its schedule, its sensor and what they start."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings = settings
        self._instance = instance
        self._built = definitions.build(settings)
        self._job = self._built.resolve_job_def(jobs.NIGHTLY_SYNC)

    def ticks(self, at: datetime) -> list[dg.RunRequest]:
        """What the schedule requests; nothing if the tick was missed."""
        context = dg.build_schedule_context(instance=self._instance, scheduled_execution_time=at)
        return list(self._built.resolve_schedule_def("nightly").evaluate_tick(context).run_requests or ())

    def look(self, pauses: tuple[timedelta, ...] = AT_ONCE) -> dg.RunRequest | str:
        """What the sensor requests, or why it does not."""
        sensor = night_retries(self.settings, pauses)
        data = sensor.evaluate_tick(dg.build_sensor_context(instance=self._instance))
        return data.run_requests[0] if data.run_requests else str(data.skip_message)

    def run(self, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
        """As the daemon launches it."""
        return self._job.execute_in_process(
            instance=self._instance,
            tags={**request.tags, "dagster/schedule_name": "nightly"} if request.run_key is None else request.tags,
            raise_on_error=False,
        )


@pytest.fixture
def late(make_settings, service_of_today) -> Callable[..., Settings]:
    """Settings of an installation that began lately, for a service that intercepts nothing after the test."""
    return lambda **changes: make_settings(start_date=LATE_START, schedule_cron=f"0 {TICKS_AT} * * *", **changes)


@pytest.fixture
def nights(late, instance) -> Nights:
    return Nights(late(), instance)


def test_a_night_is_retried_until_it_succeeds(nights, service):
    service.sandbox.intercept = lambda _: DOWN
    tick = datetime.now(UTC) - HOUR
    [request] = nights.ticks(tick)
    assert (request.tags[NIGHT], request.tags[ATTEMPT]) == (tick.isoformat(), "1")
    assert "attempt 1 of this nightly sync. The next attempt begins at" in failure_of(nights.run(request))
    assert "attempt 2 begins at" in nights.look((HOUR,))
    with FileLock(nights.settings.layout).hold("a backfill by hand"):
        assert "a backfill by hand" in nights.look()

    second = nights.look()
    assert second.run_key == nights.look().run_key, "a tick that is evaluated twice starts one run"
    assert (second.tags[NIGHT], second.tags[ATTEMPT]) == (tick.isoformat(), "2")
    service.sandbox.intercept = None
    assert nights.run(second).success
    assert "no failed nightly sync can be retried" in nights.look()
    with RunRecords(nights.settings.database_url) as records:
        assert [night.source for night in records.newest(9)] == ["schedule", "schedule"]


def test_the_schedule_follows_settings_and_is_off(make_settings):
    settings = make_settings(schedule_cron="30 3 * * *", schedule_timezone="America/New_York")
    schedule = definitions.build(settings).resolve_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 3 * * *", "America/New_York")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_of_missed_nights_only_the_last_runs(nights):
    newest = datetime.now(UTC).replace(hour=TICKS_AT, minute=0, second=0, microsecond=0)
    newest -= timedelta(days=newest > datetime.now(UTC))
    assert nights.ticks(newest - timedelta(days=1)) == []
    assert len(nights.ticks(newest)) == 1


@pytest.mark.parametrize("name", IN_ITS_PLACE)
def test_a_night_that_something_else_answered_is_retried(nights, service, name):
    """It ended at once: with a broken protocol, or with a token that was said to be wrong."""
    service.sandbox.intercept = lambda _: IN_ITS_PLACE[name]
    [request] = nights.ticks(datetime.now(UTC))
    assert "attempt 1 of this nightly sync. The next attempt begins at" in failure_of(nights.run(request))
    assert nights.look().tags[ATTEMPT] == "2"


@pytest.mark.parametrize(
    ("changes", "tags", "hours", "said"),
    [
        ({"api_token": "wrong-token"}, {NIGHT, ATTEMPT}, 0, ""),
        ({"night_retry_hours": 0}, {NIGHT, ATTEMPT}, 0, "attempt 1 of this nightly sync, and the last"),
        ({}, {NIGHT, ATTEMPT}, 4, "attempt 1 of this nightly sync, and the last"),
        ({}, set(), 0, ""),
    ],
    ids=["what waiting does not mend", "no hours to retry", "a night long ago", "what a person started"],
)
def test_what_is_not_tried_again(service, late, instance, changes, tags, hours, said):
    """That it is told when it is given up is in the tests of alerts."""
    nights = Nights(late(**changes), instance)
    service.sandbox.intercept = None if "api_token" in changes else lambda _: DOWN
    [request] = nights.ticks(datetime.now(UTC) - hours * HOUR)
    kept = {name: value for name, value in request.tags.items() if name in tags or name not in {NIGHT, ATTEMPT}}
    told = failure_of(nights.run(dg.RunRequest(run_key="a run", tags=kept)))
    assert ("The next attempt begins" not in told, said in told) == (True, True), told
    assert isinstance(nights.look(), str)
