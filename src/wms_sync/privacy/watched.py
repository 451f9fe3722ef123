"""Finding what is personal in a page at next to no cost: decoders that stumble over it.

A page's envelope is decoded anyway, skipping the records. Here the records are still skipped, but where a person may
stand only what is known not to be personal is allowed. Measured on a page of 7.4 MB: 5.6 ms without, 7.0 ms for the
known places and kinds, 13.5 ms for unknown keys of shipments and orders too, where the fetch takes 100 ms from a
service on the same machine. A page that does not pass is only suspect: a new key of an order that speaks of nobody is
cleared by ``is_cleared`` (18 ms).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum
from typing import Any

import msgspec
from msgspec import Raw

from wms_sync.privacy.fields import CANDIDATE, KEPT, LOCATION, PERSON, PLACES
from wms_sync.privacy.types import fields_of
from wms_sync.shallow_json import cut_to_depth

# A name of ASCII letters needs no escape, so one that has some is looked at closely.
_PERSON = re.compile(rb'"(?:%s)"|\\u00[4-7]' % "|".join(sorted(PERSON)).encode())
_NOTHING: Any = Raw()
_REQUIRED = ("collection", "has_more")


def _struct(name: str, fields: dict[str, Any], *, strict: bool, required: Collection[str] = ()) -> Any:  # noqa: ANN401
    columns: list[Any] = [
        (field, kind) if field in required else (field, kind, _NOTHING if kind is Raw else None)
        for field, kind in fields.items()
    ]
    return msgspec.defstruct(name, columns, forbid_unknown_fields=strict, kw_only=True, gc=False)


def _keeping(kind: str) -> Any:  # noqa: ANN401 - a type
    return _struct(kind, dict.fromkeys(KEPT[kind], Raw), strict=True)


_REFERENCE = _keeping("OrderAddress")


def _many(kind: Any) -> Any:  # noqa: ANN401 - types
    return list[kind] | None


_KINDS: dict[str, Any] = {"OrderAddress": _REFERENCE, CANDIDATE: _keeping(CANDIDATE), LOCATION: _keeping(LOCATION)}
_AT: dict[str, Any] = {
    place: _many(_KINDS[kind]) if kind == CANDIDATE else _KINDS[kind] | None for place, kind in PLACES.items()
}


class Watch(Enum):
    """How closely a page is looked at."""

    NOTHING = "nothing"
    PLACES = "places"
    UNKNOWN_KEYS = "unknown keys"


def watching_decoder(watch: Watch, **envelope: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - types by key
    """Decodes the keys of ``envelope`` and the ``id`` of each record; fails where somebody may stand in the page."""
    if watch is Watch.NOTHING:
        shipment = _struct("Shipment", {"id": int}, strict=False, required=("id",))
        skipped = _struct("Page", {"collection": _listed(shipment), **envelope}, strict=False, required=_REQUIRED)
        return msgspec.json.Decoder(skipped)
    history = _watched("History", "order_status_history", watch, user=_REFERENCE | str | int | None)
    order = _watched("Order", "order", watch, status_history=_many(history))
    shipment = _watched("Shipment", "shipment", watch, id=int)
    kinds: dict[str, Any] = {**_KINDS, "Order": order, "OrderStatusHistory": history}
    included = {name: _many(kinds[name]) if name in kinds else Raw for name in fields_of("included")}
    page = {
        "previous": Raw,
        "collection": _listed(shipment),
        "included": _struct("Included", included, strict=True) | None,
        **envelope,
    }
    return msgspec.json.Decoder(_struct("Page", page, strict=True, required=_REQUIRED))


def _watched(name: str, type_name: str, watch: Watch, **more: Any) -> Any:  # noqa: ANN401 - types
    """The struct of an object: its places are kept clean; watched for unknown keys, the rest of them is listed."""
    strict = watch is Watch.UNKNOWN_KEYS
    places = {field: kind for field, kind in {**_AT, **more}.items() if field in fields_of(type_name)}
    references = [
        field for field, kind in fields_of(type_name).items() if kind == "reference" and (strict or field == "order")
    ]
    clean = {**dict.fromkeys(references, _REFERENCE | None), **places}
    fields = {field: clean.get(field, Raw) for field in fields_of(type_name)} if strict else clean
    return _struct(name, fields, strict=strict, required=("id",) if "id" in more else ())


def _listed(kind: Any) -> Any:  # noqa: ANN401 - types
    return list[kind]


def _places_decoder() -> msgspec.json.Decoder[Any]:
    """Looks at the known places alone, and lets every unknown key pass."""
    in_order = _struct("Order", _AT, strict=False)
    kinds: dict[str, Any] = {**_KINDS, "Order": in_order}
    included = {name: _many(kind) for name, kind in kinds.items()}
    page = {
        "collection": _many(in_order),
        "included": _struct("Included", included, strict=False) | None,
    }
    return msgspec.json.Decoder(_struct("Page", page, strict=False))


_PLACES = _places_decoder()


def is_cleared(content: bytes) -> bool:
    """Whether a suspect page is clean: nothing at the known places, and no key of a person anywhere."""
    try:
        _PLACES.decode(content)
    except RecursionError:
        return is_cleared(cut_to_depth(content)) and not speaks_of_somebody(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return not speaks_of_somebody(content)


def speaks_of_somebody(text: bytes) -> bool:
    """Whether a key of a person stands anywhere in it, be it JSON or not."""
    return _PERSON.search(text) is not None
