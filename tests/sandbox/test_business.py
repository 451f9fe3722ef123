"""The data without odd values is a plausible business, at first and after days have passed, whatever the seed."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.sandbox.conftest import start
from wms_sandbox import texts

Thing = dict[str, Any]
FIELDS = {
    "fields": "all",
    **{f"fields:{path}": "all" for path in ("order", "order.items", "order.status_history")},
    **{f"fields:{path}": "all" for path in ("items", "packages", "packages.items")},
    "sort": "id",
    "limit": "1000",
}
DAYS, A_DAY = 45, 20
"""So many days, and so many shipments on each."""
OPEN = {"new", "picking", "picked", "packing", "packed"}


class Business:
    """What a sandbox shows: shipments, and orders and items by id.

    ``due`` are those shipped or open that should be shipped by now, ``stuck`` how many days the open ones of them are
    over their day.
    """

    def __init__(self, seed: int, days_passed: int) -> None:
        service = start(seed=seed, shipments=DAYS * A_DAY, days=DAYS, families=400, odd_values=False)
        for _ in range(days_passed):
            service.sandbox.advance(seconds=86_400, changed=3 * A_DAY, new=A_DAY, orders=A_DAY // 4)
        self.today = datetime.fromtimestamp(service.sandbox.clock.now() / 1000, UTC).date()
        page = service.get(**FIELDS).json()
        assert not page["has_more"]
        self.shipments: list[Thing] = page["collection"]
        self.orders: dict[int, Thing] = {order["id"]: order for order in page["included"]["Order"]}
        self.items: dict[int, Thing] = {item["id"]: item for item in page["included"]["ShipmentItem"]}
        judged = [each for each in self.shipments if each["status"] in {"shipped", *OPEN}]
        self.due = [each for each in judged if ship_by(each) < self.today]
        self.stuck = [(self.today - ship_by(each)).days for each in self.due if each["status"] in OPEN]

    def order(self, shipment: Thing) -> Thing:
        return self.orders[shipment["order"]["id"]]

    def quantities(self, shipment: Thing) -> list[Thing]:
        return [self.items[item["id"]] for item in shipment["items"]]

    def share(self, *, since: date = date.min, until: date = date.max, slow: tuple[bool, ...] = (True, False)) -> float:
        """The share that was shipped by its day, of those of days and of carriers that are slow or not."""
        on_time: list[bool] = [
            each["status"] == "shipped" and each["packed_at"][:10] <= each["target_ship_date"]
            for each in self.due
            if since <= ship_by(each) < until and (each["shipping_carrier_code"] == "usps") in slow
        ]
        return sum(on_time) / len(on_time)

    def weeks(self) -> list[float]:
        """The share of each whole week, the worst first."""
        mondays = {ship_by(each) - timedelta(days=ship_by(each).weekday()) for each in self.due}
        return sorted(self.share(since=day, until=day + timedelta(days=7)) for day in sorted(mondays)[1:-1])


def ship_by(shipment: Thing) -> date:
    return date.fromisoformat(shipment["target_ship_date"])


TRUE_OF_THE_BUSINESS: dict[str, Callable[[Business], bool]] = {
    "about 95 % are on time": lambda business: 0.92 < business.share() < 0.97,
    "one week is clearly worse": lambda business: business.weeks()[0] < 0.88 < business.weeks()[1],
    "one carrier is clearly worse": lambda business: (
        business.share(slow=(True,)) + 0.04 < business.share(slow=(False,))
    ),
    "a few are stuck": lambda business: 0 < len(business.stuck) < 2 * A_DAY,
    "some for more than two days": lambda business: max(business.stuck) > 2,
    "shipments have known statuses": lambda business: (
        {each["status"] for each in business.shipments} <= {*texts.SHIPMENT_STATUSES[:-1]}
    ),
    "orders too": lambda business: (
        {each["state"] for each in business.orders.values()} <= {*texts.ORDER_STATES[:-1]}
        and {each["status"] for each in business.orders.values()} <= {*texts.ORDER_STATUSES[:-1]}
    ),
    "an order is open as long as a shipment of it is": lambda business: all(
        (business.order(each)["state"] in {"new", "processing", "holded"}) == (each["status"] in OPEN)
        for each in business.shipments
    ),
    "what is complete was shipped": lambda business: all(
        (order["state"] == "complete")
        == (order.get("shipped_at") is not None)
        == (order.get("completed_at") is not None)
        for order in business.orders.values()
    ),
    "what is delivered was updated then": lambda business: all(
        (order.get("delivered_at") or "")[:19] <= order["updated_at"][:19] for order in business.orders.values()
    ),
    "what is packed has packages, with a weight": lambda business: all(
        bool(each["packages"]) == (each.get("packed_at") is not None)
        and all(package["billable_weight"]["value"] > 0 for package in each["packages"])
        for each in business.shipments
    ),
    "packages have the items of the shipment": lambda business: all(
        sorted(item["sku"] for package in each["packages"] for item in package["items"])
        == sorted(item["sku"] for item in business.quantities(each))
        for each in business.shipments
        if each["packages"]
    ),
    "what is shipped has quantities, and the rest has none": lambda business: all(
        (sum(item["qty_shipped"] for item in business.quantities(each)) > 0) == (each["status"] == "shipped")
        for each in business.shipments
    ),
    "few are shipped without a cost, none costs nothing": lambda business: (
        sum(each.get("carrier_shipping_cost") is None for each in business.shipments if each["status"] == "shipped")
        < len(business.shipments) / 20
        and all((each.get("carrier_shipping_cost") or 2) > 1 for each in business.shipments)
    ),
    "a voided shipment is followed by another one": lambda business: all(
        business.order(each)["shipments"][0]["id"] == each["id"] and len(business.order(each)["shipments"]) == 2
        for each in business.shipments
        if each["status"] == "voided"
    ),
    "every shipment has a warehouse, a carrier and a day": lambda business: all(
        each["warehouse"] and each["shipping_carrier_code"] and each["target_ship_date"] for each in business.shipments
    ),
}


@pytest.fixture(scope="module", params=[(1, 0), (2, 3)], ids=["at first", "after three days"])
def business(request: pytest.FixtureRequest) -> Business:
    return Business(*request.param)


@pytest.mark.parametrize("what", TRUE_OF_THE_BUSINESS)
def test_what_is_true_of_the_business(business: Business, what: str):
    assert TRUE_OF_THE_BUSINESS[what](business)
