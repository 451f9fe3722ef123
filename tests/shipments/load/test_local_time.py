"""A load writes the time zones of the warehouses and how far the data reaches; the doctor looks at the zones."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from tests import test_sync
from tests.conftest import FEWER
from wms_sandbox.app import Sandbox


def load(bench, **changes: object) -> None:
    bench.settings = bench.settings.model_copy(update=changes)
    assert test_sync.load(bench).published


def ask(bench, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        return connection.execute(query).fetchall()


def findings(bench) -> list[tuple[str, str]]:
    return [(one.verdict, one.message) for one in bench.examine() if one.subject == "time zones"]


@pytest.fixture
def read(bench, sandbox):
    sandbox.sandbox = Sandbox(FEWER)
    return bench.read()


def test_a_setting_takes_effect_with_the_next_load_and_the_doctor_names_what_does_not_fit(bench, read):
    load(bench)
    ((name, short),) = ask(bench, "select name, lower(abbreviation) from warehouses order by id limit 1")
    count = len(ask(bench, "from warehouses"))
    assert ask(bench, "select distinct timezone from warehouses") == [("UTC",)]
    [(verdict, message)] = findings(bench)
    assert verdict == "warn"
    assert "days in marts are days in UTC" in message

    load(bench, warehouse_timezones=f"{short}=America/Los_Angeles,Nowhere=UTC,*=Asia/Tokyo")
    zones = "select timezone, count(*) from warehouses group by all order by all"
    assert ask(bench, zones) == [("America/Los_Angeles", 1), ("Asia/Tokyo", count - 1)]
    assert ask(bench, f"select timezone from warehouses where name = '{name}'") == [("America/Los_Angeles",)]
    offsets = "select timezone, utc_offset_seconds from ops.timezones where to_at > '9000-01-01'"
    assert sorted(ask(bench, offsets)) == [("America/Los_Angeles", -28800), ("Asia/Tokyo", 32400), ("UTC", 0)]
    (unknown, other) = findings(bench)
    assert unknown == ("warn", "WMS_WAREHOUSE_TIMEZONES names nowhere, and no warehouse is called so")
    assert other[0] == "ok"


def test_now_is_the_sync_cursor(bench, read):
    assert findings(bench) == []
    load(bench)

    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        ((until, loaded_at, run_id),) = connection.execute(
            "select data_until, loaded_at, run_id from ops.latest_load"
        ).fetchall()
    assert until == read.horizon
    assert loaded_at.astimezone(UTC) <= datetime.now(UTC)
    assert run_id == "test"
