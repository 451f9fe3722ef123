"""A service whose warehouses are in three zones, while clocks change, with every trap that marts must not fall into.

The sandbox serves it; ``rewritten`` changes its pages. What becomes of an object depends on its id, the seed and how
many nights have passed, so that an object that is read again is the same, unless its promise was moved.
"""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.bench import let_pass, settings_in
from tests.running import run_sync
from tests.services import data_of
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings

Record = dict[str, Any]
ZONES = {"Springfield DC 0": "America/Los_Angeles", "MA1": "Pacific/Auckland", "NV2": "Europe/Berlin"}
"""By name or abbreviation of a warehouse; all others are in New York."""
OTHER_ZONE = "America/New_York"
WAREHOUSES = (1, 2, 3, 3, 2, 4, 99)
"""Nobody knows the last one."""
CHANGES = {
    datetime(2026, 4, 8, 21, tzinfo=UTC): ("2026-03-08T10:00", "2026-03-29T01:00", "2026-04-04T14:00"),
    datetime(2026, 11, 3, 5, tzinfo=UTC): ("2026-09-26T14:00", "2026-10-25T01:00", "2026-11-01T09:00"),
}
"""By now, when clocks change in one of the zones: spring in the north and autumn in the south, and the other way."""
STATUSES = ("new", "Picking", "packed", "shipped", "SHIPPED", "canceled", "voided", "Voided", "voided", "mystery", None)
WEIGHTS = ((0, "lb"), (2, "lb"), (16, "OZ"), (1.5, "kg"), (900, "g"), (1, "stone"), (3, None), (None, "lb"))


class Played(Struct, frozen=True):
    """An installation after some nights: its settings, the Date of its last read, and what an audit found deleted."""

    settings: Settings
    until: datetime
    deleted: frozenset[int]


class Rewriter:
    """Changes pages of the sandbox. ``nights`` is how often promises were moved."""

    def __init__(self, seed: int, now: datetime) -> None:
        self.nights = 0
        self._seed, self._now = seed, now

    def rewritten(self, page: Record) -> Record:
        included = page.get("included") or {}
        entries = {entry["id"]: entry for entry in included.get("OrderStatusHistory", ())}
        for kind, change in CHANGED.items():
            for thing in page["collection"] if kind == "Shipment" else included.get(kind, ()):
                change(self, thing, random.Random(f"{self._seed} {kind} {thing['id']}"))
        for order in included.get("Order", ()):
            kept = [entries[entry["id"]] for entry in order.get("status_history") or () if entry["id"] in entries]
            for entry in kept[len(kept) - order["id"] // 2 % 4 :]:
                entry["status"] = "Holded"
        return page

    def _shipment(self, shipment: Record, dice: random.Random) -> None:
        shipment["warehouse"] = {"type": "Warehouse", "id": dice.choice(WAREHOUSES)}
        shipment["order"] = order = self._order_of(shipment["order"]["id"], dice)
        if dice.random() < 0.3:
            shipment["status"] = dice.choice(STATUSES)
        if dice.random() < 0.4:
            near = self._near_a_change(dice, order)
            shipment["created_at"] = _text(near - timedelta(minutes=dice.randrange(300)))
            shipment["packed_at"] = dice.choice((shipment["packed_at"], None, *[_text(near)] * 4))
        day = date.fromisoformat((shipment["packed_at"] or shipment["created_at"])[:10])
        day += timedelta(days=dice.choice((-1, 0, 0, 1, 2)) + self.nights * dice.choice((0, 0, 0, -1, 2)))
        soon = self._now.date() + timedelta(days=dice.randrange(-9, 3))
        shipment["target_ship_date"] = str(dice.choice(("", self._now.date() - timedelta(days=80), soon, *[day] * 5)))
        shipment["carrier_shipping_cost"] = dice.choice((None, 0, shipment.get("carrier_shipping_cost"), 12.3456))
        shipment["tpb_group"] = dice.choice((None, None, "", "Group 1", "Group 2"))
        for package in shipment["packages"]:
            value, unit = dice.choice(WEIGHTS)
            weight = dice.choice((package.get("billable_weight"), {"value": value, "unit": unit}))
            package["packaging"] += dice.choice(([], [{"product": package.get("infill"), "quantity": 1}]))
            package |= {"billable_weight": weight, "sscc": dice.choice((None, "", "00123", "00124"))}

    def _order_of(self, order: int, dice: random.Random) -> Record | None:
        """Some orders have up to six shipments; some shipments have no order, or one that nobody knows."""
        if dice.random() < 0.04:
            return dice.choice((None, {"type": "Order", "id": 7}))
        return {"type": "Order", "id": order - order % 6 if order // 6 % 2 == 0 else order}

    def _order(self, order: Record, dice: random.Random) -> None:
        order["tpb_group"] = dice.choice((None, {"type": "ThirdPartyBillingGroup", "id": dice.randrange(1, 9)}))
        order["state"] = dice.choice((order["state"], order["state"], "Holded", "complete", None))
        if dice.random() < 0.4:
            order["shipped_at"] = _text(self._near_a_change(dice, order))
        if dice.random() < 0.3:
            order["created_at"] = _text(self._near_a_change(dice, order) - timedelta(days=1))

    def _shipment_item(self, item: Record, dice: random.Random) -> None:
        quantity = item.get("quantity")
        for name in ("quantity", "qty_picked", "qty_shipped", "qty_canceled"):
            item[name] = dice.choice((item.get(name), quantity, quantity, 0, 1, 2.5, None))

    def _order_item(self, item: Record, dice: random.Random) -> None:
        ordered = item.get("qty_ordered")
        item["qty_canceled"] = canceled = dice.choice((0, 0, None, 1, ordered))
        item["qty_shipped"] = dice.choice((item.get("qty_shipped"), ordered, (ordered or 2) - (canceled or 0)))

    def _near_a_change(self, dice: random.Random, order: Record | None) -> datetime:
        """A time within a day of a change of clocks; the same change for all of an order."""
        changes = CHANGES[self._now]
        change = datetime.fromisoformat(f"{changes[(order or {}).get('id', 0) // 2 % len(changes)]}:00+00:00")
        return change + timedelta(minutes=dice.randrange(-700, 700))


CHANGED: Mapping[str, Callable[[Rewriter, Record, random.Random], None]] = {
    "Shipment": Rewriter._shipment,
    "Order": Rewriter._order,
    "ShipmentItem": Rewriter._shipment_item,
    "OrderItem": Rewriter._order_item,
    "ThirdPartyBillingGroup": lambda _, group, dice: group.update(label=dice.choice((None, "", "Group 1", "Group 2"))),
}


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def play(folder: Path, seed: int) -> Played:
    """Three nights: promises move, shipments are deleted, which the second audits, and some of them restored."""
    now = list(CHANGES)[seed % 2]
    service = InProcess(
        Sandbox(SandboxConfig(shipments=600, seed=seed, days=70, now=now, families=300, odd_values=True))
    )
    sandbox, rewriter = service.sandbox, Rewriter(seed, now)
    sandbox.rewrite = rewriter.rewritten
    zones = ",".join(f"{name}={zone}" for name, zone in [*ZONES.items(), ("*", OTHER_ZONE)])
    settings = settings_in(
        folder, service, start_date=date(2026, 1, 1), page_size=100, warehouse_timezones=zones, audit_pages=0
    )
    ids = sandbox._store.ids.tolist()
    gone = ids[5:580:7]
    back = gone[:5]

    run_sync(settings, service)
    let_pass(sandbox, seconds=30_000, changed=150, new=30, orders=60, retailers=20)
    rewriter.nights += 1
    sandbox.delete_shipments(gone)
    with data_of(service) as held:  # without a trace in updated_at
        held.order_revision[held.order_first[100:200:9]] += 1
    run_sync(settings.model_copy(update={"audit_pages": 1000}), service)
    sandbox.delete_shipments(back, deleted=False)
    with data_of(service) as held:
        held.updated[[ids.index(number) for number in back]] = sandbox.clock.now() + 1000
    let_pass(sandbox, seconds=5_000, changed=150, orders=60)
    rewriter.nights += 1
    last = run_sync(settings, service).read
    assert last is not None
    return Played(settings, last.horizon, frozenset(gone) - frozenset(back))
