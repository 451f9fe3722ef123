"""Letting time pass: what changed shows, what did not is the same to the byte."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wms_sandbox.app import ADVANCE

from_text = datetime.fromisoformat
BEFORE = datetime(2025, 6, 1, tzinfo=UTC)
SELECTED = (
    ("fields:packages", "all"),
    ("fields:packages.items", "all"),
    ("fields:order", "all"),
    ("fields:order.items", "all"),
    ("fields:order.status_history", "all"),
    ("fields:retailer", "all"),
    ("sort", "id"),
    ("limit", "1000"),
)


@pytest.fixture
def fresh(start: Callable[..., Any]) -> Any:
    return start(shipments=500, families=200)


def by_id(page: dict[str, Any], kind: str | None = None) -> dict[int, dict[str, Any]]:
    things = page["collection"] if kind is None else page["included"][kind]
    return {thing["id"]: thing for thing in things}


def test_only_what_changed_changes(fresh):
    before = fresh.listing(*SELECTED)
    done = fresh.sandbox.advance(changed=60, new=9, orders=7, retailers=5)
    after = fresh.listing(*SELECTED)
    old, new = by_id(before), by_id(after)
    assert set(new) - set(old) == set(done.new)
    touched = {*done.changed, *done.order_shipments}
    assert {identity for identity in old if old[identity] != new[identity]} == touched
    old_orders, new_orders = by_id(before, "Order"), by_id(after, "Order")
    assert {identity for identity in old_orders if old_orders[identity] != new_orders[identity]} == set(done.orders)
    renamed = {
        identity for identity, each in by_id(before, "Retailer").items() if each != by_id(after, "Retailer")[identity]
    }
    assert renamed == set(done.retailers) & set(by_id(before, "Retailer"))
    assert (len(done.changed), len(done.new), len(done.orders), len(done.retailers)) == (60, 9, 7, 5)


def test_changes_are_found_by_their_time(fresh):
    done = fresh.sandbox.advance(seconds=600, changed=40, new=5, orders=4)
    assert (done.before, done.after) == (BEFORE, BEFORE + timedelta(minutes=10))
    found = fresh.ids(("filter", "updated_at{gt:'2025-06-01T00:00:00Z',lt:'2025-06-01T00:10:00Z'}"))
    assert found == sorted({*done.changed, *done.new, *done.order_shipments})
    assert fresh.get().headers["date"] == "Sun, 01 Jun 2025 00:10:00 GMT"


def test_unchanged_shipments_are_equal_to_the_byte(fresh):
    done = fresh.sandbox.advance(seconds=0)
    assert done.changed == done.new == []
    untouched = ("filter", "id{lt:100400}")
    before = fresh.get(*SELECTED, untouched).content
    assert json.loads(before)["collection"]
    fresh.sandbox.advance(new=20)
    assert fresh.get(*SELECTED, untouched).content == before


def test_packages_come_and_go(fresh):
    before = {identity: each["packages"] for identity, each in by_id(fresh.listing(*SELECTED)).items()}
    done = fresh.sandbox.advance(changed=100, packages_added=20, packages_removed=30)
    after = {identity: each["packages"] for identity, each in by_id(fresh.listing(*SELECTED)).items()}
    assert (len(done.packages_added), len(done.packages_removed)) == (20, 30)
    assert not set(done.packages_added) & set(done.packages_removed)
    for identity in done.packages_added:
        assert len(after[identity]) == len(before[identity]) + 1
    for identity in done.packages_removed:
        assert len(after[identity]) < len(before[identity])
    assert done.packages_emptied == [identity for identity in done.packages_removed if not after[identity]]
    assert done.packages_emptied
    for identity in set(done.changed) - {*done.packages_added, *done.packages_removed}:
        assert len(after[identity]) == len(before[identity])


def test_tracking_numbers_change_and_are_found(fresh):
    before = by_id(fresh.listing(*SELECTED))
    done = fresh.sandbox.advance(changed=30)
    after = by_id(fresh.listing(*SELECTED))
    for identity in done.changed:
        for package in after[identity]["packages"]:
            number = package.get("tracking_ref")
            if number:
                assert number not in {each.get("tracking_ref") for each in before[identity]["packages"]}
                assert fresh.ids(("filter", f'tracking_number{{eq:"{number}"}}')) == [identity]


def test_orders_change_with_their_shipments(fresh):
    before = fresh.listing(*SELECTED)
    done = fresh.sandbox.advance(orders=60)
    after = fresh.listing(*SELECTED)
    orders, earlier = by_id(after, "Order"), by_id(before, "Order")
    for identity in done.orders:
        assert BEFORE < from_text(orders[identity]["updated_at"]) < done.after
        assert orders[identity]["status"] != earlier[identity]["status"]
        assert len(orders[identity]["status_history"]) == len(earlier[identity]["status_history"]) + 1
    expected = [each["id"] for each in after["collection"] if each["order"]["id"] in done.orders]
    assert done.order_shipments == expected
    assert len(expected) > len(done.orders)


def test_time_passes_again_and_again(fresh):
    for number in range(1, 6):
        done = fresh.sandbox.advance(
            seconds=3600, changed=100, new=20, orders=20, packages_added=40, packages_removed=40
        )
        assert done.number == number
        page = fresh.listing(*SELECTED)
        for shipment in page["collection"]:
            assert from_text(shipment["updated_at"]) <= done.after
            assert from_text(shipment["created_at"]) <= from_text(shipment["updated_at"])
            assert len(shipment["packages"]) <= 4
        assert len(page["collection"]) == 500 + 20 * number
    (new,) = (each for each in page["collection"] if each["id"] == done.new[0])
    assert from_text(new["created_at"]) > done.before


def test_over_http(fresh):
    response = fresh.client.post(ADVANCE, json={"seconds": 60, "changed": 2, "new": 1})
    assert response.status_code == 200
    done = response.json()
    assert (done["before"], done["after"]) == ("2025-06-01T00:00:00+00:00", "2025-06-01T00:01:00+00:00")
    assert (len(done["changed"]), len(done["new"])) == (2, 1)
    assert fresh.client.post(ADVANCE).json()["after"] == "2025-06-02T00:01:00+00:00"
    for wrong in ({"nothing": 1}, {"changed": -1}, [1]):
        assert fresh.client.post(ADVANCE, json=wrong).status_code == 400


def test_more_than_there_is(fresh):
    done = fresh.sandbox.advance(changed=10_000, orders=10_000, retailers=10_000)
    assert len(done.changed) == len(done.order_shipments) == 500
    assert fresh.ids() == done.changed


def test_a_listing_goes_on_while_shipments_are_added(fresh):
    first = fresh.listing(("sort", "id"), ("limit", "400"))
    done = fresh.sandbox.advance(new=50)
    second = fresh.client.get(first["next"]).json()
    assert [each["id"] for each in second["collection"]][-50:] == done.new


def test_what_is_committed_late_has_a_time_of_before_and_never_one_before_its_own_last_change(fresh):
    first = fresh.sandbox.advance(seconds=60, changed=30)
    before = by_id(fresh.listing(*SELECTED))
    done = fresh.sandbox.advance(seconds=60, changed=200, new=20, orders=10, late=60)
    after = by_id(fresh.listing(*SELECTED))
    late = {identity: from_text(after[identity]["updated_at"]) for identity in {*done.changed, *done.new}}
    assert all(from_text(before[one]["updated_at"]) < late[one] for one in done.changed)
    assert sum(moment <= first.after for moment in late.values()) > 200
    again = set(first.changed) & set(done.changed)
    assert again, "none changed twice: the test shows nothing"
