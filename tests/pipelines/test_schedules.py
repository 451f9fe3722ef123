from datetime import UTC, datetime

import dagster as dg
import pytest

from pipelines import definitions
from pipelines.days import RANGE_END, RANGE_START


def nightly(settings) -> dg.ScheduleDefinition:
    return definitions.build(settings).resolve_schedule_def("nightly")


def request(settings, moment: datetime) -> dg.RunRequest:
    context = dg.build_schedule_context(scheduled_execution_time=moment)
    [wanted] = nightly(settings).evaluate_tick(context).run_requests or []
    return wanted


def test_the_night_comes_from_the_settings_and_is_off_until_it_is_switched_on(make_settings):
    schedule = nightly(make_settings(schedule_cron="30 3 * * *", schedule_timezone="America/New_York"))
    assert schedule.cron_schedule == "30 3 * * *"
    assert schedule.execution_timezone == "America/New_York"
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_a_night_is_one_run_from_the_sync_cursor_to_today_in_mode_sync(settings, land):
    land(settings.start, datetime(2026, 3, 10, 2, tzinfo=UTC))
    wanted = request(settings, datetime(2026, 3, 11, 2, tzinfo=UTC))
    assert wanted.tags[RANGE_START] == "2026-03-10"
    assert wanted.tags[RANGE_END] == "2026-03-11"
    assert wanted.run_config == {"ops": {"shipment_pages": {"config": {"mode": "SYNC"}}}}


def test_missed_nights_are_in_the_range_of_the_next(settings, land):
    land(settings.start, datetime(2026, 3, 1, 2, tzinfo=UTC))
    wanted = request(settings, datetime(2026, 3, 9, 2, tzinfo=UTC))
    assert (wanted.tags[RANGE_START], wanted.tags[RANGE_END]) == ("2026-03-01", "2026-03-09")


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_days_are_those_of_utc_whatever_the_zone_of_the_night(make_settings, zone):
    wanted = request(make_settings(schedule_timezone=zone), datetime(2026, 3, 9, 23, 30, tzinfo=UTC))
    assert wanted.tags[RANGE_END] == "2026-03-09"
