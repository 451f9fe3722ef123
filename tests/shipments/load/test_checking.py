"""Of what the checks are asked: of a load's rows, or of whole tables, and that no row is passed over."""

import duckdb

from tests.changed_files import double_a_shipment
from tests.test_sync import first_synced, load, night_after, synced
from wms_sync.json_values import LARGEST_ID
from wms_sync.reports.installation import check_whole_tables
from wms_sync.shipments.flatten.window import flattened_window
from wms_sync.shipments.load.checking import OF_LOAD, WHOLE, ask_after_load
from wms_sync.shipments.load.checks import checks

KEYS = "shipments_have_unique_keys"
DATES = "shipments_are_packed_after_they_are_created"
OLDEST = "where id = (select min(id) from shipments)"
WARNED = (
    f"update shipments set packed_at = created_at - interval 1 day {OLDEST}",
    f"update ops.checks set offending = 1 where name = '{DATES}'",
)
"""A warning, whose row no later load changes."""


def a_day(service) -> None:
    service.advance(seconds=7200, changed=5, new=2, orders=2)
    service.advance(seconds=10)


def asked(results, *offended: str) -> set[str]:
    """Of what the checks were asked that can be asked of a load's rows, but for those that found something before.

    The sandbox has a few statuses that nobody knows.
    """
    assert {result.check for result in results} == set(checks())
    return {
        result.asked
        for result in results
        if result.check.scope == "rows" and result.check.name not in {"statuses_are_known", *offended}
    }


WHOLE_AFTER = (
    "update ops.checks set release = 'an earlier one'",
    "delete from ops.checks where name = (select min(name) from ops.checks)",
    "insert into ops.audits (window_id, run_id, read_at, after_id, to_id, settled_at, settled_counted, "
    f"total_to_id, total_counted, missing) select window_id, run_id, now(), 0, {LARGEST_ID}, now(), 9, 9, 9, 0 "
    "from ops.loads",
)
"""What has happened to the tables, so that a load asks whole tables: the last is the end of an audit round."""


def test_what_a_night_asks_of(bench, sandbox):
    """A check that warned is asked of whole tables until its rows are mended."""
    report = night_after(bench, sandbox, a_day)
    assert asked(report.checks) == {OF_LOAD}
    merged = {window: flattened_window(bench.layout, window) for window in report.windows}
    bench.layout.published.chmod(0o600)
    with duckdb.connect(bench.layout.published) as connection:
        for happened in WHOLE_AFTER:
            connection.execute(f"begin; {happened}")
            assert asked(ask_after_load(connection, bench.layout, merged, everything=False).results) == {WHOLE}
            connection.execute("rollback")
        for statement in WARNED:
            connection.execute(statement)
        results = ask_after_load(connection, bench.layout, merged, everything=False).results
        [(oldest,)] = connection.execute(f"select id from shipments {OLDEST}").fetchall()
    [dates] = [result for result in results if result.check.name == DATES]
    assert (dates.offending, dates.asked, asked(results, DATES)) == (1, WHOLE, {OF_LOAD})

    found = check_whole_tables(bench.settings)
    assert [check.name for check in found] == [check.name for check in checks()]
    [last] = [check for check in found if check.offending and check.name == DATES]
    assert last.finding == f"1 shipment was packed before it was created: {oldest}."


def test_what_a_refused_load_merged_is_asked_about_again(bench, sandbox):
    _, first = first_synced(bench, sandbox)
    assert asked(first.checks) == {WHOLE}
    double_a_shipment(bench.layout.published)
    a_day(sandbox.sandbox)
    refused, again = synced(bench)[1], load(bench)
    for report in (refused, again):
        assert ({one.check.name: one.offending for one in report.refused_by}, report.published) == ({KEYS: 1}, False)
    assert again.windows == refused.windows
    assert {one.asked for one in again.checks if one.check.name == KEYS} == {WHOLE}
