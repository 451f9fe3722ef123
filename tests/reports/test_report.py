"""The report: numbers of the marts, one page that needs nothing else, and never in the way of a load."""

import dataclasses
import re
from datetime import UTC, date, datetime, timedelta
from html import unescape

import duckdb
import pytest
from msgspec.structs import replace

from tests.bench import FEWER, empty_tables, queried
from tests.changed_files import LOADED, change
from tests.reports.test_dictionary import LOADS
from tests.sql.scenario import WEST, insert, load
from wms_sandbox.app import Sandbox
from wms_sync import sql_files
from wms_sync.reports.finding import lasting_error, warning
from wms_sync.reports.report import Report, ReportError, make_report, remake_report, report_load, told_apart
from wms_sync.targets.database import records


def with_report(bench) -> Report:
    """A first sync and its report; drawing the charts takes as long as a load."""
    bench.first_sync(bench.transport)
    return make_report(bench.settings)[1]


def shown(path) -> str:
    return unescape(path.read_text())


def test_the_page_shows_the_numbers_of_the_marts(bench, sandbox):
    report, path = bench.begin(sandbox, with_report), bench.layout.report
    text = shown(path)
    assert (oct(path.stat().st_mode & 0o777), LOADS.findall(text), re.findall(r"<a\b", text)) == ("0o400", [], [])
    assert text.count("<svg") == 1 + text.count('role="img"') > 5, "one has the pattern of this week"
    late = queried(bench.layout.published, "select days_late from marts.shipments where is_open and days_late > 0")
    [backlog] = report.rows["backlog"]
    assert (backlog["shipments"], backlog["over_two_days"]) == (len(late), sum(days > 2 for (days,) in late))
    listed = report.rows["backlog_shipments"]
    assert all(row["shipment_unique_id"] in text and (row["next_step"] or "for the reason") in text for row in listed)
    lateness = [row["days_late"] for row in listed]
    assert lateness == sorted(lateness) != []
    assert f"{100 * (report.on_time()[-1] or 0):.1f} %" in text
    assert report.findings[0].sentence in text


def test_names_and_findings_tell_apart_what_is_alike(bench, sandbox):
    """A name that several have is shown with the id. What somebody has seen changes no light and is not shown."""
    before = bench.begin(sandbox, with_report)
    tables = ("warehouses", "retailers", "merchants")
    change(bench.layout.published, *(f"update main.{table} set \"name\" = 'Same'" for table in tables))
    seen = replace(warning("seen", "Somebody knows of this."), acknowledged_at=datetime.now(UTC))
    path, report = make_report(bench.settings, findings=[seen, warning("gap", "A day is <missing>.")])
    for query, kind in (("on_time", "warehouse"), ("retailers", "retailer"), ("clients", "merchant")):
        rows = report.rows[query]
        names = {row["name"] for row in told_apart(rows, kind)}
        ids = {row["id"] for row in before.rows[query]}
        assert (len(rows), len(names)) == (len(before.rows[query]), len(ids))
        assert any(re.fullmatch(r"Same \(\d+\)", name) for name in names), names
    assert [text in shown(path) for text in ("A day is <missing>.", "Somebody knows of this.")] == [True, False]
    worse = (lasting_error("stale", "It is old."), *report.findings)
    said = shown(make_report(bench.settings, findings=worse)[0])
    assert "Act on the data: It is old. (1 more: <code>wms-sync status</code>)" in said


@pytest.fixture(scope="module")
def western(tmp_path_factory):
    """A shipment a day is due in the West, for three months before today and a week after, and leaves a day late."""
    with duckdb.connect(empty_tables(tmp_path_factory.mktemp("western") / "analytics.duckdb")) as connection:
        connection.execute("set timezone = 'UTC'")
        insert(connection, "warehouses", id=WEST, name="West")
        insert(connection, "retailers", id=1, code="ACME")
        today = date(2024, 3, 17)
        for number in range(98):
            day = today + timedelta(days=number - 90)
            left = {"status": "shipped", "packed_at": f"{day + timedelta(days=1)} 19:00:00+00"} if day < today else {}
            given = {"warehouse_id": WEST, "retailer_id": 1, "status": "new", "carrier_shipping_cost": 1} | left
            insert(connection, "shipments", id=number, target_ship_date=day, **given)
            package = {"billable_weight_value": 1, "billable_weight_unit": "kg", "container_style": "box"}
            insert(connection, "packages", shipment_id=number, position=1, total_void_percent=5, **package)
        load(connection, until=datetime(2024, 3, 18, 3, 0, tzinfo=UTC))  # 20:00 of the Sunday in Los Angeles
        yield connection


THIS_WEEK = date(2024, 3, 11)
MONDAYS = {
    "since": THIS_WEEK - timedelta(weeks=8),
    "month": THIS_WEEK - timedelta(weeks=4),
    "before": THIS_WEEK - timedelta(weeks=2),
    "last": THIS_WEEK - timedelta(weeks=1),
    "this_week": THIS_WEEK,
}


def asked(connection, name):
    query = sql_files.read(f"report/{name}.sql")
    return records(connection.execute(query, {day: at for day, at in MONDAYS.items() if f"${day}" in query}))


def test_the_report_shows_whole_weeks_and_local_days(western):
    """It is still Sunday in the West: that week is not over, and what is due on that Sunday is not late."""
    [weeks] = asked(western, "weeks")
    assert (weeks["this_week"], weeks["in_utc"]) == (THIS_WEEK, 0)
    assert weeks["first_week"] < MONDAYS["since"]
    on_time = {row["week"]: (row["due"], row["on_time"]) for row in asked(western, "on_time")}
    whole = {THIS_WEEK - timedelta(weeks=number): (7, 0) for number in range(1, 9)}
    assert on_time == {**whole, THIS_WEEK: (6, 0)}
    [retailer] = asked(western, "retailers")
    assert (retailer["due"], retailer["on_time"], retailer["due_before"]) == (28, 0, 28)
    # what was due on a day was shipped on the next
    assert [(row["orders"], row["cost"]) for row in asked(western, "shipped")] == [(0, 1)] * 8
    [carrier] = asked(western, "carriers")
    assert (carrier["shipments"], carrier["cost"], carrier["cost_per_kg"]) == (56, 56, 1)
    packed = {row["hour"]: row["shipments"] for row in asked(western, "packing")}
    assert packed == {11: 55 / 56, 12: 1 / 56}, "one was packed after the clocks went forward"
    [backlog] = asked(western, "backlog")
    assert backlog["shipments"] == 0, "today's is open, but its day is not over"


def test_in_the_first_week_the_page_shows_that_week(bench, sandbox):
    """On a Thursday; nothing was shipped before its Monday. The weeks before it stay empty in the charts."""
    sandbox.sandbox = Sandbox(dataclasses.replace(FEWER, days=2, odd_values=False))
    sandbox.sandbox.advance(seconds=2 * 86_400, changed=240)
    bench.read()
    bench.load()
    path, report = make_report(bench.settings)
    assert report.weeks[-2] == report.zones["this_week"] == date(2026, 3, 30)
    shipped = "select count(distinct order_id) from marts.shipments where shipped_day is not null"
    assert (report.shipped("orders")[-1],) == queried(bench.layout.published, shipped)[0] > (0,)
    text = shown(path)
    assert "none is over yet" in text
    assert [f"{week:%m-%d}" in text for week in report.weeks] == [True] * 8 + [False]


def test_without_a_row_the_page_says_so(bench, tmp_path):
    with pytest.raises(ReportError, match="nothing is published yet"):
        make_report(bench.settings)
    empty_tables(bench.layout.published)
    with pytest.raises(ReportError, match="nothing has been loaded yet"):
        make_report(bench.settings)
    change(bench.layout.published, LOADED)
    text = shown(make_report(bench.settings, tmp_path / "new" / "empty.html")[0])
    assert ('role="img"' in text, "No shipment was due in these weeks" in text) == (False, True)


def test_a_load_makes_the_report_and_never_fails(bench):
    """Where ``WMS_REPORT`` asks for it."""
    refreshed, report = bench.load(), bench.layout.report
    remake_report(bench.run)
    assert (report_load(bench.settings, refreshed, ()), report.exists()) == (None, False)
    bench.settings = bench.settings.model_copy(update={"report": True})
    assert report_load(bench.settings, refreshed, ()) == report
    before = report.read_bytes()
    remake_report(bench.run)
    assert report.read_bytes() != before
    assert report_load(bench.settings, replace(refreshed, published=False), ()) is None
    report.unlink()
    report.mkdir()
    assert report_load(bench.settings, refreshed, ()) is None, "it cannot be written"
