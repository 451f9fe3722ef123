"""Objects that many shipments share: products and packaging, retailers, merchants, brands, warehouses, locations.

Each is a function of the seed and its position and is made on demand. A retailer also depends on its revision, since
`advance` renames retailers. Retailers nest three levels deep. Ids of locations and products exceed 2^31.
"""

from collections.abc import Callable
from typing import Any

from wms_sandbox import texts
from wms_sandbox.dice import Dice
from wms_sandbox.identities import (
    BRANDS,
    MERCHANTS,
    brand_id,
    location_id,
    location_retailer,
    merchant_id,
    positions,
    reference,
    retailer_code,
    retailer_id,
    retailer_parent,
)
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.measures import custom_fields, stamp, title
from wms_sandbox.products import product

_KEPT = frozenset({"type", "id", "code", "name", "status", "sku", "label", "retailer", "brands"})


class Pools:
    """The shared objects of one seed, with all fields: fields are selected elsewhere."""

    def __init__(self, seed: int, *, is_odd: bool) -> None:
        self._seed = seed
        self.is_odd = is_odd
        self._makers: dict[str, Callable[[Dice, int], dict[str, Any]]] = {
            "Merchant": _merchant,
            "Brand": _brand,
            "Warehouse": _warehouse,
            "RetailerShipToLocation": _location,
            "ThirdPartyBillingGroup": _billing_group,
            "Retailer": _retailer,
            **dict.fromkeys(PRODUCT_KINDS, product),
        }

        self._positions = positions()
        self._made: dict[tuple[str, int, int], dict[str, Any]] = {}

    def position(self, kind: str, identity: int) -> int | None:
        """Return the position of the object with an id; None if there is none."""
        return self._positions.get((kind, identity))

    def add(self, position: int, thing: dict[str, Any]) -> None:
        """Add an object, at a position after those of its pool."""
        self._positions[thing["type"], thing["id"]] = position
        self._made[thing["type"], position, 0] = thing

    def find(self, kind: str, identity: int) -> dict[str, Any] | None:
        """Return the object with an id, as it was made; None if there is none."""
        position = self.position(kind, identity)
        return None if position is None else self.make(kind, position)

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Return every object of a kind, as it was made."""
        return [self.make(kind, position) for (each, _), position in self._positions.items() if each == kind]

    def make(self, kind: str, position: int, revision: int = 0) -> dict[str, Any]:
        """Return the whole object of a kind at a position; do not change it."""
        key = (kind, position, revision)
        if key not in self._made:
            self._made[key] = self._make(kind, position)
            if revision:
                self._made[key]["name"] += f" (renamed {revision})"
        return self._made[key]

    def _make(self, kind: str, position: int) -> dict[str, Any]:
        """Make an object; every second odd one lacks a value, each in turn, so that every field is absent somewhere."""
        dice = Dice(self._seed, kind, position, is_odd=self.is_odd)
        thing = self._makers[kind](dice, position)
        dice.roughen(thing, _KEPT)
        missed = list(thing)[position // 2 % len(thing)]
        if self.is_odd and position % 2 and missed not in _KEPT:
            thing[missed] = None
        return thing


def _merchant(dice: Dice, position: int) -> dict[str, Any]:
    brands = [reference("Brand", brand_id(k)) for k in range(position, BRANDS, MERCHANTS)]
    return {
        "type": "Merchant",
        "id": merchant_id(position),
        "code": f"m{position:02}",
        "name": f"{texts.WORDS[position]} Trading",
        "status": "suspended" if dice.oddly(0.3) else "active",
        "created_at": stamp(dice),
        "updated_at": stamp(dice, 2024, 2025),
        "brands": [] if position == 5 else brands,
        "default_brand": None if position == 5 else brands[0],
        "custom_fields": custom_fields(dice),
    }


def _brand(dice: Dice, position: int) -> dict[str, Any]:
    return {
        "type": "Brand",
        "id": brand_id(position),
        "code": f"brand_{position}",
        "name": title(dice),
        "is_active": dice.chance(0.9),
        "is_deleted": dice.chance(0.1),
        "sort_order": dice.whole(-3, 100),
    }


def _warehouse(dice: Dice, position: int) -> dict[str, Any]:
    city = texts.CITIES[position]
    return {
        "type": "Warehouse",
        "id": 1 + position,
        "name": f"{city[0]} DC {position}",
        "abbreviation": None if position == 4 else city[1] + str(position),
        "is_active": None if position == 3 else position != 5,
    }


def _billing_group(dice: Dice, position: int) -> dict[str, Any]:
    return {
        "type": "ThirdPartyBillingGroup",
        "id": 1 + position,
        "label": f"Group {1 + position}" + (f" {dice.remark()}" if dice.is_odd else ""),
        "status": None if position == 2 else dice.pick(("active", "inactive")),
    }


def _retailer(dice: Dice, position: int) -> dict[str, Any]:
    parent = retailer_parent(position)
    carrier = dice.pick(texts.CARRIERS)
    methods = [f"{each[0]}_{each[1]}" for each in texts.CARRIERS if dice.chance(0.4 if dice.is_odd else 0.97)]
    return {
        "type": "Retailer",
        "id": retailer_id(position),
        "code": retailer_code(position),
        "name": dice.pick(texts.UGLY[:12])
        if dice.oddly(0.15)
        else f"{texts.WORDS[position % 24]} {texts.THINGS[(position * 5 + position // 24) % 24]} Stores",
        "status": "archived" if dice.oddly(0.12) else "active",
        "fulfillment_model": dice.pick(("wholesale", "drop_ship", "mixed")),
        "parent_retailer": None if parent is None else reference("Retailer", retailer_id(parent)),
        "legal_name": f"{dice.pick(texts.LAST_NAMES)} Holdings, LLC",
        "dba": f"{dice.pick(texts.LAST_NAMES)} Stores",
        "default_duties_payor": dice.pick(("shipper", "recipient", "third_party")),
        "default_shipping_method": f"{carrier[0]}_{carrier[1]}",
        "allowed_shipping_methods": methods,
        "routing_guide_notes": dice.remark(),
        "custom_fields": custom_fields(dice),
        "created_at": stamp(dice),
        "updated_at": stamp(dice, 2024, 2025),
    }


def _location(dice: Dice, position: int) -> dict[str, Any]:
    city, region, postcode, country = dice.pick(texts.DOMESTIC)
    return {
        "type": "RetailerShipToLocation",
        "id": location_id(position),
        "code": f"LOC{position:05}",
        "qualifier": dice.pick(("92", "UL", "9")),
        "label": title(dice),
        "location_type": dice.pick(("dc", "store", "mark_for", "drop_ship", "other")),
        "company": f"{dice.pick(texts.LAST_NAMES)} DC",
        "street": f"{dice.whole(1, 9999)} Dock Rd\nUnit {dice.whole(1, 30)}",
        "city": city,
        "region_id": dice.whole(1, 90),
        "region": region,
        "postcode": postcode,
        "country_id": country,
        "telephone": f"+1 555 {dice.whole(1000, 9999)}",
        "email": f"dock{position}@example.test",
        "is_default": dice.chance(0.2),
        "status": dice.pick(("active", "active", "inactive")),
        "retailer": reference("Retailer", retailer_id(location_retailer(position))),
        "created_at": stamp(dice),
        "updated_at": stamp(dice, 2024, 2025),
    }
