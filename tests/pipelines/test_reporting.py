"""What a command leaves in the catalogue of `DAGSTER_HOME`: commands are no runs of Dagster."""

from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from tests.cli.conftest import LATE_START
from tests.pipelines.conftest import rows_of_days
from tests.running import run_sync
from wms_sync.catalogue import relations
from wms_sync_pipelines import asset_keys, coverage, definitions, jobs, tables
from wms_sync_pipelines.home import HOME_VARIABLE

SHIPMENTS = 300


@pytest.fixture
def settings(make_settings):
    return make_settings(start_date=LATE_START)


def days_until_today() -> set[str]:
    today = datetime.now(UTC).date()
    return {f"{LATE_START + timedelta(days=number)}" for number in range((today - LATE_START).days + 1)}


def test_a_command_is_shown_without_a_run(type_in, settings, home):
    def latest(check: str) -> dg.AssetCheckEvaluation:
        key = dg.AssetCheckKey(asset_keys.changes(settings), check)
        record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
        assert record.event is not None
        return record.event.get_dagster_event().asset_check_evaluation_data

    assert type_in("sync").exit_code == 0
    with dg.DagsterInstance.get() as instance:
        shown = [instance.get_latest_materialization_event(tables.key(settings, relation)) for relation in relations()]
        assert None not in shown
        rows = rows_of_days(settings, instance)
        assert ({*rows}, sum(rows.values())) == (days_until_today(), SHIPMENTS)
        assert (latest(coverage.NO_GAP).passed, instance.get_runs()) == (True, [])

        assert type_in("sync", token="a-wrong-token").exit_code == 2
        last = latest(coverage.LAST_SYNC)
    assert (last.passed, "refused the token" in str(last.description)) == (False, True)


def test_a_push_is_shown_if_the_home_works(type_in, home, tmp_path):
    (tmp_path / "tags.csv").write_text("name,color\nfragile,red1\nwrong,no-colour\n")
    history = home / "history"
    history.write_text("no folder")
    done = type_in("push", "location-tags", "tags.csv")
    unreported = f"is not reported to the catalogue of {HOME_VARIABLE}"
    assert (done.exit_code, unreported in done.output) == (3, True), done.output

    history.unlink()
    assert type_in("push", "location-tags", "tags.csv").exit_code == 3
    with dg.DagsterInstance.get() as instance:
        records = instance.fetch_materializations(dg.AssetKey(["master_data", "location_tags"]), limit=5).records
    [facts] = [made.metadata for record in records if (made := record.asset_materialization)]
    assert [facts[name].value for name in ("pushed", "rows_already_there", "rows_rejected")] == [True, 1, 1]


def test_the_upkeep_shows_days_of_commands_without_home(settings, make_settings, service_of_today, instance):
    """As when the UI is opened for the first time, beside a data folder; it starts nothing. A day has failed."""
    sensor, follows = map(definitions.build(settings).resolve_sensor_def, ("upkeep", "tables_follow"))

    def ticks() -> list[str | None]:
        events = sensor.evaluate_tick(dg.build_sensor_context(instance=instance)).asset_events
        for event in events:
            instance.report_runless_asset_event(event)
        assert len({event.check_name for event in events if isinstance(event, dg.AssetCheckEvaluation)}) in {0, 5}
        return [event.partition for event in events if isinstance(event, dg.AssetMaterialization)]

    refused = make_settings(start_date=LATE_START, api_token="a-wrong-token")
    backfill = definitions.build(refused).resolve_job_def(jobs.BACKFILL_DAYS)
    backfill.execute_in_process(instance=instance, partition_key=f"{LATE_START}", raise_on_error=False)
    assert ticks() == [], "nothing was read yet"
    run_sync(settings)
    assert set(ticks()) == days_until_today()
    assert ticks() == []
    assert follows.evaluate_tick(dg.build_sensor_context(instance=instance)).run_requests == []
