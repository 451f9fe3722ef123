"""A load writes the time zones of the warehouses and how far the data reaches; the doctor looks at the zones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.conftest import FEWER
from tests.test_sync import first_synced, published
from wms_sandbox.app import Sandbox
from wms_sync.shipments.load.refresh import refresh


def ask(bench, query: str) -> list[tuple[object, ...]]:
    with published(bench) as connection:
        return connection.execute(query).fetchall()


def findings(bench) -> list[tuple[str, str]]:
    return [(one.severity, one.text) for one in bench.examine() if one.name == "time zones"]


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEWER)
    return in_process


def test_a_setting_takes_effect_with_the_next_load(bench, sandbox):
    """And the doctor names what does not fit."""
    first, _ = first_synced(bench, sandbox)
    with published(bench) as connection:
        ((until, loaded_at, run_id),) = connection.execute(
            "select data_until, loaded_at, run_id from ops.latest_load"
        ).fetchall()
    assert until == first.horizon
    assert loaded_at <= datetime.now(UTC)
    assert run_id == "test"
    ((name, short),) = ask(bench, "select name, lower(abbreviation) from warehouses order by id limit 1")
    count = len(ask(bench, "from warehouses"))
    assert ask(bench, "select distinct timezone from warehouses") == [("UTC",)]
    [(verdict, message)] = findings(bench)
    assert verdict == "warning"
    assert "days in marts are days in UTC" in message

    zones = f"{short}=America/Los_Angeles,Nowhere=UTC,*=Asia/Tokyo"
    bench.settings = bench.settings.model_copy(update={"warehouse_timezones": zones})
    assert refresh(bench.run).published
    zones = "select timezone, count(*) from warehouses group by all order by all"
    assert ask(bench, zones) == [("America/Los_Angeles", 1), ("Asia/Tokyo", count - 1)]
    assert ask(bench, f"select timezone from warehouses where name = '{name}'") == [("America/Los_Angeles",)]
    offsets = "select timezone, utc_offset_seconds from ops.timezones where to_at > '9000-01-01'"
    assert sorted(ask(bench, offsets)) == [("America/Los_Angeles", -28800), ("Asia/Tokyo", 32400), ("UTC", 0)]
    (unknown, other) = findings(bench)
    assert unknown == ("warning", "WMS_WAREHOUSE_TIMEZONES names nowhere, but no warehouse has that name")
    assert other[0] == "note"
