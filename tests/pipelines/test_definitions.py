import dagster as dg
import pytest

from pipelines import definitions, jobs, tables
from wms_sync.catalogue import history_tables, marts, ops_tables, relations
from wms_sync.catalogue import tables as catalogue_tables
from wms_sync.errors import SettingsError
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import checks

CHANGES, DAYS = dg.AssetKey(["raw", "changed_shipments"]), dg.AssetKey(["raw", "shipment_days"])


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.load(_env_file=None)


@pytest.fixture(scope="module")
def built(settings) -> dg.Definitions:
    return definitions.build(settings)


@pytest.fixture(scope="module")
def graph(built):
    return built.resolve_asset_graph()


def test_every_column_of_every_table_is_described(settings, graph):
    for relation in relations():
        node = graph.get(tables.key(settings, relation))
        schema = node.metadata["dagster/column_schema"].value
        assert [column.name for column in schema.columns] == list(relation.column_names), relation.place
        assert all(column.description for column in schema.columns), relation.place
        assert not {column.type for column in schema.columns} & {"", "any"}, relation.place
        assert "nightly_sync" in node.description, "it says which job reads"


def test_the_code_location_loads_without_a_service(make_settings):
    built = definitions.build(make_settings(base_url=None, api_token=None))
    dg.Definitions.validate_loadable(built)


def test_a_wrong_setting_is_named_at_loading(monkeypatch):
    monkeypatch.setenv("WMS_SCHEDULE_TIMEZONE", "Middle/Earth")
    with pytest.raises(SettingsError, match="WMS_SCHEDULE_TIMEZONE"):
        definitions.defs()


def test_there_is_an_asset_for_each_thing(settings, graph):
    made = (*catalogue_tables(), *ops_tables(), *history_tables(), *marts())
    wanted = {tables.key(settings, relation) for relation in made}
    pushed = {dg.AssetKey(["master_data", kind]) for kind in ("location_tags", "retailers", "products")}
    assert set(graph.materializable_asset_keys) == wanted | pushed | {CHANGES, DAYS}


def test_every_key_is_its_group_and_a_name(graph):
    for key in graph.materializable_asset_keys:
        group, _ = key.path
        assert graph.get(key).group_name == group
        assert graph.get(key).kinds


def test_every_key_begins_with_the_instance(make_settings, graph):
    named = definitions.build(make_settings(instance="north")).resolve_asset_graph()
    assert {key.with_prefix("north") for key in graph.get_all_asset_keys()} == set(named.get_all_asset_keys())
    assert {check.asset_key for check in named.asset_check_keys} <= set(named.get_all_asset_keys())


def test_only_days_are_partitioned(graph):
    partitioned = [key for key in graph.materializable_asset_keys if graph.get(key).is_partitioned]
    assert partitioned == [DAYS]
    assert graph.get(partitioned[0]).backfill_policy == dg.BackfillPolicy.single_run()


def test_assets_have_owners_and_tags(make_settings):
    graph = definitions.build(make_settings(asset_owners="team:data, ops@example.com")).resolve_asset_graph()
    assert {tuple(graph.get(key).owners) for key in graph.materializable_asset_keys} == {
        ("team:data", "ops@example.com")
    }
    tags = {key.to_user_string(): graph.get(key).tags for key in graph.materializable_asset_keys}
    assert tags["main/packages"].items() >= {"wms/layer": "tables", "wms/root": "shipments"}.items()
    assert tags["pii/order_addresses"]["wms/personal"] == "yes"
    layers = {tag["wms/layer"] for tag in tags.values()}
    assert layers == {"raw", "tables", "history", "ops", "marts", "master_data"}


def test_tables_follow_reads_and_marts_follow_tables(settings, graph):
    for table in (*catalogue_tables(), *ops_tables(), *history_tables()):
        assert graph.get(tables.key(settings, table)).parent_keys == {CHANGES, DAYS}
    for mart in marts():
        assert graph.get(tables.key(settings, mart)).parent_keys
        assert not {CHANGES, DAYS} & graph.get(tables.key(settings, mart)).parent_keys
    overview = graph.get(dg.AssetKey(["marts", "shipment_overview"])).parent_keys
    assert overview >= {dg.AssetKey(["main", name]) for name in ("shipments", "orders", "retailers")}


def test_the_night_and_a_backfill_are_asset_jobs(settings, built):
    night = built.resolve_job_def(jobs.NIGHTLY_SYNC)
    made = {tables.key(settings, relation) for relation in relations()}
    assert night.asset_layer.executable_asset_keys == {CHANGES} | made
    assert night.executor_def.name == "in_process"
    assert built.resolve_job_def(jobs.BACKFILL_DAYS).asset_layer.executable_asset_keys == {DAYS}
    assert built.resolve_job_def(jobs.REBUILD_TABLES).asset_layer.executable_asset_keys == made


def test_every_check_is_an_asset_check(graph):
    at_a_mart: dict[str, dg.AssetKey] = {}
    for check in checks():
        [key] = [key for key in graph.asset_check_keys if key.name == check.name]
        node = graph.get(key)
        assert (node.blocking, node.description) == (check.blocking, check.description)
        at_a_mart |= {check.name: key.asset_key} if key.asset_key.path[0] == "marts" else {}
    assert at_a_mart["every_shipment_is_in_the_timeline_once"] == dg.AssetKey(["marts", "shipment_timeline"])


def test_every_sensor_is_on_from_the_start(built):
    sensors = {sensor.name: sensor for sensor in built.sensors or []}
    assert sensors.keys() == {
        "alerts", "default_automation_condition_sensor", "master_data_files", "night_retries", "upkeep"
    }  # fmt: skip
    assert {sensor.default_status for sensor in sensors.values()} == {dg.DefaultSensorStatus.RUNNING}
