"""Pages and values without what is personal: the slow way, for what was found to hold some.

The whole text is parsed, walked and written again, so spaces and escapes may change and values do not: numbers keep
every digit. What is no strict JSON (``NaN``, broken UTF-8, endless nesting) is read as leniently as the flattening step
reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

import msgspec

from wms_sync.privacy.fields import CANDIDATE, COMPANYS_OWN, KEPT, PERSON, PLACES, REFERENCE
from wms_sync.privacy.watched import is_cleared
from wms_sync.shallow_json import cut_to_depth

ADDRESSES = ("shipping_address", "original_address")
CANDIDATES = "address_candidates"

_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class _Orders(msgspec.Struct):
    class Order(msgspec.Struct, gc=False):
        id: int

    class Included(msgspec.Struct):
        Order: list[_Orders.Order] | None = None

    included: Included | None = None


def without_persons(content: bytes) -> bytes | None:
    """The page without anything personal; None when there is nothing to take out."""
    return None if is_cleared(content) else _edited(content, scrub)


def without_orders(content: bytes, forgotten: Collection[int]) -> bytes | None:
    """The page without anything personal of these orders; None when there is nothing to take out."""
    if not forgotten or not _may_hold(content, forgotten):
        return None
    return _edited(content, lambda page: _forget(page, forgotten))


def scrub(value: Any, kind: str | None = None) -> bool:  # noqa: ANN401 - any JSON
    """Take what is personal out of a parsed value, in place; whether there was any. ``kind`` is where it stands."""
    if isinstance(value, list):
        found = [scrub(one, kind) for one in value]
        return any(found)
    if not isinstance(value, dict):
        return False
    changed = _strip(value, _kept(value, kind))
    for key, inner in value.items():
        place = PLACES.get(key) or (key if key in KEPT else None)
        if place not in {None, "RetailerShipToLocation"} and isinstance(inner, str):
            value[key], changed = None, True  # an address written as one text
        elif key not in COMPANYS_OWN and isinstance(inner, dict | list):
            changed = scrub(inner, place) or changed
    return changed


def _kept(value: dict[str, Any], kind: str | None) -> Collection[str] | None:
    """The keys that may stay; None where all may."""
    stated = value.get("type")
    kept = KEPT.get(stated if isinstance(stated, str) and stated in KEPT else kind or "")
    if kept is None and not PERSON.isdisjoint(value):
        return REFERENCE
    return kept


def _strip(value: dict[str, Any], kept: Collection[str] | None) -> bool:
    personal = [] if kept is None else [key for key in value if key not in kept]
    for key in personal:
        del value[key]
    return bool(personal)


def _forget(page: Any, forgotten: Collection[int]) -> bool:  # noqa: ANN401 - any JSON
    """Scrub the addresses of these orders, those that stand in them and those that they refer to."""
    included = page.get("included") if isinstance(page, dict) else None
    if not isinstance(included, dict):
        return False
    orders = [one for one in _objects(included, "Order") if one.get("id") in forgotten]
    held = [order.get(place) for order in orders for place in ADDRESSES]
    proposed = [one for order in orders for one in order.get(CANDIDATES) or ()]
    found = [scrub(held, "OrderAddress"), scrub(proposed, CANDIDATE)]
    for kind, references in (("OrderAddress", held), (CANDIDATE, proposed)):
        ids = {one.get("id") for one in references if isinstance(one, dict)}
        found += [scrub(one, kind) for one in _objects(included, kind) if one.get("id") in ids]
    return any(found)


def _objects(included: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for one in included.get(kind) or () if isinstance(one, dict)]


def _may_hold(content: bytes, forgotten: Collection[int]) -> bool:
    try:
        page = msgspec.json.decode(content, type=_Orders)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    orders = page.included.Order if page.included is not None else None
    return not {order.id for order in orders or ()}.isdisjoint(forgotten)


def _edited(content: bytes, edit: Callable[[Any], bool]) -> bytes | None:
    try:
        return _reencoded(content, edit)
    except RecursionError:
        return _reencoded(cut_to_depth(content), edit)


def _reencoded(content: bytes, edit: Callable[[Any], bool]) -> bytes | None:
    try:
        page = _DECODER.decode(content)
        return _ENCODER.encode(page) if edit(page) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # escaped as halves of pairs, broken letters come through and are reported as such
        page = json.loads(content.decode("utf-8-sig", errors="surrogateescape"))
        return json.dumps(page, ensure_ascii=True).encode() if edit(page) else None
