"""Remove personal data from pages and values.

A page is opened level by level, and only where something personal is mentioned: everything else keeps its bytes. An
object with personal data is decoded without it, or parsed and edited, and encoded again. Spaces, escapes and the order
of its keys may change, but values do not: the numbers of valid JSON keep every digit. If the page still looks personal,
it is parsed whole. Invalid JSON (``NaN``, broken UTF-8, very deep nesting) is read as leniently as flattening reads it.

PHP writes a list as an object if its indexes have gaps or are ids; both forms are handled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Raw

from wms_sync.json_values import cut_to_depth, loosely, whole
from wms_sync.privacy.detection import is_impersonal, mentions, mentions_person, places
from wms_sync.privacy.fields import (
    ADDRESS,
    CANDIDATE,
    COMPANYS_OWN,
    KEPT,
    LOCATION,
    PLACES,
    SHARED,
    STRICTLY_KEPT,
    Kept,
    kept_fields,
    place_of,
)

_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_OPENED = msgspec.json.Decoder(dict[str, Raw] | list[Raw])
_PLACES = {place: msgspec.json.Decoder(of_place) for place, of_place in places(strict=False).items()}
_LEVELS = 6
"""The page, its lists by kind, their records, and two objects inside those, are opened; what is deeper is parsed."""
_Name = tuple[Any, int | None]
"""The kind and the id of an object."""


class _Order(msgspec.Struct, gc=False):
    id: Any = None


class _Shipment(msgspec.Struct, gc=False):
    order: _Order | int | str | float | None = None


class _Included(msgspec.Struct):
    Order: list[_Order] | None = None


class _OrderPlaces(msgspec.Struct):
    """The places where a page of the right shape refers to orders."""

    collection: list[_Shipment] | None = None
    included: _Included | None = None


_ORDER_PLACES = msgspec.json.Decoder(_OrderPlaces)


def without_persons(content: bytes) -> bytes | None:
    """Return the page without personal data; None if there is nothing to remove."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if is_impersonal(clean := bytes(_opened(content, _LEVELS))):
            return None if clean == content else clean
    # parsing drops a value under a key that is repeated later, or nested too deeply
    return _edited(
        content, lambda page: scrub(page) or mentions(json.dumps(page, default=str).encode()) < mentions(content)
    )


def _opened(content: bytes | Raw, levels: int) -> bytes | Raw:
    """Return an object or a list without personal data. Open only those parts that mention a person."""
    parts = _OPENED.decode(content)
    if isinstance(parts, list):
        left: Any = [Raw(_opened(part, levels - 1)) if _is_to_open(part) else part for part in parts]
        return content if left == parts else _ENCODER.encode(left)
    kind = _DECODER.decode(parts.get("type", b"null"))
    if not levels or (isinstance(kind, str) and kind in KEPT):
        value = _DECODER.decode(content)
        return _ENCODER.encode(value) if scrub(value) else content
    kept = kept_fields({**parts, "type": kind}, None)
    left = {key: part for key, part in parts.items() if kept is None or key in kept}
    left |= {key: _at_place(key, left[key]) for key in left.keys() & _PLACES.keys()}
    # an object that had personal keys of its own rarely mentions a person anywhere else
    if len(left) < len(parts) and not mentions_person(clean := _ENCODER.encode(left)):
        return clean
    for key in left.keys() - _PLACES.keys() - COMPANYS_OWN:
        if _is_to_open(left[key], is_known=key == "included"):
            left[key] = Raw(_opened(left[key], levels - 1))
    return content if left == parts else _ENCODER.encode(left)


def _at_place(key: str, part: Raw) -> Raw:
    """Return the value of a key that implies a kind, without personal data; unchanged if there is none."""
    try:  # decoding leaves out what is personal; whatever has another shape is parsed
        clean = _ENCODER.encode(_PLACES[key].decode(part))
        return part if _DECODER.decode(clean) == _DECODER.decode(part) else Raw(clean)
    except msgspec.DecodeError:
        return Raw(_ENCODER.encode(held[key])) if scrub(held := {key: _DECODER.decode(part)}) else part


def _is_to_open(part: Raw, *, is_known: bool = False) -> bool:
    """Return whether a part can be opened and mentions a person. Where that ``is_known``, a search is saved."""
    return memoryview(part)[0] in b"{[" and (is_known or mentions_person(part))


def without_orders(content: bytes, forgotten: Collection[int]) -> bytes | None:
    """Return the page without the personal data of the ``forgotten`` orders; None if there is nothing to remove."""
    if not forgotten or not _may_hold(content, forgotten):
        return None
    return _edited(content, lambda page: _forget(page, forgotten))


def scrubbed(text: str) -> str:
    """Return a JSON value of a forgotten order without personal data."""
    clean = _edited(text.encode(), lambda value: scrub(value, table=STRICTLY_KEPT))
    return text if clean is None else clean.decode()


def scrub(value: Any, kind: str | None = None, table: Kept = KEPT) -> bool:  # noqa: ANN401 - any JSON
    """Remove personal data from a parsed value, in place. Return whether there was any.

    ``table`` lists the fields that stay, by kind. ``kind`` is the kind implied by the key of the value, used unless the
    value states a kind of ``table``.
    """
    if (listed := as_list(value)) is not None:
        found = [scrub(element, kind, table) for element in listed]
        return any(found)
    if not isinstance(value, dict):
        return False
    kept = kept_fields(value, kind, table)
    personal = [] if kept is None else [key for key in value if key not in kept]
    for key in personal:
        del value[key]
    changed = bool(personal)
    for key, inner in value.items():
        place = place_of(key)
        lines = inner if isinstance(inner, list) else [inner]
        if place not in {None, LOCATION} and any(isinstance(line, str) for line in lines):  # an address written as text
            value[key] = [line for line in lines if not isinstance(line, str)] or None
            changed = True
        if key not in COMPANYS_OWN and isinstance(value[key], dict | list):
            changed = scrub(value[key], place, table) or changed
    return changed


def _forget(page: Any, forgotten: Collection[int]) -> bool:  # noqa: ANN401 - any JSON
    """Scrub the ``forgotten`` orders, the objects that belong to them, and all they refer to under ``included``.

    Addresses and candidates under ``included`` stay only if something else on the page refers to them, because an order
    may refer to its addresses in a form that is not recognised. Return whether anything was removed.
    """
    left = [(key, record) for key, record in _objects(page) if _is_theirs(key, record, forgotten)]
    if not left:
        return False
    included = _included(page)
    theirs: set[int] = set()
    found: list[bool] = []
    while left:
        kind, record = left.pop()
        theirs.add(id(record))
        for name in _references(record):
            left += [(name[0], referred) for referred in included.pop(name, ())]
        found.append(scrub(record, kind, STRICTLY_KEPT))
    addresses = [
        (name, record) for name, listed in included.items() for record in listed if name[0] in {ADDRESS, CANDIDATE}
    ]
    claimed = set(_references(page, leaving=theirs | {id(record) for _, record in addresses}))
    found += [scrub(record, name[0], STRICTLY_KEPT) for name, record in addresses if name not in claimed]
    return any(found)


def _is_theirs(key: str, value: dict[str, Any], forgotten: Collection[int]) -> bool:
    """Return whether an object is one of the ``forgotten`` orders, or belongs to one, as a shipment does."""
    is_order = "Order" in (key, value.get("type"))
    named = (value.get("order_id"), value.get("order"), value if is_order else None)
    return any(
        whole(reference.get("id") if isinstance(reference, dict) else reference) in forgotten for reference in named
    )


def _objects(value: Any, leaving: Collection[int] = ()) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - any JSON
    """Yield every object with its key, or the key of the list that contains it; skip those with id() in ``leaving``."""
    left = [("", value)]
    while left:
        key, value = left.pop()
        if (listed := as_list(value)) is not None:
            left += [(key, element) for element in listed]
        elif isinstance(value, dict) and id(value) not in leaving:
            yield key, value
            left += [(name, member) for name, member in value.items() if name not in COMPANYS_OWN]


def _references(value: Any, leaving: Collection[int] = ()) -> Iterator[_Name]:  # noqa: ANN401 - any JSON
    """Yield the kind and id of every object and reference in a value, including the value itself."""
    for key, record in _objects(value, leaving):
        id_ = whole(record.get("id"))
        if id_ is not None:
            yield (record["type"] if isinstance(record.get("type"), str) else None, id_)
            yield (PLACES.get(key), id_)


def _included(page: Any) -> dict[_Name, list[dict[str, Any]]]:  # noqa: ANN401 - any JSON
    """Return the objects under ``included`` that may belong to one order, by kind and id."""
    included = page.get("included") if isinstance(page, dict) else None
    found: dict[_Name, list[dict[str, Any]]] = {}
    for kind, listed in included.items() if isinstance(included, dict) else ():
        for record in as_list(listed) or ():
            if isinstance(record, dict) and kind not in SHARED and kind != "Order":
                found.setdefault((kind, whole(record.get("id"))), []).append(record)
    return found


def _may_hold(content: bytes, forgotten: Collection[int]) -> bool:
    try:
        page = _ORDER_PLACES.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    orders: list[Any] = [shipment.order for shipment in page.collection or ()]
    orders += page.included.Order or () if page.included is not None else ()
    return any(whole(order.id if isinstance(order, _Order) else order) in forgotten for order in orders)


def _edited(content: bytes, edit: Callable[[Any], bool]) -> bytes | None:
    """Return the page decoded, changed and encoded; None if ``edit`` changed nothing."""
    try:
        page = _DECODER.decode(content)
        return _ENCODER.encode(page) if edit(page) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # invalid bytes survive as escaped surrogates, and flattening reports them
        page = loosely(cut_to_depth(content).decode("utf-8-sig", errors="surrogateescape"))
        return json.dumps(page, ensure_ascii=True).encode() if edit(page) else None


def as_list(value: Any) -> list[Any] | None:  # noqa: ANN401 - any JSON
    """Return the elements of a list, or of an object whose keys are numbers and whose values are objects; else None."""
    if isinstance(value, dict) and value:
        is_list = all(isinstance(element, dict) and key.isascii() and key.isdigit() for key, element in value.items())
        return list(value.values()) if is_list else None
    return value if isinstance(value, list) else None
