"""Repair a page that did not pass the gate: find every misfit and every unknown key, and keep all other values.

Python parses the page and walks it along its shape, value by value. A value that does not fit becomes null and a
``Misfit``; an unusable record or a stub is removed and becomes a ``Misfit`` as a whole; an unknown key is counted. All
else is written as JSON again, each value in the form that ``values`` gives, and DuckDB reads it like any page. If a
list contains an object twice, the first occurrence stays, under ``included`` the one with the latest ``updated_at``,
and the rest become misfits, except exact copies under ``included``.

Accepted without a finding, because nothing is lost: whole numbers and flags written as text, ``12.0``, numbers and
booleans where text is expected, ``[]`` for an object (PHP's empty object), a date with midnight, and other forms of
null (an empty string where no text is expected, MySQL's day zero). Cast and counted as drift: a number without
its unit, a time instead of a date or without its offset, surplus decimals, a number with a fraction or an exponent
where text is expected, and an object instead of a list of records or of objects under ``included`` (PHP, after gaps).

If a record has something else in place of a list of objects, or of an object that becomes rows of its own, the record
is removed as a whole: without the list or object, its stored rows would be deleted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import datetime
from operator import methodcaller
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, field

from wms_sync.json_values import DEPTH, cut_to_depth, loosely, whole
from wms_sync.privacy.scrub import as_list
from wms_sync.service.envelope import change_time
from wms_sync.service.headers import EARLIEST
from wms_sync.shipments.flatten.page import (
    UNKNOWN_KEY,
    Drift,
    Misfit,
    NonFiniteNumber,
    WrittenNumber,
    pairs_as_text,
    piece_of,
    shown,
    with_surrogates_escaped,
)
from wms_sync.shipments.flatten.shape import (
    COLLECTION,
    ENVELOPE,
    INCLUDED,
    PRODUCTS,
    SHIPMENT,
    ListNode,
    Node,
    ObjectNode,
    Sent,
    Shape,
    ValueNode,
    lists_in,
    note_lists,
)
from wms_sync.shipments.flatten.values import Cast, Unfit, converted, means_null, why_stub
from wms_sync.shipments.flatten.write import ObjectBytes

_Path = tuple[Any, ...]  # (parent path, key); rendered only for a misfit
_ROOT: _Path = ("$",)
_INCLUDED: _Path = (_ROOT, "included")
_MISFIT = object()
_NO_VALUE = "STRUCT"
_NO_OBJECT = "an object was expected"
_NO_UNIT = "a number without its unit: the unit is null"
_GAPS = "an object where a list was expected: its values were taken"
_TWICE = "its id is repeated: the latest, or else the first, was kept"
_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Repaired(Struct, frozen=True):
    """A repaired page; ``sent`` tells which lists its ``objects`` have."""

    misfits: list[Misfit]
    drift: list[Drift]
    objects: ObjectBytes
    sent: Sent


def repair(content: bytes, shape: Shape) -> Repaired:
    """Repair one page as described at the top of this module.

    The page was read with an envelope, so it is an object with ``collection``.
    """
    parsed = Parsed().read(content)
    walk = _Walk(parsed.odd, parsed.misfits)
    repaired = walk.page(parsed.document, shape)
    things = {COLLECTION: repaired[COLLECTION], **(repaired.get(INCLUDED) or {})}
    sent: Sent = {}
    for kind, node in shape.kinds.items():
        note_lists(sent, things.get(kind) or (), lists_in(node), lambda name: methodcaller("get", name, UNSET))
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    objects = {kind: [encoder.encode(thing).encode() for thing in things.get(kind) or ()] for kind in shape.kinds}
    return Repaired(walk.misfits, list(walk.drift.values()), objects, sent)


class _OwningObject(NamedTuple):
    """The object that a value belongs to, as shown in a quarantine row."""

    kind: str
    id: int | None


_PAGE = _OwningObject("Page", None)


class _Unusable(Exception):
    """A record has something else in place of what becomes rows, so it cannot be used. The text says what and where."""


class _Walk(Struct):
    odd: bool
    misfits: list[Misfit]
    drift: dict[tuple[str, str], Drift] = field(default_factory=dict)
    products: dict[int, Any] = field(default_factory=dict)

    def page(self, document: dict[str, Any], shape: Shape) -> dict[str, Any]:
        records = document["collection"] or []
        if isinstance(records, dict):
            self._cast("Page.collection", records, _GAPS)
            records = list(records.values())
        for key in sorted(document.keys() - ENVELOPE):
            self._unknown("Page", key, document[key])
        repaired = {"collection": self._many(records, shape.collection, _PAGE, (_ROOT, "collection"))}
        if document.get("included") is not None:
            repaired["included"] = self._included(document["included"], shape)
        return repaired

    def _included(self, included: Any, shape: Shape) -> Any:  # noqa: ANN401 - any JSON
        path = _INCLUDED
        if not isinstance(included, dict):
            if included != []:
                self._misfit(_PAGE, path, included, "an object was expected")
            return None
        repaired: dict[str, Any] = {}
        for kind, objects in included.items():
            node = shape.included.get(kind)
            if node is None:
                self._unknown("included", kind, objects)
            else:
                if isinstance(objects, dict) and (listed := as_list(objects)) is not None:
                    self._cast(f"included.{kind}", objects, _GAPS)
                    objects = listed
                self._put(repaired, kind, objects, node, _PAGE, path)
        return repaired

    def _put(self, holder: Any, key: Any, value: Any, node: Node, owner: _OwningObject, path: _Path) -> None:  # noqa: ANN401
        if value is None or means_null(value, node.type if isinstance(node, ValueNode) else _NO_VALUE):
            holder[key] = None
        elif isinstance(node, ValueNode):
            holder[key] = self._value(value, node, key, owner, path)
        elif isinstance(node, ObjectNode):
            found = self._thing(value, node, owner, (path, key))
            holder[key] = None if found is _MISFIT else found
        elif isinstance(value, list):
            holder[key] = self._many(value, node, owner, (path, key))
        elif owner is not _PAGE and isinstance(node.element, ObjectNode):
            raise _Unusable(f"a list was expected at {_rendered((path, key))}")
        else:
            holder[key] = None
            self._misfit(owner, (path, key), value, "a list was expected")

    def _many(self, values: list[Any], node: ListNode, owner: _OwningObject, path: _Path) -> list[Any]:
        repaired: list[Any] = []
        if isinstance(node.element, ValueNode):
            repaired = [None] * len(values)
            for index, value in enumerate(values):
                self._put(repaired, index, value, node.element, owner, path)
        elif isinstance(node.element, ObjectNode):
            repaired = self._things(values, node.element, owner, path)
        return repaired

    def _things(self, values: list[Any], node: ObjectNode, owner: _OwningObject, path: _Path) -> list[Any]:
        repaired: list[Any] = []
        firsts = self.products if path[0] is _INCLUDED and path[1] in PRODUCTS else {}
        numbered: Iterable[tuple[int, Any]] = enumerate(values)
        if path[0] is _INCLUDED:
            numbered = sorted(numbered, key=_changed_at, reverse=True)
        for index, value in numbered:
            try:
                found = self._thing(value, node, owner, (path, index), in_list=True)
            except _Unusable as reason:
                if path[0] is not _INCLUDED and path[0] is not _ROOT:
                    raise
                found, why = _MISFIT, f"{reason}: the object was left out"
                self._misfit(_OwningObject(node.name, whole(value["id"])), (path, index), value, why)
            if found is _MISFIT:
                continue
            if not node.keyed or firsts.setdefault(found["id"], value) is value:
                repaired.append(found)
            # an equal object may stand twice in one list under `included`, but not in those of two kinds of product
            elif (
                path[0] is not _INCLUDED
                or value != firsts[found["id"]]
                or not any(other is firsts[found["id"]] for other in values)
            ):
                self._misfit(_OwningObject(node.name, found["id"]), (path, index), value, _TWICE)
        return repaired

    def _thing(self, value: Any, node: ObjectNode, owner: _OwningObject, path: _Path, *, in_list: bool = False) -> Any:  # noqa: ANN401
        if node.is_measure and (measured := self._measured(value, node)) is not None:
            return measured
        if not isinstance(value, dict) and value != []:  # PHP's empty object
            if node.has_rows and not in_list:
                raise _Unusable(f"{_NO_OBJECT} at {_rendered(path)}")
            self._misfit(_OwningObject(node.name, None) if in_list and node.keyed else owner, path, value, _NO_OBJECT)
            return _MISFIT
        if not value and not in_list and node.keyed:
            return None
        if "." not in node.name:  # a kind, not a part of another object
            owner = _OwningObject(node.name, whole(value.get("id")) if value else None)
        if node.keyed and owner.id is None:
            self._misfit(owner, path, value, "its id is not a whole number: the object was removed")
            return _MISFIT
        if node.name == SHIPMENT and (why := why_stub(value)) is not None:
            self._misfit(owner, path, value, why)
            return _MISFIT
        repaired: dict[str, Any] = {}
        fields = node.fields
        for key in value:
            if key in fields:
                self._put(repaired, key, value[key], fields[key], owner, path)
            else:
                self._unknown(node.name, key, value[key])
        return repaired

    def _measured(self, value: Any, node: ObjectNode) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON
        """Return a bare number as a measure without a unit; None if the value is not a number."""
        number = None if isinstance(value, dict | list) else converted(value, "DOUBLE", odd=self.odd)
        if not isinstance(number, float):
            return None
        self._cast(node.name, value, _NO_UNIT)
        return {"value": number}

    def _value(self, value: Any, node: ValueNode, key: Any, owner: _OwningObject, path: _Path) -> Any:  # noqa: ANN401 - any JSON
        found = converted(value, node.type, odd=self.odd)
        if isinstance(found, Unfit):
            self._misfit(owner, (path, key), value, found.why)
            return None
        if isinstance(found, Cast):
            self._cast(node.name, value, found.why)
            return found.value
        return found

    def _misfit(self, owner: _OwningObject, path: _Path, value: Any, why: str) -> None:  # noqa: ANN401 - any JSON
        self.misfits.append(Misfit(owner.kind, owner.id, _rendered(path), shown(value, owner.kind, _key(path)), why))

    def _cast(self, name: str, value: Any, why: str) -> None:  # noqa: ANN401 - any JSON
        holder, _, key = name.rpartition(".")
        self._unknown(holder, key, value, why)

    def _unknown(self, holder: str, key: str, value: Any, why: str = UNKNOWN_KEY) -> None:  # noqa: ANN401 - any JSON
        found = self.drift.setdefault((holder, key), Drift(holder, key, "null", 0, why))
        found.occurrences += 1
        if found.example == "null":
            found.example = shown(value, holder, key)


def _changed_at(numbered: tuple[int, Any]) -> datetime:
    """Return the ``updated_at`` of an object in a list; the earliest time if it has none."""
    return (change_time(numbered[1].get("updated_at")) if isinstance(numbered[1], dict) else None) or EARLIEST


def _key(path: _Path) -> str:
    """Return the key of a value, or of the list that contains it."""
    while not isinstance(path[-1], str):
        path = path[0]
    return path[-1]


def _rendered(path: _Path) -> str:
    """Return a JSON path such as ``$.collection[3].packages[0].weight``."""
    if len(path) == 1:
        return str(path[0])
    parent, key = path
    return _rendered(parent) + (f"[{key}]" if isinstance(key, int) else f".{with_surrogates_escaped(key)}")


class Parsed(Struct):
    """A page that is parsed leniently: errors are recorded instead of raised.

    Bytes that are not UTF-8 are replaced, a byte order mark is dropped, and the last of duplicate keys wins. NaN and
    numbers too large for a DOUBLE become a ``NonFiniteNumber``. Control characters in strings are kept. Nesting that is
    too deep is cut. ``odd`` is true if the document may contain a ``NonFiniteNumber`` or lone surrogates.
    """

    document: dict[str, Any] = {}
    odd: bool = False
    misfits: list[Misfit] = field(default_factory=list)

    def read(self, content: bytes) -> Parsed:
        """Parse the content into this object and return it."""
        text = self._decoded(content)
        self.odd = _HALF_OF_A_PAIR.search(text) is not None
        try:
            self.document = self._parsed(text)
        except RecursionError:
            why = f"nested too deeply: values below {DEPTH} levels are null"
            self.misfits = [Misfit("Page", None, "$", "", why)]
            self.document = self._parsed(cut_to_depth(text.encode()).decode())
        return self

    def _parsed(self, text: str) -> Any:  # noqa: ANN401 - any JSON
        return loosely(
            text,
            self._non_finite,
            parse_constant=self._non_finite,
            parse_float=self._float,
            object_pairs_hook=self._object,
        )

    def _decoded(self, content: bytes) -> str:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            around = piece_of(content, content[max(0, error.start - 100) : error.start + 100])
            self.misfits.append(Misfit("Page", None, "$", around, f"not UTF-8 at byte {error.start}: replaced"))
            return content.decode("utf-8-sig", errors="replace")

    def _non_finite(self, text: str) -> NonFiniteNumber:
        self.odd = True
        return NonFiniteNumber(text)

    def _float(self, text: str) -> float | NonFiniteNumber:
        number = WrittenNumber(text)
        number.text = text
        return number if math.isfinite(number) else self._non_finite(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            why = "a key is repeated in one object: the last was kept"
            self.misfits.append(Misfit("Page", None, "$", pairs_as_text(pairs), why))
        return found
