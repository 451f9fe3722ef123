from datetime import UTC, datetime

import dagster as dg

from pipelines import definitions


def nightly(settings) -> dg.ScheduleDefinition:
    return definitions.build(settings).resolve_schedule_def("nightly")


def test_the_night_comes_from_the_settings_and_is_off_until_it_is_switched_on(make_settings):
    schedule = nightly(make_settings(schedule_cron="30 3 * * *", schedule_timezone="America/New_York"))
    assert schedule.cron_schedule == "30 3 * * *"
    assert schedule.execution_timezone == "America/New_York"
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_a_night_is_a_sync(settings):
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 3, 11, 2, tzinfo=UTC))
    [wanted] = nightly(settings).evaluate_tick(context).run_requests or []
    assert nightly(settings).job_name == "sync_now"
    assert wanted.run_config == {}
