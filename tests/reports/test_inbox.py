"""The inbox: what did not fit is listed by kind, acknowledged, and leaves by itself once it has healed."""

from functools import partial

import pytest

from tests.bench import let_pass, queried
from tests.shipments.read.test_undated import undate
from wms_sync.reports.findings import acknowledgeable, findings_of
from wms_sync.reports.inbox import InboxEntry
from wms_sync.reports.installation import read_installation

SHIPMENTS_HELD = 60


def entries(bench) -> list[InboxEntry]:
    """Those about values come first."""
    return sorted(read_installation(bench.settings, bench.store).inbox, key=lambda entry: not entry.is_value)


def spoil(page, gift, id_=None):
    """A value of each shipment, or of one, does not fit, and it has a key that no type knows."""
    for shipment in page["collection"]:
        if id_ in {None, shipment["id"]}:
            shipment |= {"is_international": {"perhaps": gift}, "gift_wrap": gift}
    return page


def spoil_undated(page):
    """An order of shipments without a time of change has no id."""
    if not any(shipment.get("updated_at", "unknown") for shipment in page["collection"]):
        page["included"].get("Order", [{}])[0]["id"] = None
    return page


def test_what_is_left_out_of_undated_shipments_counts_once(bench, sandbox):
    undate(sandbox, range(50, 60))
    sandbox.sandbox.rewrite = spoil_undated
    for _ in range(2):
        bench.sync()
        let_pass(sandbox.sandbox, seconds=3600)
    assert [entry.rows for entry in entries(bench)] == [1]


@pytest.mark.proof
def test_what_heals_leaves_and_the_next_comes(bench, sandbox):
    """What is acknowledged is open again with the next value; the same value read again is not."""
    sandbox.sandbox.rewrite = partial(spoil, gift="blue")
    bench.sync()
    value, key = entries(bench)
    assert (value.what, value.rows) == ("Shipment $.collection[].is_international", SHIPMENTS_HELD)
    assert (key.what, key.example) == ("Shipment.gift_wrap", '"blue"')
    for name, left in ((value.name, ["unknown key"]), (key.name, [])):
        bench.store.acknowledgements.add({name: acknowledgeable(findings_of(bench.settings), entries(bench))[name]})
        assert [said for said in ("left out", "unknown key") if said in "".join(bench.needs)] == left

    next_ = sandbox.sandbox.advance(seconds=3600, changed=SHIPMENTS_HELD).changed[-1]
    sandbox.sandbox.rewrite = partial(spoil, gift="red", id_=next_)
    sandbox.sandbox.advance(seconds=10)
    bench.sync()
    newer, known = entries(bench)
    assert (newer.acknowledged_at, newer.rows, known.acknowledged_at is None) == (None, 1, False)
    assert any("1 value or record was left out: " in need for need in bench.needs)
    assert queried(bench.layout.published, "select count(*) from ops.quarantine") == [(value.rows + 1,)]

    sandbox.sandbox.delete_shipments([next_])
    bench.backfill(bench.settings.start, max(window.to_at for window in bench.store.windows("loaded")))
    bench.load()
    assert [entry.is_value for entry in entries(bench)] == [False], "the time of the values was read again"
