"""Runs of Dagster, as the daemon and the UI launch them, against the sandbox on a socket."""

import re
from collections.abc import Callable

import dagster as dg
import pytest

from tests.bench import queried
from tests.changed_files import double_a_shipment
from tests.pipelines.conftest import failure_of, rows_of_days
from tests.pipelines.dagster_ui import RANGE_END, RANGE_START
from tests.running import run_sync
from wms_sync.catalogue import relations, table
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import checks
from wms_sync.state.run_records import RunRecord, RunRecords
from wms_sync_pipelines import asset_keys, coverage, definitions, jobs, tables

SHIPMENTS = 300
NAMES = ["2026-03-03", "2026-03-04", "2026-03-05"]
LOGGED = (
    r"0 of 300 shipments \(0%\)",
    r"sync read: 300 shipments read; read \d+\.\d s; not in the tables yet",
    r"sync succeeded: 300 shipments read, [\d,]+ rows merged, 0 quarantined.*; read \d+\.\d s",
)
"""What the log of a night says."""


@pytest.fixture
def launch(settings, instance) -> Callable[..., dg.ExecuteInProcessResult]:
    """Launch a job of these settings, or of others."""
    return lambda job, of=settings, tags=None: (
        definitions.build(of)
        .resolve_job_def(job)
        .execute_in_process(instance=instance, tags=tags, raise_on_error=False)
    )


@pytest.fixture
def follows(settings, instance) -> Callable[[], dg.RunRequest | None]:
    """Evaluate the sensor that loads the tables; return its request, or None."""
    sensor = definitions.build(settings).resolve_sensor_def("tables_follow")
    return lambda: next(iter(sensor.evaluate_tick(dg.build_sensor_context(instance=instance)).run_requests or ()), None)


def published(settings: Settings, where: str = "true") -> int:
    return int(queried(settings.layout.published, f"select count(*) from shipments where {where}")[0][0])


def recorded(settings: Settings) -> list[RunRecord]:
    """The newest first."""
    with RunRecords.opened(settings.database_url) as records:
        return list(records.newest(10))


def log_of(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(str(entry) for entry in instance.all_logs(result.run_id))


def test_a_night_reads_and_loads_and_again_harmless(settings, instance, launch, follows):
    assert follows() is None
    first = launch(jobs.NIGHTLY_SYNC)
    log = log_of(instance, first)
    assert (first.success, published(settings)) == (True, SHIPMENTS), log
    of_tables = {tables.key(settings, relation) for relation in relations()}
    made = {event.asset_key for event in first.get_asset_materialization_events()}
    assert made == {asset_keys.changes(settings), asset_keys.days(settings)} | of_tables
    evaluated = {check.check_name for check in first.get_asset_check_evaluations()}
    assert evaluated == coverage.CHECKS.keys() | {check.name for check in checks()}

    [record] = recorded(settings)
    assert (record.run_id, record.purpose, record.source) == (first.run_id, "sync", "ui")
    assert (record.outcome, record.error, record.counts["records"]) == ("succeeded", None, SHIPMENTS)
    assert [words for words in LOGGED if not re.search(words, log)] == []
    assert log.count("sync succeeded") == 1

    before = rows_of_days(settings, instance)
    assert sum(before.values()) == SHIPMENTS
    assert (launch(jobs.NIGHTLY_SYNC).success, published(settings)) == (True, SHIPMENTS)
    assert rows_of_days(settings, instance) == before, "a later sync, which reads its overlap, leaves each day its own"
    assert follows() is None, "a night loads what it reads"


def test_a_backfill_reads_its_days_and_tables_follow(settings, instance, launch, follows):
    done = launch(jobs.BACKFILL_DAYS, tags={RANGE_START: NAMES[0], RANGE_END: NAMES[-1]})
    assert done.success, log_of(instance, done)
    by_day = rows_of_days(settings, instance)
    [record] = recorded(settings)
    assert (record.purpose, record.outcome) == ("backfill 2026-03-03 to 2026-03-06", "read")
    assert ([*by_day], settings.layout.published.exists()) == (NAMES, False), "a step of its own loads"

    request = follows()
    assert follows() == request, "a run key that Dagster answers once"
    assert launch(str(request.job_name or jobs.LOAD_TABLES)).success
    assert published(settings) == record.counts["records"] > 0
    assert by_day == {day: published(settings, f"cast(updated_at as date) = '{day}'") for day in NAMES}
    assert follows() is None, "once"
    one = definitions.build(settings).resolve_implicit_global_asset_job_def()
    shipments, orders = (tables.key(settings, table(name)) for name in ("shipments", "orders"))
    assert one.execute_in_process(instance=instance, asset_selection=[orders]).success
    [_] = instance.fetch_materializations(shipments, limit=5).records
    [_] = instance.fetch_observations(shipments, limit=5).records  # the second load brought nothing


@pytest.mark.parametrize(
    ("days", "told"),
    [
        ({}, "choose days"),
        ({RANGE_START: "2020-01-01", RANGE_END: "2020-01-02"}, r"2020-01-01 is before WMS_START_DATE \("),
        ({RANGE_START: "2026-03-05", RANGE_END: "2026-03-02"}, "is before its first"),
    ],
)
def test_days_that_cannot_be_read_are_refused(launch, service_of_today, days, told):
    assert re.search(told, failure_of(launch(jobs.BACKFILL_DAYS, tags=days)))
    assert not service_of_today.sandbox.requests


def test_days_that_the_service_has_not_reached_are_no_success(launch):
    done = launch(jobs.BACKFILL_DAYS, tags={RANGE_START: "2026-03-20", RANGE_END: "2026-03-22"})
    assert "has not passed the beginning of 2026-03-21" in failure_of(done)


def test_a_blocking_check_that_fails_publishes_nothing(make_settings, instance, launch):
    settings = make_settings(audit_pages=0)
    run_sync(settings)
    double_a_shipment(settings.layout.published)
    before = settings.layout.published.stat()
    refused = launch(jobs.NIGHTLY_SYNC, of=settings)
    assert "Nothing was published" in failure_of(refused)
    after, record = settings.layout.published.stat(), recorded(settings)[0]
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (record.purpose, record.outcome, record.error_kind) == ("sync", "failed", "NotPublished")

    checked = {check.check_name: check for check in refused.get_asset_check_evaluations()}
    found, shipments = checked["shipments_have_unique_keys"], tables.key(settings, table("shipments"))
    assert (found.passed, found.severity, found.asset_key) == (False, dg.AssetCheckSeverity.ERROR, shipments)
    assert re.fullmatch(r"1 key of shipments is repeated or incomplete: \d+\.", str(found.description))
    assert [row.data["occurrences"] for row in found.metadata["sample"].records] == ["2"]
    made = [event.asset_key for event in refused.get_asset_materialization_events()]
    assert made == [asset_keys.changes(settings)], "what was read stays read"

    # a rebuild makes sound tables from the pages
    rebuilt = launch(jobs.REBUILD_TABLES, of=settings)
    event = instance.get_latest_materialization_event(shipments)
    assert (rebuilt.success, event.run_id, recorded(settings)[0].purpose) == (True, rebuilt.run_id, "rebuild")
    assert event.asset_materialization.metadata["dagster/row_count"].value == published(settings) == SHIPMENTS
