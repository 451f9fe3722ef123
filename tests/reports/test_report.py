"""The report: numbers of the marts, one page that needs nothing else, and never in the way of a load."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from html import unescape

import duckdb
import pytest
from msgspec.structs import replace

from tests.beginnings import empty_tables
from tests.changed_files import LOADED, change
from tests.conftest import queried
from tests.reports.test_dictionary import LOADS
from tests.sql.scenario import WEST, insert, load
from tests.test_sync import begun, first_synced
from tests.test_sync import load as load_tables
from wms_sync import sql_files
from wms_sync.reports.finding import lasting_error, warning
from wms_sync.reports.report import Report, ReportError, make_report, remake_report, report_load
from wms_sync.targets.database import records

SUNDAY_IN_THE_WEST = datetime(2024, 3, 18, 3, 0, tzinfo=UTC)
"""A Monday in UTC, and at 20:00 of the Sunday before in Los Angeles."""


def with_report(bench) -> Report:
    """A first sync and its report; drawing the charts takes as long as a load."""
    first_synced(bench, bench.transport)
    return make_report(bench.settings)[1]


def shown(path) -> str:
    return unescape(path.read_text())


def test_the_page_shows_the_numbers_of_the_marts(bench, sandbox):
    report, path = begun(bench, sandbox, with_report), bench.layout.report
    assert oct(path.stat().st_mode & 0o777) == "0o400"
    text = shown(path)
    assert LOADS.findall(text) == []
    assert re.findall(r"<a\b", text) == []
    assert text.count("<svg") == text.count('role="img"') > 4
    [(open_,)] = queried(bench.layout.published, "select count(*) from marts.shipment_timeline where is_open")
    assert sum(row["shipments"] for row in report.rows["open_age"]) == open_
    worst = queried(bench.layout.published, sql_files.read("report/most_overdue.sql"))
    assert worst
    assert all(str(row[1]) in text for row in worst)
    assert all(report.next_step(row) in text for row in report.rows["most_overdue"])
    assert all(finding.sentence in text for finding in report.findings)


def test_names_and_findings_tell_apart_what_is_alike(bench, sandbox):
    """A name that several have is shown with the id. What somebody has seen changes no light and is not shown."""
    before = begun(bench, sandbox, with_report)
    tables = ("warehouses", "retailers", "products")
    change(bench.layout.published, *(f"update main.{table} set \"name\" = 'Same'" for table in tables))
    seen = replace(warning("seen", "Somebody knows of this."), acknowledged_at=datetime.now(UTC))
    path, report = make_report(bench.settings, findings=[seen, warning("gap", "A day is <missing>.")])
    for query, key in (("due_by_week", "warehouse"), ("retailers", "retailer"), ("void_by_box", "box")):
        assert len(report.rows[query]) == len(before.rows[query])
        names = {row[key] for row in report.rows[query]}
        assert len(names) == len({row[key] for row in before.rows[query]}) > 1
        assert any(re.fullmatch(r"Same \(\d+\)", name) for name in names), names
    assert [text in shown(path) for text in ("A day is <missing>.", "Somebody knows of this.")] == [True, False]
    lights = {"well": (), "look": report.findings, "act": (lasting_error("stale", "It is old."), *report.findings)}
    assert [replace(report, findings=findings).light for findings in lights.values()] == [*lights]


@pytest.fixture(scope="module")
def western(tmp_path_factory):
    """A shipment a day is due in the West, for three months before today and a week after, and leaves a day late."""
    with duckdb.connect(empty_tables(tmp_path_factory.mktemp("western") / "analytics.duckdb")) as connection:
        connection.execute("set timezone = 'UTC'")
        insert(connection, "warehouses", id=WEST, name="West")
        insert(connection, "retailers", id=1, code="ACME")
        today = date(2024, 3, 17)
        days = {number: today + timedelta(days=number - 90) for number in range(98)}
        for number, day in days.items():
            left = {"status": "shipped", "packed_at": f"{day + timedelta(days=1)} 19:00:00+00"} if day < today else {}
            given = {"warehouse_id": WEST, "retailer_id": 1, "status": "new", "carrier_shipping_cost": 1} | left
            insert(connection, "shipments", id=number, target_ship_date=day, **given)
            package = {"billable_weight_value": 1, "billable_weight_unit": "kg", "container_style": "box"}
            insert(connection, "packages", shipment_id=number, position=1, total_void_percent=5, **package)
        load(connection, until=SUNDAY_IN_THE_WEST)
        yield connection, today, set(days.values())


def asked(connection, name):
    return records(connection.execute(sql_files.read(f"report/{name}.sql")))


def test_the_report_shows_whole_weeks_and_local_days(western):
    connection, today, due = western
    shown_weeks = {row["week"]: row for row in asked(connection, "due_by_week")}
    assert sorted(shown_weeks) == [date(2024, 3, 11) - timedelta(weeks=number) for number in range(8, 0, -1)], (
        "this one is not over"
    )
    assert {week + timedelta(days=number) for week in shown_weeks for number in range(7)} <= due
    assert {(row["on_time"], row["late"], row["still_open"]) for row in shown_weeks.values()} == {(0, 7, 0)}
    [retailer] = asked(connection, "retailers")
    assert (retailer["due"], retailer["late"]) == (28, 28), f"the four weeks that ended before {today}, in the West"

    # what was due on a day left on the next, so yesterday's left today: 56 days with today
    for query, counted in (("cost_per_kg", "packages"), ("void_by_box", "packages"), ("packed_by_hour", "shipments")):
        assert sum(row[counted] for row in asked(connection, query)) == 7 * 8, query


def test_without_a_row_the_page_says_so(bench, tmp_path):
    with pytest.raises(ReportError, match="nothing is published yet"):
        make_report(bench.settings)
    empty_tables(bench.layout.published)
    with pytest.raises(ReportError, match="nothing has been loaded yet"):
        make_report(bench.settings)
    change(bench.layout.published, LOADED)
    text = shown(make_report(bench.settings, tmp_path / "new" / "empty.html")[0])
    assert "<svg" not in text
    assert "No shipment was due in these weeks" in text


def test_a_load_makes_the_report_and_never_fails(bench):
    """Where ``WMS_REPORT`` asks for it."""
    refreshed, report = load_tables(bench), bench.layout.report
    assert report_load(bench.settings, refreshed, ()) is None
    remake_report(bench.run)
    assert not report.exists()
    bench.settings = bench.settings.model_copy(update={"report": True})
    assert report_load(bench.settings, refreshed, ()) == report
    before = report.read_bytes()
    remake_report(bench.run)
    assert report.read_bytes() != before
    assert report_load(bench.settings, replace(refreshed, published=False), ()) is None
    report.unlink()
    report.mkdir()
    assert report_load(bench.settings, refreshed, ()) is None, "it cannot be written"
