"""What the marts and the report must say, worked out slowly from raw pages, in plain Python.

Written from the comments of the columns, ``docs/explanation/data.md`` and the specification, not from the SQL. It takes
from the product nothing but the opened pages.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

Record = dict[str, Any]
Row = dict[str, Any]
SETTLING = timedelta(minutes=10)
"""So long before its read a version without ``updated_at`` ranks."""
PRODUCT_KINDS = {
    "Product",
    *(f"Packaging{kind}" for kind in ("Container", "Supplies", "Infill", "DataCollection", "Instruction")),
}
KILOGRAMS = {"lb": 0.45359237, "oz": 0.028349523125, "g": 0.001, "kg": 1.0}
OPEN_SHIPMENT = dict.fromkeys(("new", "picking", "picked", "packing", "packed"), True) | dict.fromkeys(
    ("shipped", "canceled", "voided"), False
)
OPEN_ORDER = {"new": True, "processing": True, "holded": True, "complete": False, "canceled": False}
WAITS = ("partial_backorder", "backordered", "delayed_shipment", "unresolved", "invalid_address", "unable_to_process")
OPEN_ORDER_STATUS = OPEN_ORDER | dict.fromkeys(WAITS, True)


class Version(Struct, frozen=True):
    """An object on a page: when the page was served, and whether an audit or a backfill looked at it by name."""

    thing: Record
    served: datetime
    looked: bool

    @property
    def rank(self) -> tuple[datetime, datetime, bool]:
        return moment(self.thing.get("updated_at")) or self.served - SETTLING, self.served, self.looked


class Service:
    """What the pages say of the service: the newest version of each object by kind and id."""

    def __init__(self, pages: Iterable[tuple[bytes, datetime, bool]]) -> None:
        self.versions: dict[tuple[str, int], list[Version]] = defaultdict(list)
        for content, served, looked in pages:
            page = json.loads(content, parse_float=Decimal)
            included = page.get("included") or {}
            index = {(kind, thing["id"]): thing for kind, things in included.items() for thing in things}
            for kind, things in {"Shipment": page["collection"], **included}.items():
                for thing in things:
                    owned = ("items", "status_history", "shipping_address") if kind in {"Shipment", "Order"} else ()
                    # it stands in its owner, under ``included`` or in both
                    whole = thing | {name: _full(thing.get(name), index) for name in owned}
                    key = "Product" if kind in PRODUCT_KINDS else kind, thing["id"]
                    self.versions[key].append(Version(whole, served, looked))
        for versions in self.versions.values():
            versions.sort(key=lambda version: version.rank)

    def of(self, kind: str) -> dict[int, Record]:
        """The newest versions by id. What an audit or a backfill looked at voids all that was read before."""
        return {key[1]: _newest(versions) for key, versions in self.versions.items() if key[0] == kind}

    def first(self, kind: str, key: int, name: str) -> Any:
        """The value of the oldest version that has one."""
        things = (version.thing for version in self.versions[kind, key])
        return next((thing[name] for thing in things if thing.get(name) is not None), None)


def _full(stated: Any, index: Mapping[tuple[str, int], Record]) -> Any:
    if isinstance(stated, list):
        return [_full(one, index) for one in stated]
    included = index.get((stated["type"], stated["id"]), {}) if stated else {}
    return stated and stated | {name: value for name, value in included.items() if value is not None}


def _newest(versions: list[Version]) -> Record:
    looked = [version.served for version in versions if version.looked]
    return max((v for v in versions if not looked or v.served >= max(looked)), key=lambda v: v.rank).thing


class Marts(Struct, dict=True):
    """The rows of each mart. ``zones`` has the time zone of a warehouse by name and abbreviation."""

    service: Service
    until: datetime
    zones: Mapping[str, str]
    other_zone: str
    deleted: frozenset[int]

    def __post_init__(self) -> None:
        kinds = ("Warehouse", "Merchant", "Retailer", "RetailerShipToLocation", "ThirdPartyBillingGroup", "Product")
        self.known = {kind: self.service.of(kind) for kind in (*kinds, "Shipment", "Order")}
        self.shipped_of = Counter(
            _id(shipment, "order")
            for shipment in self.known["Shipment"].values()
            if lower(shipment.get("status")) == "shipped"
        )

    def _the(self, kind: str, holder: Record | None, name: str) -> Record:
        """The object that a reference refers to; empty if none came."""
        return self.known[kind].get(_id(holder or {}, name), {})

    @cached_property
    def packages(self) -> list[Row]:
        return [row for shipment in self.known["Shipment"].values() for row in self._packages_of(shipment)]

    def _packages_of(self, shipment: Record) -> Iterator[Row]:
        packages, whole = shipment["packages"], _float(shipment.get("carrier_shipping_cost"))
        weights = [_kilograms(package.get("billable_weight")) for package in packages]
        for position, (package, billed) in enumerate(zip(packages, weights, strict=True), 1):
            part = billed / sum(weights) if None not in weights and sum(weights) > 0 else 1 / len(packages)
            cost = None if whole is None else whole * part
            inside = [(_kilograms(item.get("weight")), item["quantity"]) for item in package["items"]]
            is_weighed = inside and not any(None in pair for pair in inside)
            items = sum(weight * float(quantity) for weight, quantity in inside) if is_weighed else None
            excess = None if items is None or billed is None else max(billed - items, 0)
            has_both = bool(billed) and cost is not None
            yield {
                "shipment_id": shipment["id"],
                "package_position": position,
                "tracking_ref": package.get("tracking_ref"),
                "sscc": package.get("sscc"),
                "cost": cost,
                "cost_by_kg": cost if has_both else None,
                "billed_kg": billed if has_both else None,
                "dimensional_kg": _kilograms(package.get("dimensional_weight")),
                "item_kg": items,
                "excess_kg": excess,
                "excess_cost": cost * excess / billed if has_both and excess is not None else None,
                "void_percent": _float(package.get("total_void_percent")),
                "container_id": _id(package, "container"),
                "container_name": self._the("Product", package, "container").get("name"),
                "container_style": package.get("container_style"),
            }

    @cached_property
    def packaging(self) -> list[Row]:
        return [row for shipment in self.known["Shipment"].values() for row in self._packaging_of(shipment)]

    def _packaging_of(self, shipment: Record) -> Iterator[Row]:
        for position, package in enumerate(shipment["packages"], 1):
            alone = {name: _id(package, name) for name in ("container", "infill") if package.get(name)}
            used = [(name, 1, key, Decimal(1)) for name, key in alone.items()]
            for place, other in enumerate(package["packaging"], 1):
                item = other.get("product")
                is_material = item and item["type"] not in {"PackagingDataCollection", "PackagingInstruction"}
                if is_material and item["id"] not in alone.values():
                    used.append(("other", place, item["id"], other.get("quantity")))
            for used_as, place, key, units in used:
                product = self.known["Product"].get(key, {})
                yield {
                    "shipment_id": shipment["id"],
                    "package_position": position,
                    "used_as": used_as,
                    "packaging_position": place,
                    "packaging_id": key,
                    "packaging_sku": product.get("sku"),
                    "packaging_name": product.get("name"),
                    "packaging_type": product.get("type"),
                    "packaging_units": units,
                }

    @cached_property
    def shipments(self) -> list[Row]:
        rows = [self._shipment(shipment) for shipment in self.known["Shipment"].values()]
        per_order = grouped(rows, "order_id")
        for row in rows:
            later = [
                (other["created_at"], other["shipment_id"])
                for other in (per_order[row["order_id"],] if row["is_voided"] and row["order_id"] is not None else ())
                if other["is_live"]
                and (other["created_at"], other["shipment_id"]) > (row["created_at"], row["shipment_id"])
            ]
            row["replaced_by_shipment_id"] = min(later)[1] if later else None
        return rows

    def _shipment(self, shipment: Record) -> Row:
        order, status = self._the("Order", shipment, "order"), lower(shipment.get("status"))
        warehouse, retailer = self._the("Warehouse", shipment, "warehouse"), self._the("Retailer", shipment, "retailer")
        merchant, location = self._the("Merchant", order, "merchant"), "retailer_ship_to_location"
        ship_to, billed = self._the("RetailerShipToLocation", shipment, location), shipment.get("tpb_group")
        ordered_group, address = self._the("ThirdPartyBillingGroup", order, "tpb_group"), order.get("shipping_address")
        named = (warehouse.get("name"), warehouse.get("abbreviation"))
        zone = next((zone for name, zone in self.zones.items() if name in named), self.other_zone)
        is_deleted = shipment["id"] in self.deleted
        is_shipped = status == "shipped" if status in OPEN_SHIPMENT else None
        is_open = False if is_deleted else OPEN_SHIPMENT.get(status)
        created, packed = moment(shipment["created_at"]), moment(shipment.get("packed_at"))
        ordered, delivered = moment(order.get("created_at")), moment(order.get("delivered_at"))
        shipped, source = self._shipped(shipment, order) if is_shipped else (None, None)
        shipped_day, today = day(shipped, zone), day(self.until, zone)
        promised = day_of(shipment.get("target_ship_date"))
        first = day_of(self.service.first("Shipment", shipment["id"], "target_ship_date"))
        ends = shipped_day if is_shipped else today if is_open else None
        methods, method = retailer.get("allowed_shipping_methods") or [], shipment.get("shipping_method")
        items, packages = shipment["items"], [*self._packages_of(shipment)]
        wants_sscc = order.get("generate_sscc")
        goods = {kind for item in items if (kind := self._the("Product", item, "product").get("goods_type"))}
        as_ordered = not order.get("tpb_group") or ordered_group.get("label") is not None

        def is_on_time(by: date | None) -> bool | None:
            if by is None or by >= today or not (is_shipped or is_open):
                return None
            return False if is_open else None if shipped_day is None else shipped_day <= by

        return {
            "shipment_id": shipment["id"],
            "shipment_unique_id": shipment["unique_id"],
            "shipment_status": status,
            "is_shipped": is_shipped,
            "is_open": is_open,
            "is_live": is_shipped is True or (not is_deleted and is_open is not False),
            "is_voided": None if status is None else status == "voided",
            "is_deleted": is_deleted,
            "warehouse_id": _id(shipment, "warehouse"),
            "warehouse_name": warehouse.get("name"),
            "timezone": zone,
            "local_today": today,
            "merchant_id": _id(order, "merchant"),
            "merchant_code": merchant.get("code"),
            "merchant_name": merchant.get("name"),
            "retailer_id": _id(shipment, "retailer"),
            "retailer_code": retailer.get("code"),
            "retailer_name": retailer.get("name"),
            "order_id": _id(shipment, "order"),
            "order_unique_id": order.get("unique_id"),
            "order_ref": order.get("order_ref"),
            "order_created_at": ordered,
            "order_created_local": local(ordered, zone),
            "order_created_day": day(ordered, zone),
            "order_updated_local": local(moment(order.get("updated_at")), zone),
            "created_at": created,
            "created_local": local(created, zone),
            "created_day": day(created, zone),
            "updated_at": moment(shipment["updated_at"]),
            "packed_at": packed,
            "packed_local": local(packed, zone),
            "packed_day": day(packed, zone),
            "packed_hour": packed and local(packed, zone).hour,
            "shipped_at": shipped,
            "shipped_local": local(shipped, zone),
            "shipped_day": shipped_day,
            "shipped_at_source": source,
            "delivered_at": delivered,
            "requested_ship_date": day_of(order.get("requested_ship_date")),
            "target_ship_date": promised,
            "first_target_ship_date": first,
            "days_late": (ends - promised).days if ends and promised else None,
            "is_on_time": is_on_time(promised),
            "is_on_time_by_first_promise": is_on_time(first),
            "hours_order_to_created": hours(ordered, created),
            "hours_created_to_packed": hours(created, packed),
            "hours_packed_to_shipped": hours(packed, shipped),
            "hours_order_to_shipped": hours(ordered, shipped),
            "hours_shipped_to_delivered": hours(shipped, delivered),
            "carrier_code": shipment.get("shipping_carrier_code"),
            "shipping_method": method,
            "ordered_shipping_method": order.get("shipping_method"),
            "is_method_allowed": method in methods if methods and method is not None else None,
            "shipping_service_name": shipment.get("shipping_service_name"),
            "tpb_group": billed,
            "ordered_tpb_group": ordered_group.get("label"),
            "is_tpb_group_as_ordered": (billed or "") == (ordered_group.get("label") or "")
            if order and as_ordered
            else None,
            "is_international": shipment.get("is_international"),
            "ship_to_country": (address or {}).get("country"),
            "ship_to_region": (address or {}).get("region"),
            "ship_to_classification": (address or {}).get("classification"),
            "ship_to_code": ship_to.get("code"),
            "ship_to_city": ship_to.get("city"),
            "shipment_lines": len(items),
            "skus": len({item.get("sku") for item in items} - {None}),
            "units": total(items, "quantity"),
            "units_picked": total(items, "qty_picked"),
            "units_shipped": total(items, "qty_shipped"),
            "units_canceled": total(items, "qty_canceled"),
            "goods_types": ", ".join(sorted(goods)) or None,
            "packages": len(packages),
            "is_sscc_missing": all_of(
                any(not row["sscc"] for row in packages), None if wants_sscc is None else bool(wants_sscc)
            )
            if packages
            else None,
            "tracking_refs": ", ".join(row["tracking_ref"] for row in packages if row["tracking_ref"] is not None)
            or None,
            "packaging_units": total(self._packaging_of(shipment), "packaging_units"),
            "billed_kg": total(packages, "billed_kg"),
            "cost_by_kg": total(packages, "cost_by_kg"),
            "cost": _float(shipment.get("carrier_shipping_cost")),
        }

    def _shipped(self, shipment: Record, order: Record) -> tuple[datetime | None, str]:
        """When a shipped shipment was, as far as the service says."""
        packed, of_order = moment(shipment.get("packed_at")), moment(order.get("shipped_at"))
        if packed and (of_order is None or packed > of_order or self.shipped_of[_id(shipment, "order")] > 1):
            return packed, "packed"
        return of_order, "order" if of_order else "unknown"

    @cached_property
    def orders(self) -> list[Row]:
        return [
            self._order(order, grouped(self.shipments, "order_id")[order["id"],])
            for order in self.known["Order"].values()
        ]

    def _order(self, order: Record, shipments: list[Row]) -> Row:
        state, status, items = lower(order.get("state")), lower(order.get("status")), order["items"]
        merchant, retailer = self._the("Merchant", order, "merchant"), self._the("Retailer", order, "retailer")
        is_open = all_of(OPEN_ORDER.get(state), OPEN_ORDER_STATUS.get(status))
        held = self._held_since(order) if "holded" in {state, status} else None
        address, created = order.get("shipping_address") or {}, moment(order["created_at"])
        declared, customs = order.get("declared_value") or {}, order.get("customs_value") or {}
        zone = min(shipments, key=lambda row: row["shipment_id"])["timezone"] if shipments else None
        last = max((row for row in shipments if row["shipped_at"]), key=lambda row: row["shipped_at"], default={})
        live = [row for row in shipments if row["is_live"]]
        is_on_time = all_of(*(row["is_on_time"] for row in live)) if live else None
        pairs = [(item.get("qty_ordered"), item.get("qty_shipped"), item.get("qty_canceled") or 0) for item in items]
        without = sum(ordered is None or shipped is None for ordered, shipped, _ in pairs)
        is_in_full = None
        if not without and any(ordered > canceled for ordered, _, canceled in pairs):
            is_in_full = all(shipped >= ordered - canceled for ordered, shipped, canceled in pairs)
            if not is_in_full and any(row["is_open"] is not False for row in live):
                is_in_full = None
        shipped = [row["is_shipped"] for row in shipments]
        return {
            "order_id": order["id"],
            "order_unique_id": order["unique_id"],
            "order_ref": order.get("order_ref"),
            "order_state": state,
            "order_status": status,
            "is_open": is_open,
            "on_hold_since": held,
            "hours_on_hold": hours(held, self.until),
            "merchant_id": _id(order, "merchant"),
            "merchant_code": merchant.get("code"),
            "merchant_name": merchant.get("name"),
            "retailer_id": _id(order, "retailer"),
            "retailer_code": retailer.get("code"),
            "retailer_name": retailer.get("name"),
            "ordered_shipping_method": order.get("shipping_method"),
            "requested_ship_date": day_of(order.get("requested_ship_date")),
            "ship_to_country": address.get("country"),
            "ship_to_region": address.get("region"),
            "ship_to_classification": address.get("classification"),
            "declared_value_amount": declared.get("amount"),
            "declared_value_currency": declared.get("currency"),
            "customs_value_amount": customs.get("amount"),
            "customs_value_currency": customs.get("currency"),
            "timezone": zone,
            "order_created_at": created,
            "order_created_local": zone and local(created, zone),
            "order_created_day": zone and day(created, zone),
            "order_updated_local": zone and local(moment(order["updated_at"]), zone),
            "shipped_at": last.get("shipped_at"),
            "shipped_local": last.get("shipped_local"),
            "shipped_day": last.get("shipped_day"),
            "delivered_at": moment(order.get("delivered_at")),
            "age_days": hours(created, self.until) / 24 if is_open else None,
            "order_lines": len(items),
            "lines_without_units": without,
            "skus": len({item.get("sku") for item in items} - {None}),
            "units": total(items, "qty_ordered"),
            "units_reserved": total(items, "qty_allocated"),
            "units_picked": total(items, "qty_picked"),
            "units_shipped": total(items, "qty_shipped"),
            "units_canceled": total(items, "qty_canceled"),
            "units_backordered": 0 if is_open is False else total(items, "qty_backordered"),
            "shipments": len(shipments),
            "shipments_live": len(live),
            "shipments_open": sum(row["is_open"] is True for row in shipments),
            "shipments_shipped": sum(row["is_shipped"] is True for row in shipments),
            "packages": sum(row["packages"] for row in shipments),
            "cost": total(shipments, "cost"),
            "is_shipped": True if True in shipped else None if None in shipped else False,
            "is_split": len(live) > 1,
            "is_on_time": is_on_time,
            "is_in_full": is_in_full,
            "is_otif": all_of(is_on_time, is_in_full),
        }

    def _held_since(self, order: Record) -> Any:
        """When it was put on hold: by its own list of statuses, or else by what was read of it."""
        said = [
            (moment(entry.get("created_at")), place, lower(entry.get("status")))
            for place, entry in enumerate(order["status_history"] or ())
        ]
        since = None
        for at, _, status in sorted(entry for entry in said if None not in entry):
            since = (since or at) if status == "holded" else None
        return since or self._seen_on_hold_since(order["id"])

    def _seen_on_hold_since(self, key: int) -> Any:
        """Since when the versions that were read of it are on hold: their ``updated_at``, if it can be."""
        since, latest = None, None
        for version in self.service.versions["Order", key]:
            is_held = "holded" in {lower(version.thing.get(name)) for name in ("state", "status")}
            changed = moment(version.thing["updated_at"])
            begun = version.served if latest and changed <= latest else changed
            latest = max(latest or changed, changed)
            since = (since or begun) if is_held else None
        return since

    @cached_property
    def shipment_lines(self) -> list[Row]:
        return [
            self._shipment_line(shipment, item)
            for shipment in self.shipments
            for item in self.known["Shipment"][shipment["shipment_id"]]["items"]
        ]

    def _shipment_line(self, shipment: Row, item: Record) -> Row:
        same = ("shipment_id", "order_id", "warehouse_id", "warehouse_name", "merchant_id", "merchant_name")
        product = self._the("Product", item, "product")
        owed = None if item.get("quantity") is None else item["quantity"] - (item.get("qty_canceled") or 0)
        return {
            **{name: shipment[name] for name in (*same, "packed_day", "shipped_day", "is_shipped", "is_open")},
            "shipment_item_id": item["id"],
            "order_item_id": _id(item, "order_item"),
            "product_id": _id(item, "product"),
            "sku": item.get("sku"),
            "product_name": product.get("name"),
            "goods_type": product.get("goods_type"),
            "units": item.get("quantity"),
            "units_reserved": total(item.get("reservations") or (), "quantity"),
            "units_picked": item.get("qty_picked"),
            "units_shipped": item.get("qty_shipped"),
            "units_canceled": item.get("qty_canceled"),
            "units_picked_short": short(owed, item.get("qty_picked")) if shipment["packed_at"] else None,
            "units_shipped_short": short(owed, item.get("qty_shipped")) if shipment["is_shipped"] else None,
        }

    @cached_property
    def order_lines(self) -> list[Row]:
        same = ("order_id", "order_ref", "merchant_id", "merchant_name", "order_created_day", "is_open", "age_days")
        return [
            {
                **{name: order[name] for name in same},
                "order_item_id": item["id"],
                "product_id": _id(item, "product"),
                "sku": item.get("sku"),
                "product_name": self._the("Product", item, "product").get("name"),
                "units": item.get("qty_ordered"),
                "units_reserved": item.get("qty_allocated"),
                "units_picked": item.get("qty_picked"),
                "units_shipped": item.get("qty_shipped"),
                "units_canceled": item.get("qty_canceled"),
                "units_backordered": 0 if order["is_open"] is False else item.get("qty_backordered"),
            }
            for order in self.orders
            for item in self.known["Order"][order["order_id"]]["items"]
        ]

    @cached_property
    def days(self) -> list[Row]:
        rows = []
        for (warehouse,), shipments in grouped(self.shipments, "warehouse_id").items():
            names = ("created_day", "packed_day", "target_ship_date", "shipped_day")
            on = {name: grouped(shipments, name) for name in names}
            at = min(key for by_day in on.values() for (key,) in by_day if key)
            while at <= shipments[0]["local_today"]:
                due = [row for row in on["target_ship_date"][at,] if row["is_on_time"] is not None]
                shipped = on["shipped_day"][at,]
                rows.append(
                    {
                        "warehouse_id": warehouse,
                        "warehouse_name": shipments[0]["warehouse_name"],
                        "day": at,
                        "shipments_created": len(on["created_day"][at,]),
                        "shipments_packed": len(on["packed_day"][at,]),
                        "shipments_due": len(due),
                        "shipments_on_time": sum(row["is_on_time"] for row in due),
                        "shipments_shipped": len(shipped),
                        "units_shipped": total(shipped, "units_shipped"),
                        "packages": sum(row["packages"] for row in shipped),
                        "cost": total(shipped, "cost"),
                    }
                )
                at += timedelta(days=1)
        return rows


def grouped(rows: Iterable[Row], *names: str) -> Mapping[tuple[Any, ...], list[Row]]:
    """The rows by the values of these columns."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def total(things: Iterable[Record], name: str) -> Any:
    """The sum of what is known; None if nothing is."""
    values = [thing[name] for thing in things if thing.get(name) is not None]
    return sum(values) if values else None


def short(owed: Any, done: Any) -> Any:
    """What is still owed, as far as both are known."""
    return None if owed is None or done is None else max(owed - done, 0)


def all_of(*conditions: bool | None) -> bool | None:
    """Whether all hold: false as soon as one does not, None if one that may decide is unknown."""
    return False if False in conditions else None if None in conditions else True


def moment(text: str | None) -> Any:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def day_of(text: str | None) -> Any:
    return date.fromisoformat(text[:10]) if text else None


def local(at: datetime | None, zone: str) -> Any:
    return at and at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def day(at: datetime | None, zone: str) -> Any:
    return at and local(at, zone).date()


def hours(start: datetime | None, end: datetime | None) -> Any:
    return (end - start).total_seconds() / 3600 if start and end else None


def lower(text: str | None) -> Any:
    return text and text.lower()


def _id(thing: Record, name: str) -> Any:
    return (thing.get(name) or {}).get("id")


def _kilograms(weight: Record | None) -> Any:
    value, unit = (weight or {}).get("value"), lower((weight or {}).get("unit"))
    return None if value is None or unit not in KILOGRAMS else float(value) * KILOGRAMS[unit]


def _float(number: Any) -> Any:
    return None if number is None else float(number)
