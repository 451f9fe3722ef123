import dagster as dg
import pytest

from pipelines import definitions, tables
from wms_sync.analytics.checks import checks
from wms_sync.catalogue import history_tables, marts, ops_tables, relations
from wms_sync.catalogue import tables as catalogue_tables
from wms_sync.errors import SettingsError


@pytest.fixture
def graph(settings):
    return definitions.build(settings).resolve_asset_graph()


def test_the_code_location_loads_without_a_service(make_settings):
    built = definitions.build(make_settings(base_url=None, api_token=None))
    dg.Definitions.validate_loadable(built)


def test_a_wrong_setting_is_named_when_the_code_location_loads(monkeypatch):
    monkeypatch.setenv("WMS_SCHEDULE_TIMEZONE", "Middle/Earth")
    with pytest.raises(SettingsError, match="WMS_SCHEDULE_TIMEZONE"):
        definitions.defs()


def test_there_is_an_asset_for_the_pages_for_each_table_and_mart_and_for_each_kind_of_master_data(graph):
    wanted = {tables.key(relation) for relation in (*catalogue_tables(), *ops_tables(), *history_tables(), *marts())}
    pushed = {dg.AssetKey(["master_data", kind]) for kind in ("location_tags", "retailers", "products")}
    assert set(graph.materializable_asset_keys) == wanted | pushed | {dg.AssetKey("shipment_pages")}


def test_only_the_pages_are_partitioned_and_a_range_of_days_is_one_run(graph):
    partitioned = [key for key in graph.materializable_asset_keys if graph.get(key).is_partitioned]
    assert partitioned == [dg.AssetKey("shipment_pages")]
    assert graph.get(partitioned[0]).backfill_policy == dg.BackfillPolicy.single_run()


def test_assets_have_owners_and_tags_to_find_them_by(make_settings):
    graph = definitions.build(make_settings(asset_owners="team:data, ops@example.com")).resolve_asset_graph()
    assert {tuple(graph.get(key).owners) for key in graph.materializable_asset_keys} == {
        ("team:data", "ops@example.com")
    }
    tags = {key.to_user_string(): graph.get(key).tags for key in graph.materializable_asset_keys}
    assert tags["packages"].items() >= {"wms/layer": "tables", "wms/root": "shipments"}.items()
    assert tags["pii/order_addresses"]["wms/personal"] == "yes"
    layers = {tag["wms/layer"] for tag in tags.values()}
    assert layers == {"raw", "tables", "history", "ops", "marts", "master_data"}


@pytest.mark.parametrize("relation", relations(), ids=lambda relation: f"{relation.schema}.{relation.name}")
def test_every_column_of_every_table_is_described(graph, relation):
    node = graph.get(tables.key(relation))
    schema = node.metadata["dagster/column_schema"].value
    assert [column.name for column in schema.columns] == list(relation.column_names)
    assert all(column.description for column in schema.columns)
    assert not {column.type for column in schema.columns} & {"", "any"}
    assert "sync_now" in node.description, "it says which job reads"
    assert node.description


def test_tables_stand_behind_the_pages_and_marts_behind_tables(graph):
    for table in (*catalogue_tables(), *ops_tables(), *history_tables()):
        assert graph.get(tables.key(table)).parent_keys == {dg.AssetKey("shipment_pages")}
    for mart in marts():
        assert graph.get(tables.key(mart)).parent_keys
        assert dg.AssetKey("shipment_pages") not in graph.get(tables.key(mart)).parent_keys
    overview = graph.get(dg.AssetKey(["marts", "shipment_overview"])).parent_keys
    assert overview >= {dg.AssetKey("shipments"), dg.AssetKey("orders"), dg.AssetKey("retailers")}


def test_days_of_the_pages_are_read_and_then_loaded_in_one_process(settings):
    job = definitions.build(settings).resolve_job_def("backfill")
    ops = {op.name for op in job.all_node_defs if isinstance(op, dg.OpDefinition)}
    assert ops == {"read_days", "coverage"}
    assert job.executor_def.name == "in_process"


def test_coverage_is_checked_on_the_pages(graph):
    assert {key.name for key in graph.asset_check_keys if key.asset_key == dg.AssetKey("shipment_pages")} == {
        "coverage_has_no_gap",
        "sync_cursor_is_fresh",
        "clocks_agree",
        "last_sync_succeeded",
    }


def test_every_check_of_the_library_is_an_asset_check_that_blocks_when_it_should(graph):
    for check in checks():
        [key] = [key for key in graph.asset_check_keys if key.name == check.name]
        node = graph.get(key)
        assert node.blocking == check.blocking
        assert node.description == check.description


def test_runs_that_end_badly_are_recorded_whether_or_not_there_is_a_channel(settings):
    named = {sensor.name for sensor in definitions.build(settings).sensors or []}
    assert {"alerts_are_sent", "failed_run_alerts", "nights_are_retried", "dead_runs_are_marked"} <= named
