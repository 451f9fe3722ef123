"""Small values that many objects have (specification 2.0): times, money, weights, sizes, titles, custom fields."""

import zlib
from typing import Any

from wms_sandbox import texts
from wms_sandbox.dice import Dice


def stamp(dice: Dice, year_from: int = 2019, year_to: int = 2024) -> str:
    """Return a time in the past; some have a fraction, some an offset."""
    ending = ("Z", "Z", "Z", "Z", "Z", "Z", ".5Z", ".123456Z", "+00:00")[dice.whole(0, 8)]
    day = f"{dice.whole(year_from, year_to)}-{dice.whole(1, 12):02}-{dice.whole(1, 28):02}"
    return f"{day}T{dice.whole(0, 23):02}:{dice.whole(0, 59):02}:{dice.whole(0, 59):02}{ending}"


def custom_fields(dice: Dice) -> dict[str, Any]:
    """Return custom fields of all shapes (2.0); often none at all."""
    if dice.chance(0.35):
        return {}
    every: dict[str, Any] = {
        "is_vip": {"value": dice.chance(0.5)},
        "dock_note": {"value": dice.remark()},
        "pallet_limit": {"value": dice.whole(0, 40)},
        "tier": {"id": dice.whole(1, 5), "label": dice.pick(("Gold", "Silver", "Brönze"))},
        "days": [{"id": k, "label": day} for k, day in enumerate(("Mon", "Tue", "Wed")) if dice.chance(0.6)],
        "deposit": money(dice, 500),
    }
    return {code: value for code, value in every.items() if dice.chance(0.4)}


def money(dice: Dice, high: float) -> dict[str, Any]:
    """Return an amount up to `high`: whole, with cents, and sometimes with four digits."""
    amount: float = dice.whole(0, int(high)) if dice.chance(0.2) else dice.decimal(0, high, dice.pick((2, 2, 2, 4)))
    return {"amount": amount, "currency": dice.pick(("USD", "USD", "USD", "EUR", "JPY")) if dice.is_odd else "USD"}


def weight(dice: Dice, pounds: float) -> dict[str, Any]:
    """Return a weight; few odd ones are without a value, or tiny."""
    return {"value": dice.pick((None, 0, 0.00001, 1e-7)) if dice.oddly(0.02) else round(pounds, 2), "unit": "lb"}


def piece(sku: str) -> float:
    """Return the pounds of a piece of a product."""
    return 0.2 + zlib.crc32(sku.encode()) % 60 / 10


def dimensions(dice: Dice) -> dict[str, Any]:
    """Return dimensions in inches."""
    return {
        "length": dice.whole(1, 40),
        "width": dice.decimal(0.5, 30, 2),
        "height": dice.decimal(0.1, 20, 3),
        "unit": "in",
    }


def volume(dice: Dice) -> dict[str, Any]:
    """Return a volume in cubic inches."""
    return {"value": dice.decimal(1, 9000, 3), "unit": "in^3"}


def title(dice: Dice) -> str:
    """Return a product or brand name, sometimes a difficult one."""
    return dice.remark() if dice.oddly(0.1) else f"{dice.pick(texts.WORDS)} {dice.pick(texts.THINGS)}"
