"""Jobs in this process, against the sandbox on a socket."""

import re
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from pipelines import coverage, definitions, jobs, tables
from pipelines.asset_keys import pages
from pipelines.days import RANGE_END, RANGE_START, DayRange
from pipelines.dead_runs import mark_dead
from pipelines.home import HOME_VARIABLE
from pipelines.instance import prepare_home, without_history
from pipelines.operation import Operation
from pipelines.running import run_backfill, run_job, run_rebuild, run_sync
from pipelines.sources import COMMAND_LINE, MODE, SOURCE
from tests.beginnings import empty_tables
from tests.changed_files import change, double_a_shipment
from tests.conftest import logged
from tests.pipelines.conftest import LATE_START, TOKEN
from tests.processes import Command, Ended
from wms_sandbox.server import SandboxServer
from wms_sync.analytics.checks import checks
from wms_sync.api.errors import Unauthorized
from wms_sync.catalogue import relations
from wms_sync.durable import Inaccessible, make_private
from wms_sync.errors import SettingsError
from wms_sync.extract.progress import Progress
from wms_sync.runs.operation import NotPublished
from wms_sync.settings import Settings
from wms_sync.state.lock import FileLock
from wms_sync.state.runs import KILLED, LOADING, RunRecord, RunRecords
from wms_sync.state.store import StateStore

SHIPMENTS = 300
TODAY = datetime.now(UTC).date()
DAYS = DayRange(date(2026, 3, 3), date(2026, 3, 5))


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With tables that are there and empty."""
    empty_tables(settings.layout.published)
    return settings


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return prepare_home(tmp_path / "home")


def tags_of(instance: dg.DagsterInstance, run_id: str) -> tuple[str, str]:
    """Who started a run, and what for."""
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.tags[SOURCE], run.tags[MODE]


def published(settings: Settings) -> int:
    with duckdb.connect(str(settings.layout.published), read_only=True) as connection:
        row = connection.execute("select count(*) from shipments").fetchone()
    assert row is not None
    return int(row[0])


def recorded(settings: Settings) -> list[RunRecord]:
    """The newest first."""
    with RunRecords(settings.database_url) as records:
        return list(records.newest(10))


def changed_on(settings: Settings, day: str) -> int:
    """How many shipments of the tables were last changed on a day."""
    query = "select count(*) from shipments where cast(updated_at at time zone 'UTC' as date) = ?"
    with duckdb.connect(str(settings.layout.published), read_only=True) as connection:
        [(count,)] = connection.execute(query, [day]).fetchall()
    return int(count)


def days_shown(instance: dg.DagsterInstance) -> dict[str, dict[str, Any]]:
    """What the catalogue says of each day."""
    records = instance.fetch_materializations(pages(), limit=1000).records
    shown = [record.asset_materialization for record in records]
    return {str(one.partition): {name: held.value for name, held in one.metadata.items()} for one in shown if one}


def spoil(settings: Settings) -> None:
    """Make a blocking check fail: a row of the tables twice."""
    double_a_shipment(settings.layout.published)


def test_a_sync_ends_in_published_tables_and_again_harmless(settings, instance):
    first = run_sync(settings, instance=instance)
    assert first.read is not None
    assert first.read.progress.records == SHIPMENTS
    assert first.refreshed is not None
    assert first.refreshed.published
    assert published(settings) == SHIPMENTS

    second = run_sync(settings, instance=instance)
    assert second.refreshed is not None
    assert second.refreshed.rows == first.refreshed.rows
    assert published(settings) == SHIPMENTS
    assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.SUCCESS] * 2
    # nobody will look at the days of a run without a history, and a first sync has years of them
    assert instance.get_materialized_partitions(pages()) == set()

    again, record = recorded(settings)
    assert (record.run_id, record.purpose, record.source) == (first.run_id, "sync", "command line")
    assert (record.outcome, record.error, record.error_kind) == ("succeeded", None, None)
    assert record.phases.keys() == {"read", "load"}
    assert record.counts["records"] == SHIPMENTS
    assert record.counts["merged"] == sum(first.refreshed.merged.values())
    assert again.data_as_of is not None
    assert record.data_as_of == first.read.horizon <= again.data_as_of


def test_an_operator_sees_the_run_in_the_catalogue(settings, instance):
    run = run_backfill(settings, date(2026, 3, 3), date(2026, 3, 6), instance=instance)
    assert run.read is not None

    days = instance.get_materialized_partitions(pages())
    assert days == {"2026-03-03", "2026-03-04", "2026-03-05"}
    assert tags_of(instance, run.run_id) == ("command line", "backfill")
    by_day = days_shown(instance)
    assert {day: facts["records"] for day, facts in by_day.items()} == {day: changed_on(settings, day) for day in days}
    newest = by_day["2026-03-05"]
    assert sum(facts["records"] for facts in by_day.values()) == newest["records_of_run"] == run.read.progress.records
    assert len({facts["records"] for facts in by_day.values()}) > 1, "else the numbers may be those of the run"
    assert sum(facts["bytes"] for facts in by_day.values()) == pytest.approx(run.read.progress.bytes, abs=3)
    assert all(0 < facts["pages"] <= run.read.progress.pages for facts in by_day.values())
    assert newest["windows"] == list(run.read.window_ids)
    assert {"requests", "seconds", "horizon"} <= newest.keys() - by_day["2026-03-04"].keys()

    shipments = instance.get_latest_materialization_event(dg.AssetKey("shipments")).asset_materialization
    assert shipments.metadata["dagster/row_count"].value == run.read.progress.records
    quarantine = instance.get_latest_materialization_event(dg.AssetKey(["ops", "quarantine"])).asset_materialization
    assert quarantine.metadata["dagster/row_count"].value == 0
    assert shipments.metadata["data_as_of"].value == settings.start.timestamp(), "a day that was read covers no gap"
    assert shipments.metadata["rows_merged"].value == run.read.progress.records
    for relation in relations():
        assert instance.get_latest_materialization_event(tables.key(relation)) is not None

    keys = [
        dg.AssetCheckKey(pages(), coverage.NO_GAP),
        dg.AssetCheckKey(dg.AssetKey("shipments"), "shipments_have_unique_keys"),
    ]
    checked = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    assert [checked[key].status.value for key in keys] == ["FAILED", "SUCCEEDED"]  # the days before are a gap


def test_a_sync_needs_no_days_and_no_configuration(settings, instance):
    result = definitions.build(settings).resolve_job_def(jobs.SYNC_NOW).execute_in_process(instance=instance)
    assert result.success
    assert published(settings) == SHIPMENTS
    assert tags_of(instance, result.run_id) == ("ui", "sync")
    last = [entry.user_message for entry in instance.all_logs(result.run_id) if "succeeded:" in entry.user_message]
    assert re.fullmatch(
        r"sync succeeded: 300 shipments read, [\d,]+ rows merged, 0 quarantined.*; read \d+\.\d s, load \d+\.\d s; "
        r"data as of 2026-03-20 \d\d:\d\d:\d\d UTC; \d+\.\d s of processor time; "
        r"\d+\.\d s from the request to the start",
        "\n".join(last),
    )
    evaluated = instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    checked = [one.get_dagster_event().asset_check_evaluation_data for one in evaluated]
    on_pages = {one.check_name for one in checked if one.asset_key == pages()}
    assert on_pages == {coverage.NO_GAP, coverage.FRESH, coverage.CLOCKS, coverage.LAST_SYNC}
    assert {check.name for check in checks()} <= {one.check_name for one in checked}, "the UI shows what was asked when"


def test_whoever_selects_pages_and_tables_gets_each_table_once(settings, instance):
    built = definitions.build(settings)
    selected = [pages(), *map(tables.key, relations())]
    result = built.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance, asset_selection=selected, tags=dict(DAYS.tags)
    )
    made = Counter(event.asset_key for event in result.get_asset_materialization_events())
    assert made == Counter({pages(): 3, **dict.fromkeys(map(tables.key, relations()), 1)})
    assert 0 < published(settings) < SHIPMENTS


def test_days_that_were_read_without_a_history_are_shown_by_whoever_looks_first(make_settings, service_of_today, home):
    settings = make_settings(start_date=LATE_START)
    run_sync(settings, instance=without_history())
    days = {f"{LATE_START + timedelta(days=number)}" for number in range((TODAY - LATE_START).days + 1)}
    with dg.DagsterInstance.get() as instance:
        sensor = definitions.build(settings).resolve_sensor_def("coverage_is_watched")

        def look() -> list[dg.AssetMaterialization]:
            events = sensor.evaluate_tick(dg.build_sensor_context(instance=instance)).asset_events
            return [one for one in events if isinstance(one, dg.AssetMaterialization)]

        seen = look()
        assert {one.partition for one in seen} == days
        assert sum(int(str(one.metadata["records"].value)) for one in seen) == SHIPMENTS
        run_sync(settings)
        assert instance.get_materialized_partitions(pages()) == days
        assert look() == []


def test_a_run_without_days_says_what_to_choose(settings, instance):
    job = definitions.build(settings).resolve_job_def(jobs.BACKFILL)
    with pytest.raises(dg.Failure, match="choose days"):
        job.execute_in_process(instance=instance)


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (("2020-01-01", "2020-01-02"), r"2020-01-01 is before WMS_START_DATE \("),
        (("2026-03-05", "2026-03-02"), "end before they begin"),
    ],
)
def test_days_that_cannot_be_read_are_named_before_anything_is_read(settings, instance, sandbox, days, told):
    job = definitions.build(settings).resolve_job_def(jobs.BACKFILL)
    with pytest.raises(dg.Failure, match=told):
        job.execute_in_process(instance=instance, tags=dict(zip((RANGE_START, RANGE_END), days, strict=True)))
    assert not any("shipments" in one.path for one in sandbox.sandbox.requests)


def test_a_blocking_check_that_fails_publishes_nothing_and_fails_the_run(settings, instance):
    run_sync(settings, instance=instance)
    spoil(settings)
    before = settings.layout.published.stat()

    with pytest.raises(NotPublished, match="shipments_have_unique_keys") as refused:
        run_backfill(settings, date(2026, 3, 3), date(2026, 3, 6), instance=instance)
    assert refused.value.exit_code == 1
    assert settings.layout.published.stat() == before
    record = recorded(settings)[0]
    assert (record.purpose, record.outcome) == ("backfill 2026-03-03 to 2026-03-06", "failed")
    assert (record.error, record.error_kind) == (str(refused.value), "NotPublished")

    [run, *_] = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.FAILURE
    key = dg.AssetCheckKey(dg.AssetKey("shipments"), "shipments_have_unique_keys")
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.status.value == "FAILED"
    evaluation = record.event.dagster_event.asset_check_evaluation_data
    assert evaluation.severity == dg.AssetCheckSeverity.ERROR
    assert evaluation.metadata["offending_rows"].value == 1
    assert re.fullmatch(r"1 key of shipments is repeated or incomplete: \d+\.", evaluation.description)
    [row] = evaluation.metadata["sample"].records
    assert row.data["occurrences"] == "2"
    # the pages are read all the same
    assert "2026-03-03" in instance.get_materialized_partitions(pages())

    # the tables' step on its own refuses in the same way
    with pytest.raises(NotPublished, match="Nothing was published"):
        run_job(Operation(settings), jobs.TABLES, instance=instance)
    assert settings.layout.published.stat() == before

    # once it would pass, a load publishes what another run had merged; the next one has nothing new and says so
    twice = "select max(rowid) from shipments group by id having count(*) > 1"
    change(settings.layout.published, f"delete from shipments where rowid in ({twice})")
    mended, idle = (run_job(Operation(settings), jobs.TABLES, instance=instance) for _ in range(2))
    assert settings.layout.published.stat() != before
    event = instance.get_latest_materialization_event(dg.AssetKey("shipments"))
    [seen] = instance.fetch_observations(dg.AssetKey("shipments"), limit=5).records
    assert (event.run_id, seen.run_id) == (mended.run_id, idle.run_id)

    # and a rebuild makes sound tables from the pages
    rebuilt = run_rebuild(settings, instance=instance)
    assert rebuilt.refreshed is not None
    assert rebuilt.refreshed.rows["shipments"] == published(settings) == SHIPMENTS
    assert [(one.purpose, one.outcome) for one in recorded(settings)][:4] == [
        ("rebuild", "succeeded"),
        *[("loading the tables", "succeeded")] * 2,
        ("loading the tables", "failed"),
    ]
    assert tags_of(instance, rebuilt.run_id) == ("command line", "rebuild")
    event = instance.get_latest_materialization_event(dg.AssetKey("shipments"))
    assert event.run_id == rebuilt.run_id
    assert event.asset_materialization.metadata["dagster/row_count"].value == SHIPMENTS


def test_a_wrong_token_ends_the_run_with_the_message_and_without_the_token(make_settings, instance):
    secret = "a-token-that-is-wrong"
    settings = make_settings(api_token=secret)
    with pytest.raises(Unauthorized, match="refused the token") as refused:
        run_sync(settings, instance=instance)
    [record] = recorded(settings)
    assert (record.outcome, record.error_kind, record.data_as_of) == ("failed", "Unauthorized", None)
    assert record.error == str(refused.value)
    assert refused.value.exit_code == 2
    [run] = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.FAILURE
    history = "\n".join(str(entry) for entry in instance.all_logs(run.run_id))
    assert "WMS_API_TOKEN" in history
    assert "sync failed: read 0." in history

    # a sync is no run of assets, so the asset hears of it by a check
    key = dg.AssetCheckKey(pages(), coverage.LAST_SYNC)
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.status.value == "FAILED"
    told = record.event.dagster_event.asset_check_evaluation_data
    assert told.severity == dg.AssetCheckSeverity.ERROR
    assert "refused the token" in told.metadata["last_sync"].value
    run_sync(make_settings(), instance=instance)
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.status.value == "SUCCEEDED"
    assert secret not in history


def test_without_a_service_the_run_fails_with_what_to_set(make_settings, instance):
    with pytest.raises(SettingsError, match="WMS_BASE_URL is not set"):
        run_sync(make_settings(base_url=None), instance=instance)


def test_the_one_who_started_it_hears_of_progress_and_of_each_step(settings, instance):
    seen: list[Progress] = []
    operation = Operation(settings, watcher=seen.append)
    with logged() as heard:
        done = run_job(operation, jobs.BACKFILL, days=DAYS, instance=instance)
    assert operation.read is not None
    assert seen[-1] == operation.read.progress
    kept = [entry.user_message for entry in instance.all_logs(done.run_id)]
    assert [line for line in heard if "merged 1 of" in line] == [line for line in kept if "merged 1 of" in line] != []


@pytest.fixture
def slow_service(service_of_today: SandboxServer) -> SandboxServer:
    service_of_today.sandbox.intercept = lambda _: time.sleep(0.3)
    return service_of_today


def killed(settings: Settings, store: StateStore, home: Path, how: signal.Signals) -> Ended:
    """A sync in a process of its own, with a home that it makes, killed after its first page."""
    environment = {
        "PATH": "",
        "DAGSTER_HOME": home.name,
        "WMS_BASE_URL": str(settings.base_url),
        "WMS_API_TOKEN": TOKEN,
        "WMS_DATA_DIR": str(settings.data_dir),
        "WMS_START_DATE": settings.start_date.isoformat(),
        "WMS_PAGE_SIZE": "5",
    }
    with Command(sync_outright, environment, home.parent) as command:
        deadline = time.monotonic() + 60
        while not any(window.pages for window in store.windows()) and time.monotonic() < deadline:
            assert command.is_running, command.stderr
            time.sleep(0.05)
        command.send_signal(how)
        return command.ended(30)


def sync_outright() -> None:
    """Without the command line, which would say less of an interrupt."""
    run_sync(Settings.load())


def test_a_polite_kill_marks_the_run_and_the_next_goes_on(make_settings, slow_service, store, tmp_path, monkeypatch):
    settings, home = make_settings(page_size=5, start_date=LATE_START), tmp_path / "home"
    assert "KeyboardInterrupt" in killed(settings, store, home, signal.SIGTERM).stderr
    assert [one.outcome for one in recorded(settings)] == ["interrupted"]

    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.get() as instance:
        [run] = instance.get_runs()
        assert run.status in {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
    landed = sum(window.pages for window in store.windows())
    assert 0 < landed < SHIPMENTS // 5
    slow_service.sandbox.intercept = None
    run_sync(settings)
    assert published(settings) == SHIPMENTS


def test_a_run_that_was_killed_outright_is_marked_by_the_next(
    make_settings, slow_service, store, tmp_path, monkeypatch
):
    settings, home = make_settings(page_size=5, start_date=LATE_START), tmp_path / "home"
    assert killed(settings, store, home, signal.SIGKILL).returncode == -signal.SIGKILL
    slow_service.sandbox.intercept = None
    [record] = recorded(settings)
    assert record.outcome == "running"
    run_job(Operation(settings), jobs.TABLES)  # without a history, so it cannot know of that one
    assert [(one.outcome, one.error) for one in recorded(settings)] == [("succeeded", None), ("failed", KILLED)]

    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.get() as instance:
        assert not instance.telemetry_enabled
        [run] = instance.get_runs()
        assert run.status == dg.DagsterRunStatus.STARTED
        run_sync(settings)
        statuses = [one.status for one in instance.get_runs()]
        assert statuses == [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
        events = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
        assert [event.dagster_event and event.dagster_event.message for event in events] == [KILLED]
        assert {LATE_START.isoformat(), f"{datetime.now(UTC):%Y-%m-%d}"} <= instance.get_materialized_partitions(
            pages()
        )
    assert published(settings) == SHIPMENTS


def test_a_run_is_not_taken_for_dead_while_its_process_lives(settings, instance):
    job = definitions.build(settings).resolve_job_def("tables")
    run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    with RunRecords(settings.database_url) as records:
        records.started(run.run_id, LOADING, COMMAND_LINE)
        with FileLock(settings.layout).hold(LOADING, run_id=run.run_id):
            assert mark_dead(instance, settings) == []
            records.ended(run.run_id, "succeeded")
    assert mark_dead(instance, settings) == []  # it came to its end: what became of it is its own to say


def test_a_dead_run_of_another_history_is_left_to_that(settings, instance):
    with RunRecords(settings.database_url) as records:
        records.started("run-of-another-home", LOADING, COMMAND_LINE)
        assert mark_dead(instance, settings) == []
        assert [one.error for one in records.newest(5)] == [KILLED]


@pytest.mark.parametrize("spoiled", ["history", "history/runs.db"])
def test_a_home_that_cannot_be_used_is_named_and_the_failed_run_recorded(settings, monkeypatch, tmp_path, spoiled):
    home = prepare_home(tmp_path / "home")
    make_private((home / spoiled).parent)
    (home / spoiled).write_text("no history")
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    with pytest.raises(Inaccessible, match=re.escape(f"{home} cannot be used (")):
        run_sync(settings)
    with RunRecords(settings.database_url) as records:
        [record] = records.newest(5)
    assert (record.purpose, record.source, record.outcome) == ("sync", "command line", "failed")
    assert record.error_kind == "Inaccessible"


@pytest.mark.parametrize("spoiled", [f"empty-run-{dg.__version__}.db", "a table"])
def test_a_home_that_refuses_the_run_while_it_goes_on_is_named_and_the_failed_run_recorded(settings, home, spoiled):
    """As when its disk becomes full: nobody heard of such a run, unless it had come to its first step."""
    with dg.DagsterInstance.get():
        if spoiled == "a table":
            with closing(sqlite3.connect(home / "history" / "runs.db")) as database:
                database.execute("drop table run_tags")
        else:
            make_private(home / "history" / spoiled)
    with pytest.raises(Inaccessible, match=rf"{re.escape(str(home))}.* cannot be used \("):
        run_sync(settings)
    with RunRecords(settings.database_url) as records:
        [record] = records.newest(5)
    assert (record.purpose, record.outcome, record.error_kind) == ("sync", "failed", "Inaccessible")


@pytest.mark.parametrize("name", ["100%", "what?"])
def test_a_home_whose_name_dagster_would_take_for_another_is_refused(settings, monkeypatch, tmp_path, name):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / name))
    with pytest.raises(SettingsError, match="with % or"):
        run_sync(settings)
    assert list(tmp_path.glob("*%*")) + list(tmp_path.glob("what*")) == []
