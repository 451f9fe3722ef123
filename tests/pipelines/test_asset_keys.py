"""Several instances in one Dagster: no asset is another one's, and each tells its own runs from the other's."""

from collections.abc import Iterator

import dagster as dg
import pytest

from pipelines import asset_keys, definitions
from wms_sync.settings import Settings


@pytest.fixture(autouse=True)
def _unnamed_again() -> Iterator[None]:
    yield
    asset_keys.name_instance(None)


def keys(instance: str | None) -> set[dg.AssetKey]:
    built = definitions.build(Settings.load(_env_file=None, base_url=None, instance=instance))
    graph = built.resolve_asset_graph()
    checked = {check.asset_key for check in graph.asset_check_keys}
    assert checked <= set(graph.get_all_asset_keys())
    assert built.resolve_all_job_defs()
    return set(graph.get_all_asset_keys())


def test_the_name_of_the_instance_stands_before_every_key():
    usual = keys(None)
    assert {key.with_prefix("north") for key in usual} == keys("north")
    assert keys("north").isdisjoint(keys("south"))
    assert keys(None) == usual


def test_a_run_is_of_the_instance_whose_code_location_or_command_started_it():
    asset_keys.name_instance(None)
    assert not asset_keys.is_of_another({asset_keys.LOCATION: "whatever"})
    assert (asset_keys.location_tags(), asset_keys.command_line_tags()) == ({}, {})
    asset_keys.name_instance("north")
    for ours in (asset_keys.location_tags(), asset_keys.command_line_tags()):
        assert ours
        assert not asset_keys.is_of_another(ours)
    assert asset_keys.is_of_another({asset_keys.LOCATION: "south"})
    assert asset_keys.is_of_another({asset_keys.INSTANCE: "south"})
    assert asset_keys.is_of_another({})
