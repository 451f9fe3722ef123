"""The report: one page that needs nothing else, and never in the way of a load.

Its numbers are compared with those of an oracle in ``tests/sql``.
"""

import dataclasses
import re
from datetime import UTC, date, datetime
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


@pytest.mark.proof
def test_the_page_shows_charts_and_what_to_do(bench, sandbox):
    report, path = bench.begin(sandbox, with_report), bench.layout.report
    text = shown(path)
    assert (oct(path.stat().st_mode & 0o777), LOADS.findall(text), re.findall(r"<a\b", text)) == ("0o400", [], [])
    assert text.count("<svg") == 1 + text.count('role="img"') > 5, "one has the pattern of this week"
    listed = report.rows["backlog_shipments"]
    assert listed
    assert all(row["shipment_unique_id"] in text and (row["next_step"] or "for the reason") in text for row in listed)
    assert report.findings[0].sentence in text


def test_names_and_findings_tell_apart_what_is_alike(bench, sandbox):
    """A name that several have is shown with the id. What somebody has seen changes no light and is not shown."""
    before = bench.begin(sandbox, with_report)
    change(
        bench.layout.published,
        *(f"update main.{table} set \"name\" = 'Same'" for table in ("warehouses", "retailers", "merchants")),
    )
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
    assert "Act on the data: It is old. (1 more: <code>wms-sync status</code>)" in shown(
        make_report(bench.settings, findings=worse)[0]
    )


def test_a_week_is_over_when_it_is_over_everywhere(tmp_path):
    """It is Monday in UTC, and still Sunday in the West: what is due on it is not late."""
    with duckdb.connect(empty_tables(tmp_path / "analytics.duckdb")) as connection:
        connection.execute("set timezone = 'UTC'")
        insert(connection, "warehouses", id=WEST, name="West")
        insert(connection, "shipments", id=1, warehouse_id=WEST, status="new", target_ship_date=date(2024, 3, 17))
        load(connection, until=datetime(2024, 3, 18, 3, 0, tzinfo=UTC))
        [weeks], [backlog] = (
            records(connection.execute(sql_files.read(f"report/{name}.sql"))) for name in ("weeks", "backlog")
        )
    assert (weeks["this_week"], weeks["in_utc"], backlog["shipments"]) == (date(2024, 3, 11), 0, 0)


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


def test_the_first_week_of_all_is_earlier_than_any(tmp_path):
    """The zero time of some systems is in the first year, and before it in the West, where DuckDB says so in text."""
    with duckdb.connect(empty_tables(tmp_path / "analytics.duckdb")) as connection:
        insert(connection, "warehouses", id=WEST, name="West")
        insert(connection, "orders", id=1, shipped_at=datetime(1, 1, 1, tzinfo=UTC))
        insert(connection, "shipments", id=1, warehouse_id=WEST, order_id=1, status="shipped")
        load(connection)
        [weeks] = records(connection.execute(sql_files.read("report/weeks.sql")))
    assert (weeks["this_week"], weeks["is_any_earlier"]) == (date(2024, 3, 11), True)


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
