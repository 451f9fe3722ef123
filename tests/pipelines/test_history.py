"""Old runs go, and with them their files; what the catalogue shows of tables and days stays."""

from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from pipelines.days import RANGE_END, RANGE_START
from pipelines.history import prune
from tests.pipelines.test_instance import daily, home, looks_right

__all__ = ["home"]
LATER = datetime.now(UTC) + timedelta(days=8)


@dg.asset
def table() -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster compares the class
    return dg.MaterializeResult(metadata={"rows": 7})


def run(instance: dg.DagsterInstance, asset: dg.AssetsDefinition, first: str = "", last: str = "") -> str:
    definitions = dg.Definitions(assets=[daily, table], asset_checks=[looks_right])
    job = definitions.resolve_implicit_global_asset_job_def()
    tags = {RANGE_START: first, RANGE_END: last} if first else {}
    keys = [asset.key]
    return job.execute_in_process(instance=instance, tags=tags, asset_selection=keys).run_id


@pytest.fixture
def nights(home) -> dict[str, str]:
    """Three nights, each of which read its day and the one before, a backfill that stays the newest, and one table."""
    with dg.DagsterInstance.get() as instance:
        return {
            "backfill": run(instance, daily, "2026-01-01", "2026-01-05"),
            "table": run(instance, table),
            "first": run(instance, daily, "2026-01-05", "2026-01-06"),
            "second": run(instance, daily, "2026-01-06", "2026-01-07"),
            "third": run(instance, daily, "2026-01-06", "2026-01-07"),
        }


def test_old_runs_go_and_the_catalogue_does_not_go_blank(home, nights):
    with dg.DagsterInstance.get() as instance:
        key = dg.AssetCheckKey(daily.key, "looks_right")
        [check_before] = instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).values()
        days_before = instance.get_materialized_partitions(daily.key)
        assert {path.name for path in (home / "storage").iterdir()} >= set(nights.values())
        assert prune(instance, 7) == 0, "none is old"
        assert prune(instance, None, LATER) == 0, "switched off"
        assert prune(instance, 7, LATER) == 5
        assert prune(instance, 7, LATER) == 0
        assert instance.get_runs() == []
    with dg.DagsterInstance.get() as instance:  # what another process sees
        assert instance.get_materialized_partitions(daily.key) == days_before
        assert {path.name for path in (home / "history" / "runs").iterdir()} <= {
            "index.db",
            "index.db-shm",
            "index.db-wal",
        }
        assert {path.name for path in (home / "storage").iterdir()}.isdisjoint(nights.values())
        kept = instance.fetch_materializations(daily.key, limit=100).records
        assert sorted((one.partition_key, one.run_id) for one in kept) == [
            *((f"2026-01-{day:02d}", nights["backfill"]) for day in range(1, 5)),
            ("2026-01-05", nights["first"]),
            ("2026-01-06", nights["third"]),
            ("2026-01-07", nights["third"]),
        ]
        latest = instance.get_latest_materialization_event(table.key)
        assert latest is not None
        assert latest.asset_materialization is not None
        assert latest.asset_materialization.metadata["rows"].value == 7
        [check] = instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).values()
        assert check == check_before
        assert instance.get_asset_records([table.key])[0].asset_entry.last_run_id == nights["table"]


def test_a_run_in_progress_stays_however_old_it_is(home, nights):
    with dg.DagsterInstance.get() as instance:
        definitions = dg.Definitions(assets=[table])
        begun = instance.create_run_for_job(definitions.resolve_implicit_global_asset_job_def())
        instance.report_run_canceling(begun)
        going_on = begun.run_id
        prune(instance, 7, LATER)
        assert [one.run_id for one in instance.get_runs()] == [going_on]
        assert instance.all_logs(going_on)


def test_the_next_run_of_a_pruned_history_is_as_any_other(home, nights):
    with dg.DagsterInstance.get() as instance:
        prune(instance, 7, LATER)
        again = run(instance, daily, "2026-01-07", "2026-01-08")
        assert instance.get_materialized_partitions(daily.key) == {f"2026-01-{day:02d}" for day in range(1, 9)}
        assert [one.run_id for one in instance.get_runs()] == [again]
