"""What Dagster shows of this code location: assets, jobs, checks, sensors, and what the docs say of them."""

import re
from pathlib import Path

import dagster as dg
import pytest

from tests.test_conventions import DOCS
from tests.test_docs import DOCS as FOLDER, rows
from wms_sync.catalogue import marts, relations, stored_tables
from wms_sync.errors import SettingsError
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import checks
from wms_sync_pipelines import definitions, tables


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.load(_env_file=None)


@pytest.fixture(scope="module")
def built(settings) -> dg.Definitions:
    return definitions.build(settings)


@pytest.fixture(scope="module")
def graph(built):
    return built.resolve_asset_graph()


def test_each_table_says_what_it_has_and_where_it_is(settings, graph):
    for relation in relations():
        metadata = graph.get(tables.key(settings, relation)).metadata
        assert [column.name for column in metadata["dagster/column_schema"].value.columns if column.description] == [
            *relation.column_names
        ], relation.place
        assert metadata["dagster/table_name"] == f"analytics.{relation.schema}.{relation.name}"
        assert metadata["dagster/uri"] == settings.layout.published.absolute().as_uri()
        if relation.schema == "marts":
            [file] = metadata["dagster/code_references"].code_references
            assert f"view marts.{relation.name} as" in Path(file.file_path).read_text(encoding="utf-8")


def test_a_wrong_setting_is_named_at_loading(monkeypatch):
    monkeypatch.setenv("WMS_SCHEDULE_TIMEZONE", "Middle/Earth")
    with pytest.raises(SettingsError, match="WMS_SCHEDULE_TIMEZONE"):
        definitions.defs()


def test_what_can_be_started_is_in_the_docs_and_nothing_else(settings, built, graph):
    assets = {
        key.to_user_string()
        for key in set(graph.materializable_asset_keys) - {tables.key(settings, relation) for relation in relations()}
    }
    all_jobs = {job.name: job.executor_def.name for job in built.resolve_all_job_defs()}
    assert {*all_jobs.values()} == {"in_process"}
    sensors, schedules = ({found.name for found in kind} for kind in (built.sensors, built.schedules))
    assert {sensor.default_status for sensor in built.sensors} == {dg.DefaultSensorStatus.RUNNING}
    started = {name for name in {*assets, *all_jobs, *sensors, *schedules} if not name.startswith("__")}
    assert [name for name in sorted(started) if f"`{name}`" not in DOCS] == []
    described = list(rows(FOLDER / "how-to" / "dagster.md"))
    assert {row[0].strip("`") for head, row in described if head[0] == "sensor"} == sensors
    starts = {name for head, row in described if head[0] == "you start" for name in re.findall(r"`([^`]+)`", row[0])}
    assert starts <= all_jobs.keys() | schedules | {key.to_user_string() for key in graph.get_all_asset_keys()}


def test_assets_have_an_instance_owners_and_tags(settings, graph):
    others = Settings.load(_env_file=None, instance="north", asset_owners="team:data, ops@example.com")
    named = definitions.build(others).resolve_asset_graph()
    assert {key.with_prefix("north") for key in graph.get_all_asset_keys()} == set(named.get_all_asset_keys())
    assert {check.asset_key for check in named.asset_check_keys} <= set(named.get_all_asset_keys())
    assert {tuple(named.get(key).owners) for key in named.materializable_asset_keys} == {
        ("team:data", "ops@example.com")
    }
    views = {tables.key(settings, mart) for mart in marts()}
    groups = {key: graph.get(key).group_name for key in graph.materializable_asset_keys}
    assert groups == {key: "marts" if key in views else key.path[0] for key in groups}
    tags = {key.to_user_string(): graph.get(key).tags for key in groups}
    assert tags["main/packages"].items() >= {"wms/layer": "tables", "wms/root": "shipments"}.items()
    assert tags["pii/order_addresses"]["wms/personal"] == "yes"


def test_tables_follow_reads_and_marts_follow_tables(settings, graph):
    sources = {relation: graph.get(tables.key(settings, relation)).parent_keys for relation in relations()}
    changes = dg.AssetKey(["raw", "changed_shipments"])
    assert {relation for relation, keys in sources.items() if keys == {changes}} == set(stored_tables())
    assert all(keys and changes not in keys for relation, keys in sources.items() if relation in marts())
    assert graph.get(dg.AssetKey(["marts", "shipments"])).parent_keys >= {
        dg.AssetKey(place) for place in (["main", "shipments"], ["main", "orders"], ["marts", "packages"])
    }


def test_every_check_is_an_asset_check(graph):
    nodes = {key.name: graph.get(key) for key in graph.asset_check_keys}
    expected = {check.name: (check.blocking, check.description) for check in checks()}
    assert {name: (nodes[name].blocking, nodes[name].description) for name in expected} == expected
    assert nodes["each_time_has_one_offset_in_a_time_zone"].key.asset_key == dg.AssetKey(["marts", "shipments"])
