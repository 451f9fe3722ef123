"""Each load checks whole tables, also the rows that it did not change."""

from tests.bench import let_pass, queried
from tests.changed_files import change, double_a_shipment
from wms_sync.reports.installation import check_published, read_installation
from wms_sync.shipments.load.checks import checks

KEYS = "shipments_have_unique_keys"
DATES = "shipments_are_packed_after_they_are_created"
OLDEST = "where id = (select min(id) from shipments)"


def test_a_load_checks_rows_that_it_does_not_change(bench, sandbox):
    bench.first_sync(sandbox)
    change(bench.layout.published, f"update shipments set packed_at = created_at - interval 1 day {OLDEST}")
    [(oldest,)] = queried(bench.layout.published, f"select id from shipments {OLDEST}")
    let_pass(sandbox.sandbox, seconds=7200, changed=5, new=2, orders=2)
    report = bench.sync()[1]
    assert [result.check for result in report.checks] == [*checks()]
    last, now = read_installation(bench.settings, bench.store).checks, check_published(bench.settings)
    for found in (last, now):
        [dates] = [check for check in found if check.name == DATES]
        assert dates.finding == f"1 shipment was packed before it was created: {oldest}."
    assert [(check.name, check.offending) for check in last] == [(check.name, check.offending) for check in now]


def test_a_refused_load_is_refused_again(bench, sandbox):
    bench.first_sync(sandbox)
    double_a_shipment(bench.layout.published)
    let_pass(sandbox.sandbox, seconds=7200, changed=5, new=2, orders=2)
    refused, again = bench.sync()[1], bench.load()
    for report in (refused, again):
        assert ({one.check.name: one.offending for one in report.refused_by}, report.published) == ({KEYS: 1}, False)
    assert again.windows == refused.windows
