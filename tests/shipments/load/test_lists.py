"""The lists of batches name what each load brought; who loads the Parquet files by them has the published tables."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import duckdb

from tests.conftest import FEWER, queried
from tests.oracle import differing_rows
from tests.shipments.read.test_field_selection import refuse
from tests.test_sync import first_synced, synced
from wms_sync.catalogue import tables
from wms_sync.layout import LOADS
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.upkeep.forget import forget

SERVICE = replace(FEWER, shipments=60)
DERIVED = {"_missing_since", "timezone"}
"""Columns that the load fills, not the Parquet files."""
NEWER = """
select {key} as key, _window_id, _page
from read_parquet($root, union_by_name = true)
qualify row_number() over (
    partition by key order by {version} desc, _extracted_at desc, _window_id desc, _page desc
) = 1
"""


def lists(bench):
    return [json.loads(path.read_bytes()) for path in sorted((bench.layout.root / LOADS).glob("*.json"))]


def windows_of(listed):
    return {one["window_id"] for one in listed["windows"]}


def assert_loaded_elsewhere_equals_published(bench, found):
    """Load the files as docs/how-to/load-elsewhere.md says, for windows of syncs that omit nothing."""
    windows = {window["window_id"]: window for listed in found for window in listed["windows"]}
    about = found[0]["about"]["tables"]
    files: dict[str, list[str]] = defaultdict(list)
    for window in windows.values():
        for slug, names in window["files"].items():
            files[slug] += [f"{bench.layout.parquet}/{slug}/{name}" for name in names]
    compared = [table for table in tables() if table.schema == "main" and table.slug in files]
    assert len(compared) > 15
    with duckdb.connect() as elsewhere:
        elsewhere.execute("set timezone = 'UTC'")
        elsewhere.execute(f"attach '{bench.layout.published}' as published (read_only)")
        for table in compared:
            listed = about[table.slug]
            root = about[listed["root"]]
            dated = f"coalesce({root['newer']}, _extracted_at - interval 10 minute)"
            winners = NEWER.format(key=root["keys"][0], version=dated if root["newer"] else "_extracted_at")
            columns = ", ".join(name for name in listed["columns"] if name not in DERIVED)
            elsewhere.execute(
                f"create or replace temp table loaded as select {columns} "
                f"from read_parquet($files, union_by_name = true) as batch semi join ({winners}) as winners "
                f"on batch.{listed['root_key']} = winners.key and batch._window_id = winners._window_id "
                "and batch._page = winners._page",
                {"files": files[table.slug], "root": files[listed["root"]]},
            )
            published = f"select {columns} from published.{table.qualified}"
            assert differing_rows(elsewhere, "from loaded", published) == 0, table.slug


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
    assert_loaded_elsewhere_equals_published(bench, [first, second])

    max((bench.layout.root / LOADS).iterdir()).unlink()  # as after a kill between publishing and writing
    refresh(bench.run)
    assert [windows_of(one) for one in lists(bench)] == [windows_of(first), windows_of(second)]

    [order] = queried(bench.layout.published, "select min(order_id) from pii.order_addresses")
    forget(bench.run, order)
    assert lists(bench) == []
    assert rebuild(bench.run).published
    [rebuilt] = lists(bench)
    assert rebuilt["starts_over"]
    assert windows_of(rebuilt) == windows_of(first) | windows_of(second)
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
