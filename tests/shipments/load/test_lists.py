"""The lists of batches name what each load brought; who loads the Parquet files by them has the published tables."""

from __future__ import annotations

import json
from dataclasses import replace

import duckdb
import pytest

from tests.conftest import FEWER
from tests.oracle import differing_rows
from tests.shipments.read.test_field_selection import refuse
from tests.test_sync import first_synced, synced
from wms_sandbox.app import Sandbox
from wms_sync.catalogue import tables
from wms_sync.layout import LOADS
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.upkeep.forget import forget

DERIVED = {"_missing_since", "timezone"}
"""Columns that the load fills, not the Parquet files."""
NEWER = """
with occurrences as (
    select
        {key} as key, _window_id, _page, _extracted_at, {version} as version,
        _window_id in (select unnest($looked)) as looked
    from read_parquet($root, union_by_name = true)
)
select key, _window_id, _page
from (select *, max(_extracted_at) filter (where looked) over (partition by key) as last_looked from occurrences)
where last_looked is null or _extracted_at >= last_looked
qualify row_number() over (
    partition by key order by version desc, _extracted_at desc, looked desc, _window_id desc, _page desc
) = 1
"""


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(replace(FEWER, shipments=60))
    return in_process


def lists(bench):
    return [json.loads(path.read_bytes()) for path in sorted((bench.layout.root / LOADS).glob("*.json"))]


def windows_of(listed):
    return {one["window_id"] for one in listed["windows"]}


def assert_loaded_elsewhere_equals_published(bench):
    """Load the files as docs/how-to/load-elsewhere.md says, where no window omits anything, and compare each table."""
    found = lists(bench)
    begun = max(place for place, one in enumerate(found) if one["starts_over"])
    current = {window["window_id"]: window for one in found[begun:] for window in one["windows"]}
    about = next(one["about"] for one in reversed(found) if one["about"])
    looked = [window for window, one in current.items() if one["reason"] in {"audit", "backfill"}]
    compared = 0
    with duckdb.connect() as elsewhere:
        elsewhere.execute("set timezone = 'UTC'")
        elsewhere.execute(f"attach '{bench.layout.published}' as published (read_only)")
        for one in (one for one in tables() if one.schema == "main"):
            root = about["tables"][about["tables"][one.slug]["root"]]
            files, of_root = (
                [
                    f"{bench.layout.parquet}/{slug}/{name}"
                    for window in current.values()
                    for name in window["files"].get(slug, [])
                ]
                for slug in (one.slug, about["tables"][one.slug]["root"])
            )
            if not files:
                continue
            dated = f"coalesce({root['newer']}, _extracted_at - interval 10 minute)"
            version = dated if root["newer"] else "_extracted_at"
            winners = NEWER.format(key=root["keys"][0], version=version)
            columns = ", ".join(name for name in about["tables"][one.slug]["columns"] if name not in DERIVED)
            root_key = about["tables"][one.slug]["root_key"]
            elsewhere.execute(
                f"create or replace temp table loaded as select {columns} "
                f"from read_parquet($files, union_by_name = true) as batch semi join ({winners}) as winners "
                f"on batch.{root_key} = winners.key and batch._window_id = winners._window_id "
                "and batch._page = winners._page",
                {"files": files, "root": of_root, "looked": looked},
            )
            published = f"select {columns} from published.{one.qualified}"
            assert differing_rows(elsewhere, "from loaded", published) == 0, one.slug
            compared += 1
    assert compared > 15


def test_who_loads_by_the_lists_has_the_published_tables(bench, sandbox):
    bench.settings = bench.settings.model_copy(update={"include_addresses": True})
    read, _ = first_synced(bench, sandbox)
    [first] = lists(bench)
    assert first["starts_over"]
    assert windows_of(first) >= set(read.window_ids)
    assert {slug: one["columns"].keys() for slug, one in first["about"]["tables"].items()} == {
        one.slug: dict.fromkeys(one.column_names).keys() for one in tables()
    }
    sandbox.sandbox.advance(seconds=7200, changed=40, new=5, packages_removed=12, orders=20)
    sandbox.sandbox.advance(seconds=60)
    _, refreshed = synced(bench)
    _, second = lists(bench)
    assert not second["starts_over"]
    assert windows_of(second) == set(refreshed.windows)
    assert second["about"] is None  # as the first says
    assert_loaded_elsewhere_equals_published(bench)

    newest = max((bench.layout.root / LOADS).iterdir())
    written = newest.read_bytes()
    newest.unlink()  # as after a kill between publishing and writing
    refresh(bench.run)
    assert windows_of(json.loads(newest.read_bytes())) == windows_of(json.loads(written))
    assert len(lists(bench)) == 2  # and a load that merges nothing leaves no list

    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        ((order,),) = connection.execute("select min(order_id) from pii.order_addresses").fetchall()
    forget(bench.run, [order])
    assert lists(bench) == []
    assert rebuild(bench.run).published
    [rebuilt] = lists(bench)
    assert rebuilt["starts_over"]
    assert windows_of(rebuilt) == windows_of(first) | windows_of(second)
    assert 0 < persons(rebuilt) < persons(first) + persons(second)

    assert not any(one["omitted"] or one["omitted_sets"] for one in rebuilt["windows"])
    newest = max((bench.layout.root / LOADS).iterdir())
    newest.write_bytes(newest.read_bytes()[:9])
    refuse(sandbox, "fields:packages.items", "fields:warehouse")
    sandbox.sandbox.advance(seconds=7200, changed=20)
    sandbox.sandbox.advance(seconds=60)
    _, refreshed = synced(bench)  # a list that cannot be read stops no load, which begins anew
    [anew] = lists(bench)
    assert anew["starts_over"]
    assert windows_of(anew) == windows_of(rebuilt) | set(refreshed.windows)
    for omitting in (window for window in anew["windows"] if window["window_id"] in refreshed.windows):
        assert "package_items" in omitting["omitted_sets"]
        assert "name" in omitting["omitted"]["warehouses"]


def persons(listed) -> int:
    return sum(one["rows"].get("pii_order_addresses", 0) for one in listed["windows"])
