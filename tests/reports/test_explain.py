"""Where a shipment's rows came from: versions, verdicts, parts, and what is said of one that is nowhere."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest

from tests.bench import NOW, queried
from wms_sync.reports.explain import (
    Explanation,
    explain,
    explanation_lines,
)
from wms_sync.shipments.flatten.workers import Flattening
from wms_sync.shipments.read.reader import Reading
from wms_sync.state.store import Run, StateStore
from wms_sync.targets.errors import UnknownShipmentError


@pytest.fixture
def explained(bench) -> Callable[[object], Explanation]:
    return lambda name: explain(bench.settings, bench.store, str(name))[0]


def one_row(bench, query: str, *parameters):
    return queried(bench.layout.published, query, *parameters)[0]


def past(bench) -> dict[str, int]:
    """A sync; two nights and a backfill after a gap, loaded at once; a backfill of all days that is not loaded.

    In the nights no order comes along, a record has no id, a value does not fit, and a shipment is stamped with a
    moment to come, and then with none. Return shipments by what became of them.
    """
    service = bench.transport.sandbox
    bench.first_sync(bench.transport)
    nameless, doubtful, changed, *others = sorted(service.advance(seconds=7200, changed=30).changed)
    garbled = min({*service.advance(seconds=10, changed=5).changed} - {nameless, doubtful, changed, *others})
    new = min(service.advance(seconds=10, new=5).new)

    def deviate(page, moment):
        page.get("included", {}).pop("Order", None)
        odd = {nameless: {"id": None}, doubtful: {"is_international": "perhaps"}, garbled: {"updated_at": moment}}
        for shipment in page["collection"]:
            shipment.update(odd.get(shipment["id"], {}))
        return page

    for moment in ("2999-01-01T00:00:00Z", "yesterday"):
        service.advance(seconds=10)
        service.rewrite = partial(deviate, moment=moment)
        bench.read()
    service.rewrite = None
    service.advance(seconds=3 * 86_400)
    bench.backfill(NOW + timedelta(days=2), NOW + timedelta(days=3))
    bench.load()
    with bench.api() as api, Flattening(bench.settings, bench.store) as ahead:
        reading = Reading(Run(bench.settings, bench.store, "again"), api, landed=ahead.add)
        reading.backfill(bench.settings.start, NOW + timedelta(hours=3))
    return {"changed": changed, "new": new, "doubtful": doubtful, "garbled": garbled}


VERDICTS = {
    # what became of a shipment: how each version that was read came to be in the table or not
    "changed": ("a version with a later updated_at came", "in the table", "its window is not merged"),
    "new": ("read again later", "in the table", "its window is not merged"),
}


@pytest.mark.parametrize("what", VERDICTS)
def test_each_version_names_the_page_that_shows_it(bench, sandbox, explained, what):
    shipment = bench.begin(sandbox, past)[what]
    (bench.layout.parquet / "shipments" / "._x-00001.parquet").write_bytes(b"Mac OS X")
    pages = dict(bench.landed_contents())
    versions = explained(shipment).versions
    for version, says in zip(versions, VERDICTS[what], strict=True):
        assert (says in version.verdict, version.is_stored) == (True, says == "in the table"), version.verdict
        assert (bench.layout.root / version.origin.file).is_file()
        collection = json.loads(pages[version.origin.window_id, version.origin.page])["collection"]
        [(status, updated)] = [(each["status"], each["updated_at"]) for each in collection if each["id"] == shipment]
        assert (version.status, f"{version.updated_at:%Y-%m-%dT%H:%M:%S}") == (status, updated[:19])
        assert version.window.start <= version.updated_at < version.window.end
    assert versions[0].changed == ()
    for before, version in pairwise(versions):
        for field in ("updated_at", "status"):
            assert (field in version.changed) == (getattr(before, field) != getattr(version, field))
    assert [(version.reason, version.origin.run_id) for version in versions] == [
        ("sync", "test"),
        ("sync", "test"),
        ("backfill", "again"),
    ]


def test_what_is_not_in_the_tables_is_said(bench, sandbox, explained):
    """An order that was not sent, a value that did not fit, a gap, records without an id, and a garbled time."""
    happened = bench.begin(sandbox, past)
    with pytest.raises(UnknownShipmentError, match=r"Not covered: 2026-03-31 .*without a usable id"):
        explained("5")
    (shipment,) = one_row(bench, "select id from shipments where order_id not in (select id from orders) limit 1")
    assert any("order" in line and "did not send" in line for line in explanation_lines(explained(shipment)))
    found = explained(happened["doubtful"])
    assert {value.path.rpartition(".")[2] for value in found.misfits} == {"is_international"}
    assert "quarantine" in "\n".join(explanation_lines(found))

    # it loses only to a version that is stamped with a moment to come
    *_, stored, lost, _ = (version.verdict for version in explained(happened["garbled"]).versions)
    assert stored.startswith("in the table")
    assert "although it was read later: its updated_at could not be read" in lost
    garbled = "select offending from ops.checks where name = 'no_shipment_lost_a_newer_version_to_a_garbled_time'"
    assert one_row(bench, garbled) == (1,)


def test_shipments_are_found_by_order_and_tracking_number(bench, sandbox, explained):
    bench.first_sync(sandbox)
    order, order_ref, shipments = one_row(
        bench,
        "select order_id, order_ref, list(shipments.id order by shipments.id) from shipments "
        "join orders on order_id = orders.id where order_ref is not null "
        "group by all having count(*) > 1 order by all limit 1",
    )
    for name in (order_ref, str(order)):
        assert explain(bench.settings, bench.store, name, "order") == tuple(map(explained, shipments))

    query = "select shipment_id, tracking_ref from packages where tracking_ref is not null order by all limit 1"
    shipment, number = one_row(bench, query)
    typed = f" {number[:4]}-{number[4:]}".lower()
    assert explain(bench.settings, bench.store, typed, "tracking") == (explained(shipment),)
    for what, why in {
        "tracking": "No package in the tables has the tracking number 0815",
        "order": "an order without a shipment is not in this data",
    }.items():
        with pytest.raises(UnknownShipmentError, match=why):
            explain(bench.settings, bench.store, "0815", what)


def test_parts_of_a_shipment_are_traced_to_pages(bench, sandbox, explained):
    bench.first_sync(sandbox)
    shipment, unique_id, *of_parts, window, page = one_row(
        bench,
        "select id, unique_id, order_id, retailer_id, (select count(*) from packages where shipment_id = s.id), "
        "(select count(*) from shipment_items where shipment_id = s.id), _window_id, _page from shipments as s "
        "where retailer_id is not null order by 5 desc, id limit 1",
    )
    found = explained(shipment)
    assert explained(unique_id) == found
    parts = {part.what: part for part in found.parts}
    rows = [parts["packages"].rows, parts["items"].rows]
    assert (of_parts, all(rows)) == ([parts["order"].id, parts["retailer"].id, *rows], True)
    origins = {(parts[what].origin.window_id, parts[what].origin.page) for what in ("shipment", "packages", "items")}
    assert origins == {(window, page)}
    assert all(part.origin.file is not None for part in found.parts)

    (bench.layout.root / found.versions[0].origin.file).unlink()
    assert "not on disk" in "\n".join(explanation_lines(explained(shipment)))

    covered = "2026-03-01 00:00:00 UTC to 2026-03-31 11:59:58 UTC"
    for name in ("999999999", "9" * 30, "'; drop table shipments"):
        with pytest.raises(UnknownShipmentError, match=f"No page read so far.*{covered}.*WMS_START_DATE"):
            explained(name)


def test_a_lost_state_store_is_reported(bench, sandbox, explained):
    bench.first_sync(sandbox)
    (shipment,) = one_row(bench, "select min(id) from shipments")
    before = [version.origin.file for version in explained(shipment).versions]
    bench.lose_the_state_store()
    bench.store = StateStore.opened(bench.settings.database_url)

    assert [version.origin.file for version in explained(shipment).versions] == before
    with pytest.raises(UnknownShipmentError, match="was lost"):
        explained(999999999)
    assert [need for need in bench.needs if "was lost" in need]
