import re
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest
from dagster._core.definitions.freshness import TimeWindowFreshnessPolicy

from pipelines import coverage, definitions, sensors
from tests.conftest import opened_store
from wms_sync.state.lock import FileLock
from wms_sync.state.store import StateStore

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def follow(settings, instance):
    sensor = definitions.build(settings).resolve_sensor_def("tables_follow_pages")

    def evaluate():
        data = sensor.evaluate_tick(dg.build_sensor_context(instance=instance))
        return data.run_requests[0] if data.run_requests else data.skip_message

    return evaluate


def test_it_is_on_by_default_and_looks_often(settings):
    sensor = definitions.build(settings).resolve_sensor_def("tables_follow_pages")
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    assert sensor.minimum_interval_seconds == sensors.FOLLOW_SECONDS
    assert sensor.job_name == "tables"


def test_nothing_is_asked_for_when_every_page_is_in_the_tables(follow, settings, land):
    window = land(MARCH, MARCH + DAY)
    opened_store(settings).mark_loaded([window.id])
    assert "in the tables" in follow()


def test_landed_pages_ask_for_one_run_a_newest_window(follow, land):
    land(MARCH, MARCH + DAY, "first")
    newest = land(MARCH + DAY, MARCH + 2 * DAY, "second")
    assert follow().run_key == newest.id
    assert follow().run_key == newest.id  # the same key again: Dagster does not repeat the run


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED])
def test_it_waits_for_a_run_that_begins_or_goes_on(follow, land, instance, settings, status):
    land(MARCH, MARCH + DAY)
    job = definitions.build(settings).resolve_job_def("tables")
    run = instance.create_run_for_job(job, status=status)
    assert "in progress" in follow()
    instance.report_run_failed(run)
    assert isinstance(follow(), dg.RunRequest)


def test_it_waits_for_a_writer_that_is_no_run_of_dagster(follow, land, settings):
    land(MARCH, MARCH + DAY)
    with FileLock(settings.layout).hold("a rebuild by hand"):
        assert "a rebuild by hand" in follow()
    assert isinstance(follow(), dg.RunRequest)


@pytest.fixture
def watch(settings, instance):
    sensor = definitions.build(settings).resolve_sensor_def("coverage_is_watched")

    def evaluate():
        data = sensor.evaluate_tick(dg.build_sensor_context(instance=instance))
        checked = [event for event in data.asset_events if isinstance(event, dg.AssetCheckEvaluation)]
        return {event.check_name: event for event in checked}

    return evaluate


def test_a_gap_in_coverage_is_seen_without_a_run(watch, settings, land):
    land(settings.start, settings.start + DAY)
    assert watch()[coverage.NO_GAP].passed
    land(settings.start + 3 * DAY, settings.start + 4 * DAY)
    gap = watch()[coverage.NO_GAP]
    assert not gap.passed
    assert gap.severity == dg.AssetCheckSeverity.WARN
    assert "2026-02-21 00:00:00 to 2026-02-23 00:00:00" in gap.metadata["gaps"].value
    assert gap.description == "Coverage has 1 gap: 2026-02-21 00:00:00 to 2026-02-23 00:00:00 UTC."


def test_freshness_goes_by_the_sync_cursor_and_not_by_what_ran_last(watch, settings, land):
    yesterday = datetime.now(UTC) - timedelta(hours=20)
    land(yesterday, datetime.now(UTC) - timedelta(hours=1), "backfill_of_the_newest_day")
    stale = watch()[coverage.FRESH]
    assert not stale.passed
    assert re.fullmatch(r"The sync cursor is [\d.]+ hours old, and [\d.]+ are allowed\.", stale.description)
    land(settings.start, yesterday)
    assert watch()[coverage.FRESH].passed
    assert watch()[coverage.FRESH].description is None


@pytest.mark.parametrize(("cron", "is_fresh"), [("0 2 * * *", True), ("0 * * * *", False), ("0 2 * * 0", True)])
def test_what_is_fresh_follows_from_the_schedule(make_settings, instance, land, cron, is_fresh):
    settings = make_settings(schedule_cron=cron)
    land(settings.start, datetime.now(UTC) - timedelta(hours=5))
    with StateStore(settings.database_url) as store:
        [fresh] = [one for one in coverage.results(settings, store) if one.check_name == coverage.FRESH]
    assert fresh.passed == is_fresh
    graph = definitions.build(settings).resolve_asset_graph()
    [policy] = {node.freshness_policy for node in graph.asset_nodes} - {None}
    assert isinstance(policy, TimeWindowFreshnessPolicy)
    assert (policy.fail_window.to_timedelta() > timedelta(hours=5)) == is_fresh
