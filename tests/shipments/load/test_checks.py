"""Each load checks whole tables, also the rows that it did not change."""

from tests.bench import let_pass, queried
from tests.changed_files import change, double_a_shipment
from wms_sync.reports.installation import read_installation
from wms_sync.shipments.load.checks import check_tables, checks
from wms_sync.targets.target import target_of

KEYS = "shipments_have_unique_keys"
DATES = "shipments_are_packed_after_they_are_created"
OLDEST = "where id = (select min(id) from shipments)"


def test_a_load_checks_rows_that_it_does_not_change(synced, sandbox):
    change(synced.layout.published, f"update shipments set packed_at = created_at - interval 1 day {OLDEST}")
    [(oldest,)] = queried(synced.layout.published, f"select id from shipments {OLDEST}")
    let_pass(sandbox.sandbox, seconds=7200, changed=5, new=2, orders=2)
    assert [result.check for result in synced.sync()[1].checks] == [*checks()]
    last = read_installation(synced.settings, synced.store).checks
    [dates] = [result for result in last if result.check.name == DATES]
    assert dates.finding == f"1 shipment was packed before it was created: {oldest}."
    assert [(found.check, found.offending, found.finding) for found in last] == [
        (found.check, found.offending, found.finding) for found in check_tables(target_of(synced.settings).published)
    ]


def test_a_refused_load_is_refused_again(synced, sandbox):
    double_a_shipment(synced.layout.published)
    let_pass(sandbox.sandbox, seconds=7200, changed=5, new=2, orders=2)
    refused, again = synced.sync()[1], synced.load()
    for report in (refused, again):
        assert ({one.check.name: one.offending for one in report.refused_by}, report.published) == ({KEYS: 1}, False)
    assert again.windows == refused.windows
