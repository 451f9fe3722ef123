"""Objects that belong to one order alone (specification 2.5): addresses, candidates, instructions, status history."""

from collections.abc import Sequence
from typing import Any

from wms_sandbox import texts
from wms_sandbox.dice import Dice
from wms_sandbox.heads import LATE, Head
from wms_sandbox.identities import reference
from wms_sandbox.slots import number, text

ADDED_HISTORY = 2
"""The number of history entries that appear only after the order has changed."""

_PAIR = frozenset(("type", "id"))


def address(dice: Dice, k: int, cities: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Return an OrderAddress in one of the cities: the shipping address (k 0) or the original one (k 1)."""
    city, region, postcode, country = dice.pick(cities)
    street = [f"{dice.whole(1, 9999)} {dice.pick(texts.WORDS)} St", dice.pick(("Apt 4", "", 'c/o "X" #5'))]
    made: dict[str, Any] = {
        "type": "OrderAddress",
        "id": number(f"oaddr{k}"),
        "first_name": dice.pick(texts.FIRST_NAMES),
        "last_name": dice.pick(texts.LAST_NAMES),
        "company": dice.pick((None, "", "ACME & Co.")),
        "street": street[: dice.whole(0, 2)],
        "city": city,
        "region": region,
        "postcode": postcode,
        "country": country,
        "telephone": f"555-{dice.whole(0, 9999):04}",
        "email": f"p{dice.whole(1, 999_999)}@example.test",
        "classification": dice.pick(("residential", "commercial", "unknown")),
        "is_valid": dice.chance(0.8),
    }
    dice.roughen(made, _PAIR, share=0.15)
    return made


def candidate(dice: Dice, k: int) -> dict[str, Any]:
    """Return an OrderAddressCandidate."""
    city, region, postcode, country = dice.pick(texts.CITIES)
    made: dict[str, Any] = {
        "type": "OrderAddressCandidate",
        "id": number(f"ocand{k}"),
        "address_id": number("oaddr0"),
        "street": f"{dice.whole(1, 9999)} {dice.pick(texts.WORDS)} Street\nFloor {k}",
        "city": city,
        "region_code": region,
        "postal_code": postcode,
        "country_code": country,
        "classification": dice.pick(("residential", "commercial")),
    }
    dice.roughen(made, _PAIR, share=0.15)
    return made


def instruction(dice: Dice, k: int) -> dict[str, Any]:
    """Return an OrderInstruction."""
    made: dict[str, Any] = {
        "type": "OrderInstruction",
        "id": number(f"oinstr{k}"),
        "order_id": number("oid0"),
        "note": dice.remark(),
        "file_name": dice.pick((None, "packing slip (final)™ v2.pdf", "a\\b.zpl")),
        "presentation": dice.pick(("before_packing", "after_packing")),
        "print_target": dice.pick(("document", "label")),
        "print_orientation": dice.pick(("portrait", "landscape")),
        "copies_printed": dice.whole(0, 3),
    }
    dice.roughen(made, _PAIR, share=0.15)
    return made


def history(dice: Dice, head: Head) -> list[dict[str, Any]]:
    """Return an entry for each status so far, followed by those that appear after changes of an odd order."""
    last = ("oover" if head.stage == LATE else "o3", texts.ORDER_STATUSES[head.order_status])
    count = dice.whole(0, 3) if dice.is_odd else (1, 2, 2, 3, 2, 3, 3)[head.stage]
    entries = [("ocreated", "new"), ("o2", "processing"), last][:count] + [("oupdated", "")] * ADDED_HISTORY
    return [_history_entry(dice, k, time, status) for k, (time, status) in enumerate(entries)]


def _history_entry(dice: Dice, k: int, time: str, status: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "OrderStatusHistory",
        "id": number(f"oh{k}"),
        "status": dice.pick(texts.ORDER_STATUSES) if dice.is_odd else status,
        "comment": dice.remark() if dice.chance(0.3) else dice.pick(("Status changed", None)),
        "notify_merchant": dice.pick((None, True, False)),
        "requester": reference("Requester", dice.whole(1, 300)) if dice.chance(0.8) else None,
        "script_id": dice.whole(1, 50) if dice.chance(0.2) else None,
        "created_at": text(time) + dice.pick(("Z", "Z", "Z", "Z", "Z", ".25Z")),
    }
    dice.roughen(entry, _PAIR)
    return entry
