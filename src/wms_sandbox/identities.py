"""The identities of shared objects: how many of each kind, their ids by position, and which belongs to which.

A position counts the objects of a kind from 0. All six product kinds share one sequence of positions and ids.
"""

from typing import Any

from wms_sandbox.dice import Dice
from wms_sandbox.kinds import PRODUCT_KINDS

RETAILERS, TOP_RETAILERS, MIDDLE_RETAILERS = 300, 12, 60
MERCHANTS, BRANDS, WAREHOUSES, LOCATIONS, BILLING_GROUPS, PRODUCTS, PACKAGINGS = 24, 60, 6, 300, 12, 400, 30
LOT_TYPES, REGULATIONS = 4, 90
"""Kinds that exist only as references: their ids go from 1 to this number."""

NOWHERE = 999_999_000
"""References use ids from here on, but no object has them."""


def reference(kind: str, identity: object) -> dict[str, Any]:
    """Return the reference to an object."""
    return {"type": kind, "id": identity}


def retailer_id(position: int) -> int:
    """Return the id of the retailer at a position."""
    return 101 + 3 * position


def retailer_code(position: int) -> str:
    """Return the code of the retailer at a position."""
    return f"RET-{position:04}"


def retailer_parent(position: int) -> int | None:
    """Return the parent's position: top retailers have none, middle ones a top one, the rest mostly a middle one."""
    if position < TOP_RETAILERS:
        return None
    if position < MIDDLE_RETAILERS:
        return position % TOP_RETAILERS
    return None if position % 4 == 0 else TOP_RETAILERS + position % (MIDDLE_RETAILERS - TOP_RETAILERS)


def merchant_id(position: int) -> int:
    """Return the id of the merchant at a position."""
    return 11 + position


def brand_id(position: int) -> int:
    """Return the id of the brand at a position."""
    return 2_000 + 7 * position


def location_id(position: int) -> int:
    """Return the id of the ship-to location at a position."""
    return 2_147_483_500 + position


def location_retailer(position: int) -> int:
    """Return the position of the retailer that a location belongs to."""
    return position * 7 % RETAILERS


def product_kind(position: int) -> str:
    """Return the kind at a position: first the products, then PACKAGINGS items of each packaging kind."""
    return PRODUCT_KINDS[0] if position < PRODUCTS else PRODUCT_KINDS[1 + (position - PRODUCTS) // PACKAGINGS]


def product_id(position: int) -> int:
    """Return the id of the product at a position."""
    return 2_147_483_000 + 2 * position


def product_reference(position: int) -> dict[str, Any]:
    """Return a reference to the product at a position, whatever its kind."""
    return reference(product_kind(position), product_id(position))


def packaging_reference(dice: Dice, kind: str) -> dict[str, Any]:
    """Return a reference to a random packaging item of a kind."""
    offset = (PRODUCT_KINDS.index(kind) - 1) * PACKAGINGS + dice.low_first(PACKAGINGS)
    return product_reference(PRODUCTS + offset)


def sku(position: int, *, is_odd: bool = False) -> str:
    """Return the SKU at a position; some odd ones look like numbers, some have quotes and spaces."""
    if is_odd and position % 31 == 5:
        return f"{position:06}"
    if is_odd and position % 37 == 4:
        return f'SK "{position}" ü/%'
    return f"SKU-{position * 7919 % 100_000:05}-{'SML'[position % 3]}"


def positions() -> dict[tuple[str, int], int]:
    """Return the positions of all shared objects, by kind and id."""
    found: dict[tuple[str, int], int] = {}
    for kind, count, identity in (
        ("Retailer", RETAILERS, retailer_id),
        ("Merchant", MERCHANTS, merchant_id),
        ("Brand", BRANDS, brand_id),
        ("RetailerShipToLocation", LOCATIONS, location_id),
        ("Warehouse", WAREHOUSES, lambda position: 1 + position),
        ("ThirdPartyBillingGroup", BILLING_GROUPS, lambda position: 1 + position),
    ):
        found |= {(kind, identity(position)): position for position in range(count)}
    products = range(PRODUCTS + PACKAGINGS * (len(PRODUCT_KINDS) - 1))
    return found | {(product_kind(position), product_id(position)): position for position in products}
