"""Of what the checks are asked: of a load's rows, or of whole tables, and that no row is passed over."""

from __future__ import annotations

from contextlib import closing

import duckdb
import pytest

from tests.changed_files import double_a_shipment
from tests.conftest import FEWER, Bench
from tests.test_sync import first_synced, load, night_after, synced
from wms_sandbox.app import Sandbox
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.published import check_whole_tables, last_checks
from wms_sync.shipments.flatten.window import flattened_window
from wms_sync.shipments.load.checking import OF_LOAD, WHOLE, CheckResult, ask_after_load
from wms_sync.shipments.load.checks import checks

KEYS = "shipments_have_unique_keys"
DATES = "shipments_are_packed_after_they_are_created"
OFFENDED = {"statuses_are_known"}
"""The sandbox has a few that nobody knows."""
OLDEST = "where id = (select min(id) from shipments)"
WARNED = (
    f"update shipments set packed_at = created_at - interval 1 day {OLDEST}",
    f"update ops.checks set offending = 1 where name = '{DATES}'",
)
"""A warning, whose row no later load changes."""


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEWER)
    return in_process


def a_day(service: Sandbox) -> None:
    service.advance(seconds=7200, changed=5, new=2, orders=2)
    service.advance(seconds=10)


def asked(results: tuple[CheckResult, ...], *offended: str) -> set[str]:
    """Of what the checks were asked that can be asked of a load's rows, but for those that found something before."""
    assert {one.check for one in results} == set(checks())
    return {one.asked for one in results if one.check.scope == "rows" and one.check.name not in {*OFFENDED, *offended}}


AFTER: dict[tuple[str, ...], str] = {
    (): OF_LOAD,
    WARNED: OF_LOAD,
    ("update ops.checks set release = 'an earlier one'",): WHOLE,
    ("delete from ops.checks where name = (select min(name) from ops.checks)",): WHOLE,
    (
        "insert into ops.audits (window_id, run_id, read_at, after_id, to_id, settled_at, settled_counted, "
        f"total_to_id, total_counted, missing) select window_id, run_id, now(), 0, {LARGEST_ID}, now(), 9, 9, 9, 0 "
        "from ops.loads",
    ): WHOLE,
}
"""What has happened to the tables, and of what a load then asks: the last is the end of an audit round."""


def test_what_a_night_asks_of(bench: Bench, sandbox):
    """A check that warned is asked of whole tables until its rows are mended."""
    report = night_after(bench, sandbox, a_day)
    assert asked(report.checks) == {OF_LOAD}
    results = {one.check.name: one for one in report.checks}
    assert 5 <= results[KEYS].rows <= 20
    assert 1 <= results["warehouses_have_unique_keys"].rows <= report.rows["warehouses"]
    few = results["few_shipments_refer_to_a_missing_order"]
    assert few.asked.startswith(f"{WHOLE}, at 20")
    assert (few.rows, report.rows["shipments"]) == (240, 242)

    merged = {window: flattened_window(bench.layout, window) for window in report.windows}

    def ask(connection: duckdb.DuckDBPyConnection, *happened: str) -> tuple[CheckResult, ...]:
        for statement in ("begin", *happened):
            connection.execute(statement)
        return ask_after_load(connection, bench.layout, merged, everything=False).results

    bench.layout.published.chmod(0o600)
    with closing(duckdb.connect(bench.layout.published)) as connection:
        for happened, expected in AFTER.items():
            checked = ask(connection, *happened)
            [dates] = [one for one in checked if one.check.name == DATES]
            assert asked(checked, DATES) == {expected}, happened
            assert (dates.offending, dates.asked) == ((1, WHOLE) if happened == WARNED else (0, expected)), happened
            connection.execute("rollback")
        ask(connection, *WARNED)
        ((oldest,),) = connection.execute(f"commit; select id from shipments {OLDEST}").fetchall()

    found = check_whole_tables(bench.settings)
    assert [one.name for one in found] == [check.name for check in checks()]
    assert not any(one.offending for one in found if one.severity == "error")
    [last] = [one for one in last_checks(bench.settings) if one.name == DATES]
    assert (last.offending, last.finding) == (1, f"1 shipment was packed before it was created: {oldest}.")


def test_what_a_refused_load_merged_is_asked_about_again(bench: Bench, sandbox):
    _, first = first_synced(bench, sandbox)
    assert asked(first.checks) == {WHOLE}
    double_a_shipment(bench.layout.published)
    a_day(sandbox.sandbox)
    refused, again = synced(bench)[1], load(bench)
    for report in (refused, again):
        assert ({one.check.name: one.offending for one in report.refused_by}, report.published) == ({KEYS: 1}, False)
    assert again.windows == refused.windows
    assert {one.asked for one in again.checks if one.check.name == KEYS} == {WHOLE}
