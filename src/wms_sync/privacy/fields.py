"""The table of personal fields, which only tables in schema ``pii`` hold.

For the kinds listed here, every field except the named ones is personal, including fields that the service adds later.
Any other object with one of the ``PERSON`` keys is personal as a whole, except the fields that its type has: an order
with an email address is still an order. Custom fields and free text (notes, comments) are the company's own data and
are kept as received.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from wms_sync import sql_files

_TYPE = re.compile(r'^create type "?(?P<name>\w+)"? as struct\(\n(?P<body>.*?)^\);', re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^    "?(?P<name>\w+)"? (?P<type>.+?),?$', re.MULTILINE)
_FIELDS = {
    found["name"]: {field["name"]: field["type"] for field in _FIELD.finditer(found["body"])}
    for path in sql_files.listed("types")
    for found in _TYPE.finditer(f"{sql_files.read(path)};")
}
ADDRESS = "OrderAddress"
CANDIDATE = "OrderAddressCandidate"
LOCATION = "RetailerShipToLocation"
REFERENCE = ("type", "id")
CONTACT = ("telephone", "email")
PERSON = frozenset({"first_name", "last_name", *CONTACT})
ADDRESS_KEPT = ("country", "region", "classification")
SHIP_TO = tuple(f"ship_to_{name}" for name in ADDRESS_KEPT)
"""The columns of ``orders`` that hold ``ADDRESS_KEPT`` of the shipping address. ``wms-sync forget`` empties them."""
CANDIDATE_KEPT = ("address_id", "region_code", "country_code", "classification")
LOCATION_KEPT = tuple(name for name in _FIELDS["retailer_ship_to_location"] if name not in {*REFERENCE, *CONTACT})
KEPT: dict[str, frozenset[str]] = {
    ADDRESS: frozenset({*REFERENCE, *ADDRESS_KEPT}),
    CANDIDATE: frozenset({*REFERENCE, *CANDIDATE_KEPT}),
    LOCATION: frozenset({*REFERENCE, *LOCATION_KEPT}),
}
"""The fields that are not personal, for each kind with personal fields."""
KEPT_AS_TEXT: dict[str, tuple[str, ...]] = {ADDRESS: ADDRESS_KEPT}
"""Fields of which only text values are kept, because an object or a list could hold anything."""
STRICTLY_KEPT = KEPT | {ADDRESS: frozenset(REFERENCE)}
"""The fields of a forgotten order that stay, and that findings may show; of an address, only the reference stays."""
OF_ADDRESSES = frozenset({*_FIELDS["order_address"], *_FIELDS["order_address_candidate"]}) - KEPT[CANDIDATE]
"""Fields by which an address or candidate is recognised if it does not state its kind."""
PLACES = {
    "shipping_address": ADDRESS,
    "original_address": ADDRESS,
    "address_candidates": CANDIDATE,
    "retailer_ship_to_location": LOCATION,
    "mark_for_location": LOCATION,
}
"""The kind of the object under each of these keys, if the object does not state it."""
COMPANYS_OWN = frozenset({"custom_fields"})
"""Objects whose keys are chosen by the company that runs the instance."""
SHARED = frozenset(kind for kind in _FIELDS["included"] if not kind.startswith(("Order", "Shipment")))
"""Kinds of objects that do not belong to one order: they are the company's data, whichever order refers to them."""
Kept = Mapping[str, frozenset[str]]
"""The fields that are not personal, by kind."""


def fields_of(name: str) -> dict[str, str]:
    """Return the fields of a type with their types: ``fields_of("shipment")["order"]`` is ``reference``."""
    return _FIELDS[name]


@cache
def fields_of_kind(kind: str) -> Collection[str]:
    """Return the fields of a kind by the service's name for it, such as ``Order``; empty for an unknown kind."""
    # ``included`` has a shipment as JSON only
    name = "shipment" if kind == "Shipment" else fields_of("included").get(kind, "")
    return _FIELDS.get(name.removesuffix("[]").strip('"'), {})


def place_of(key: str) -> str | None:
    """Return the kind with personal fields that this key implies for its objects; None if it implies none."""
    return PLACES.get(key) or (key if key in KEPT else None)


def kept_fields(value: Mapping[str, Any], kind: str | None, table: Kept = KEPT) -> Collection[str] | None:
    """Return the keys of an object that may stay; None if all may.

    ``kind`` is the kind implied by the key of the object, used unless the object states a kind of ``table``.
    """
    stated = value["type"] if isinstance(value.get("type"), str) else ""
    known = stated if stated in table else kind or ""
    kept = table.get(known)
    if kept is None:
        return None if PERSON.isdisjoint(value) else fields_of_kind(stated) or REFERENCE
    return kept - {name for name in KEPT_AS_TEXT.get(known, ()) if not isinstance(value.get(name), str | None)}
