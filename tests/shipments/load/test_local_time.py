"""A load writes the time zones of the warehouses and how far the data reaches; the doctor looks at the zones."""

from functools import partial

from tests.bench import queried
from wms_sync.reports.doctor import examine


def test_a_setting_takes_effect_with_the_next_load(bench, sandbox):
    """And the doctor names what does not fit."""

    asked = partial(queried, bench.layout.published)

    def findings() -> list[tuple[str, str]]:
        return [(found.severity, found.text) for found in examine(bench.settings) if found.name == "time zones"]

    first, _ = bench.first_sync(sandbox)
    assert asked("select data_until, run_id from ops.latest_load") == [(first.horizon, "test")]
    [(name, short, count)] = asked(
        "select name, lower(abbreviation), count(*) over () from warehouses order by id limit 1"
    )
    assert asked("select distinct timezone from warehouses") == [("UTC",)]
    [(severity, message)] = findings()
    assert (severity, "days in marts are days in UTC" in message) == ("warning", True)

    bench.settings = bench.settings.model_copy(
        update={"warehouse_timezones": f"{short}=America/Los_Angeles,Nowhere=UTC,*=Asia/Tokyo"}
    )
    assert bench.load().published
    zones = "select timezone, count(*), bool_or(name = $1) from warehouses group by all order by all"
    assert asked(zones, name) == [("America/Los_Angeles", 1, True), ("Asia/Tokyo", count - 1, False)]
    assert asked(
        "select timezone, utc_offset_seconds from ops.timezones where to_at > '9000-01-01' order by timezone"
    ) == [("America/Los_Angeles", -28800), ("Asia/Tokyo", 32400), ("UTC", 0)]
    (unknown, (severity, _)) = findings()
    assert (*unknown, severity) == (
        "warning",
        "WMS_WAREHOUSE_TIMEZONES names nowhere, but no warehouse has that name",
        "note",
    )
    bench.settings = bench.settings.model_copy(update={"warehouse_timezones": f"{short}=Asia/Tokyo,*=EST"})
    (fixed, _) = findings()
    assert (fixed[0], "names EST, a fixed offset" in fixed[1]) == ("warning", True)
