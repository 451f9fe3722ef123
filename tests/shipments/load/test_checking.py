"""Of what the checks are asked: of a load's rows, or of whole tables, and that no row is passed over."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import duckdb
import pytest

from tests.changed_files import change, double_a_shipment
from tests.conftest import FEWER, Bench
from tests.test_sync import first_synced, night_after, synced
from wms_sandbox.app import Sandbox
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.published import check_whole_tables, last_checks
from wms_sync.shipments.load.checking import OF_LOAD, WHOLE
from wms_sync.shipments.load.checks import checks
from wms_sync.shipments.load.refresh import RefreshReport, rebuild, refresh
from wms_sync.state.audits import Audit, Audits

KEYS = "shipments_have_unique_keys"
DATES = "shipments_are_packed_after_they_are_created"
OFFENDED = {"statuses_are_known"}
"""The sandbox has a few that nobody knows."""


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEWER)
    return in_process


def a_day(service: Sandbox) -> None:
    service.advance(seconds=7200, changed=5, new=2, orders=2)
    service.advance(seconds=10)


def night(bench: Bench, sandbox) -> RefreshReport:
    a_day(sandbox.sandbox)
    return synced(bench)[1]


def asked(report: RefreshReport) -> set[str]:
    """Of what the checks were asked that can be asked of a load's rows."""
    assert {one.check for one in report.checks} == set(checks())
    return {one.asked for one in report.checks if one.check.scope == "rows" and one.check.name not in OFFENDED}


def spoil(bench: Bench, statement: str) -> None:
    change(bench.layout.published, statement)


def found(report: RefreshReport) -> dict[str, int]:
    return {one.check.name: one.offending for one in report.checks if one.check.severity == "error" and one.offending}


def test_a_night_asks_of_what_it_changed(bench, sandbox):
    report = night_after(bench, sandbox, a_day)
    assert asked(report) == {OF_LOAD}
    results = {one.check.name: one for one in report.checks}
    assert 5 <= results[KEYS].rows <= 20
    assert 1 <= results["warehouses_have_unique_keys"].rows <= report.rows["warehouses"]
    few = results["few_shipments_refer_to_a_missing_order"]
    assert few.asked.startswith(f"{WHOLE}, at 20")
    assert (few.rows, report.rows["shipments"]) == (240, 242)


OTHER_CHECKS = (
    "update ops.checks set release = 'an earlier one'",
    "delete from ops.checks where name = (select min(name) from ops.checks)",
)


def test_what_makes_whole_tables_be_asked(bench, sandbox):
    """The end of an audit round; other checks; a warning, until its rows are mended.

    The load after it does not change the rows of the warning, and still it does not pass.
    """
    night_after(bench, sandbox, a_day)
    sandbox.sandbox.advance(seconds=7200, changed=5, new=2)
    with bench.api() as api:
        (window,) = bench.reading(api).sync().window_ids
    now = datetime.now(UTC)
    with Audits(bench.settings.database_url, bench.store.turn) as audits:
        audits.begin(Audit(window, "run", now, 0, LARGEST_ID, now, settled_counted=9, total_to_id=9, total_counted=9))
    assert asked(refresh(bench.run)) == {WHOLE}, "the end of an audit round"

    oldest = "where id = (select min(id) from shipments)"
    spoil(bench, f"update shipments set packed_at = created_at - interval 1 day {oldest}")
    spoil(bench, f"update ops.checks set offending = 1 where name = '{DATES}'")
    warned_and_asked_of_the_load(night(bench, sandbox))
    for statement in OTHER_CHECKS:
        spoil(bench, statement)
        assert asked(night(bench, sandbox)) == {WHOLE}, statement
    warned_and_asked_of_the_load(night(bench, sandbox))

    found = check_whole_tables(bench.settings)
    assert [one.name for one in found] == [check.name for check in checks()]
    assert not any(one.offending for one in found if one.severity == "error")
    [last] = [one for one in last_checks(bench.settings) if one.name == DATES]
    with closing(duckdb.connect(bench.layout.published, read_only=True)) as connection:
        ((oldest_id,),) = connection.execute(f"select id from shipments {oldest}").fetchall()
    assert (last.offending, last.finding) == (1, f"1 shipment was packed before it was created: {oldest_id}.")


def warned_and_asked_of_the_load(report: RefreshReport) -> None:
    results = {one.check.name: one for one in report.checks}
    assert (results[DATES].offending, results[DATES].asked) == (1, WHOLE)
    assert results[KEYS].asked == OF_LOAD


def test_what_a_refused_load_merged_is_asked_about_again(bench, sandbox):
    _, first = first_synced(bench, sandbox)
    assert asked(first) == {WHOLE}
    double_a_shipment(bench.layout.published)
    refused = night(bench, sandbox)
    assert (found(refused), refused.published) == ({KEYS: 1}, False)
    again = synced(bench)[1]
    assert (found(again), again.published) == ({KEYS: 1}, False)
    assert again.windows == refused.windows
    assert {one.asked for one in again.checks if one.check.name == KEYS} == {WHOLE}
    rebuilt = rebuild(bench.run)
    assert (rebuilt.published, asked(rebuilt)) == (True, {WHOLE})
