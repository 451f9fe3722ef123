from cProfile import Profile
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pipelines.days import RANGE_END, RANGE_START
from pipelines.event_batch import log_shown
from pipelines.event_log import OPEN_FILES, FastSqliteEventLogStorage
from pipelines.home import HOME_VARIABLE
from pipelines.instance import prepare_home, without_history


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepared = prepare_home(tmp_path / "home")
    monkeypatch.setenv(HOME_VARIABLE, str(prepared))
    return prepared


def test_a_home_sends_no_telemetry_and_retries_no_run(home):
    with dg.DagsterInstance.get() as instance:
        assert not instance.telemetry_enabled
        assert not instance.run_retries_enabled
        assert instance.run_monitoring_enabled


def test_without_a_home_nothing_is_kept_and_nothing_is_sent():
    with without_history() as instance:
        assert instance.is_ephemeral
        assert not instance.telemetry_enabled


def test_a_configuration_of_the_operators_own_stays(tmp_path):
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    prepare_home(tmp_path)
    assert (tmp_path / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-01-01"))
def daily() -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster compares the class
    return dg.MaterializeResult(metadata={"rows": 1}, tags={"a": "tag"})


@dg.asset_check(asset=daily)
def looks_right() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


@dataclass(frozen=True)
class History:
    """What Dagster says of a run of a range of days, without names of runs and moments."""

    days: set[str]
    materialisations: list[tuple[str | None, object]]
    planned: int
    events: list[object]
    latest: str | None
    checks: list[object]
    last_run_is_this: bool


def history_of_a_range(instance: dg.DagsterInstance, last: str = "2026-04-10") -> History:
    job = dg.Definitions(assets=[daily], asset_checks=[looks_right]).resolve_implicit_global_asset_job_def()
    tags = {RANGE_START: "2026-01-01", RANGE_END: last}
    run = job.execute_in_process(instance=instance, tags=tags)
    materialised = [one.asset_materialization for one in instance.fetch_materializations(daily.key, limit=1000).records]
    events = [event.dagster_event_type for event in instance.all_logs(run.run_id)]
    key = dg.AssetCheckKey(daily.key, "looks_right")
    [check] = instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).values()
    return History(
        days=instance.get_materialized_partitions(daily.key),
        materialisations=[(one.partition, one.metadata["rows"].value) for one in materialised if one is not None],
        planned=events.count(dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED),
        events=list(events),
        latest=None if materialised[0] is None else materialised[0].partition,
        checks=[check.status],
        last_run_is_this=instance.get_asset_records([daily.key])[0].asset_entry.last_run_id == run.run_id,
    )


TABLE = dg.AssetKey("table")


@dg.op
def shows(context: dg.OpExecutionContext) -> None:
    """Logs what a load shows, in one batch: `seen` passes at first and then fails."""
    has_run = bool(context.instance.fetch_observations(TABLE, limit=1).records)
    log_shown(
        context,
        [
            dg.AssetCheckEvaluation(TABLE, "seen", passed=not has_run, metadata={"rows": 3}),
            dg.AssetCheckEvaluation(TABLE, "other", passed=True, severity=dg.AssetCheckSeverity.WARN),
            dg.AssetMaterialization(TABLE, metadata={"rows": 1}, tags={"a": "tag"}),
            dg.AssetObservation(TABLE, metadata={"rows": 2}),
            dg.AssetMaterialization(["another", "table"]),
        ],
    )


@dg.job
def load() -> None:
    shows()


def history_of_loads(instance: dg.DagsterInstance) -> list[object]:
    """What Dagster says of two runs that log a batch, without names of runs and moments."""
    runs = [load.execute_in_process(instance=instance).run_id for _ in range(2)]
    keys = [dg.AssetCheckKey(TABLE, name) for name in ("seen", "other")]
    of_checks = [instance.event_log_storage.get_asset_check_execution_history(key, limit=9) for key in keys]
    [record] = instance.get_asset_records([TABLE])
    shown = record.asset_entry.last_materialization
    assert shown is not None
    return [
        [[event.dagster_event_type for event in instance.all_logs(run)] for run in runs],
        [[(one.status, runs.index(one.run_id), one.partition) for one in history] for history in of_checks],
        [one.event.get_dagster_event().asset_check_evaluation_data.metadata for one in of_checks[0] if one.event],
        [one.event.get_dagster_event().message for one in of_checks[1] if one.event],
        [one.asset_materialization for one in instance.fetch_materializations(TABLE, limit=9).records],
        [one.asset_observation for one in instance.fetch_observations(TABLE, limit=9).records],
        sorted(key.to_user_string() for key in instance.get_asset_keys()),
        (record.asset_entry.last_run_id == runs[-1], shown.run_id == runs[-1], shown.asset_materialization),
    ]


def test_the_faster_storage_remembers_what_dagsters_own_remembers(home, tmp_path):
    with dg.DagsterInstance.get() as instance:
        assert isinstance(instance.event_log_storage, FastSqliteEventLogStorage)
        fast, fast_loads = history_of_a_range(instance), history_of_loads(instance)
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        own, own_loads = history_of_a_range(instance), history_of_loads(instance)
    assert fast == own
    assert len(fast.days) == 100
    assert fast_loads == own_loads


def test_a_home_can_be_opened_by_dagsters_own_storage(home):
    with dg.DagsterInstance.get() as instance:
        before = history_of_a_range(instance)
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with dg.DagsterInstance.get() as instance:
        assert instance.get_materialized_partitions(daily.key) == before.days


def test_more_runs_than_open_files(home):
    with dg.DagsterInstance.get() as instance:
        runs = [history_of_a_range(instance, "2026-01-03") for _ in range(OPEN_FILES)]
        assert [len(run.days) for run in runs] == [3] * OPEN_FILES
        assert len(list((home / "history" / "runs").glob("*.db"))) == OPEN_FILES + 1  # the index is one of them


def test_a_home_that_is_made_is_opened_without_dagsters_migrations(home):
    with dg.DagsterInstance.get() as instance:
        assert instance.get_runs(limit=1) == []
    profile = Profile()
    with profile.runcall(dg.DagsterInstance.get) as instance:
        assert instance.get_runs(limit=1) == []
        assert list(instance.all_instigator_state()) == []
    ran = {getattr(one.code, "co_filename", "") for one in profile.getstats()}
    assert any("sqlalchemy" in file for file in ran)
    assert [file for file in ran if "alembic" in file] == []
