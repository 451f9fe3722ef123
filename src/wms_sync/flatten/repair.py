"""The slow way of a page that did not pass the gate: find every misfit and every unknown key, and mend the rest.

The page is parsed by Python and walked along its shape. A misfit becomes null and a ``Misfit``; a record that cannot
be used is removed and is a ``Misfit`` as a whole; an unknown key is counted. What is left is read by DuckDB like any
page.

Kept, because nothing is lost: whole numbers written as text or as ``12.0``, numbers and booleans where text is
expected, ``[]`` for an object (PHP's empty object), midnight behind a date.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from wms_sync.flatten.gate import DATE
from wms_sync.flatten.shape import Many, Node, Shape, Thing, Value

TEXT_LIMIT = 2000
_ENVELOPE = frozenset({"collection", "included", "has_more", "next", "previous", "meta"})
_WHOLE = re.compile(r"-?[0-9]+")
_DATE = re.compile(DATE)
_INT64 = range(-(2**63), 2**63)
_DECIMAL_LIMIT = 10**14  # DECIMAL(18,4) holds fourteen digits before the point

# Which of these texts does the DuckDB type not take? Asked once a type and page.
Unreadable = Callable[[str, list[str]], Iterable[str]]


@dataclass(frozen=True)
class Misfit:
    """A row of ``ops.quarantine``."""

    object: str
    object_id: int | None
    path: str
    text: str
    why: str


@dataclass
class Drift:
    """A row of ``ops.schema_drift``."""

    path: str
    example: str
    occurrences: int


@dataclass(frozen=True)
class Repaired:
    """A mended page; ``content`` is None when nothing of it can be read."""

    misfits: list[Misfit]
    drift: list[Drift]
    records_removed: int
    content: bytes | None


def repair(content: bytes, shape: Shape, unreadable: Unreadable) -> Repaired:
    """Walk one page, see the module."""
    walk = _Walk(unreadable)
    document = walk.parse(content)
    mended = None if document is None else walk.page(document, shape)
    text = None if mended is None else json.dumps(mended, ensure_ascii=False, separators=(",", ":")).encode()
    return Repaired(walk.misfits, list(walk.drift.values()), walk.records_removed, text)


def whole_page(content: bytes, why: str) -> Misfit:
    """The quarantine row of a page that cannot be read at all."""
    return Misfit("Page", None, "$", content[:TEXT_LIMIT].decode(errors="replace"), why)


@dataclass(frozen=True)
class _Oddity:
    """A number that Python reads and JSON or a DOUBLE does not have: NaN, Infinity, 1e400."""

    text: str


@dataclass(frozen=True)
class _Owner:
    """The object that a value belongs to: what a quarantine row names."""

    kind: str
    id: int | None


@dataclass(frozen=True)
class _Pending:
    """A text whose cast DuckDB is asked about at the end of the walk."""

    holder: Any
    key: Any
    owner: _Owner
    path: _Path


_Path = tuple[Any, ...]  # (parent path, key), unrolled only for a misfit
_MISFIT = object()


@dataclass
class _Walk:
    unreadable: Unreadable
    misfits: list[Misfit] = field(default_factory=list)
    drift: dict[str, Drift] = field(default_factory=dict)
    pending: dict[str, list[_Pending]] = field(default_factory=dict)
    records_removed: int = 0
    odd: bool = False  # the page holds NaN or halves of Unicode pairs, perhaps: look into every text and JSON value

    def parse(self, content: bytes) -> Any:  # noqa: ANN401 - any JSON
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = content.decode("utf-8", errors="replace")
            around = content[max(0, error.start - 100) : error.start + 100].decode(errors="replace")
            self.misfits.append(Misfit("Page", None, "$", around, f"not UTF-8 at byte {error.start}: replaced"))
        try:
            document = json.loads(
                text, parse_constant=self._odd, parse_float=self._float, object_pairs_hook=self._object
            )
        except (ValueError, RecursionError) as error:
            self.misfits.append(whole_page(content, f"not JSON: {error}"))
            return None
        self.odd = self.odd or "\\u" in text
        return document

    def _odd(self, text: str) -> _Oddity:
        self.odd = True
        return _Oddity(text)

    def _float(self, text: str) -> float | _Oddity:
        number = float(text)
        return number if math.isfinite(number) else self._odd(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            why = "a key stands twice in one object: the last was kept"
            self.misfits.append(Misfit("Page", None, "$", _text(pairs), why))
        return found

    def page(self, document: Any, shape: Shape) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON
        page = _Owner("Page", None)
        if not isinstance(document, dict) or not isinstance(document.get("collection"), list):
            self._misfit(page, ("$",), document, "the page is no object with a list under collection")
            return None
        for key in document.keys() - _ENVELOPE:
            self._unknown(f"Page.{key}", document[key])
        records = document["collection"]
        mended = {"collection": self._many(records, shape.collection, page, (("$",), "collection"))}
        self.records_removed = len(records) - len(mended["collection"])
        included = document.get("included")
        if included is not None:
            mended["included"] = self._included(included, shape, page)
        self._settle()
        return mended

    def _included(self, included: Any, shape: Shape, page: _Owner) -> Any:  # noqa: ANN401 - any JSON
        path = (("$",), "included")
        if not isinstance(included, dict):
            if included != []:
                self._misfit(page, path, included, "an object was expected")
            return None
        mended: dict[str, Any] = {}
        for kind, objects in included.items():
            node = shape.included.get(kind)
            if node is None:
                self._unknown(f"included.{kind}", objects)
            else:
                self._put(mended, kind, objects, node, page, path)
                if isinstance(node, Many):
                    mended[kind] = self._firsts(mended[kind])
        return mended

    def _firsts(self, objects: list[Any] | None) -> list[Any]:
        """Without the objects whose id was there before."""
        firsts = {found["id"]: found for found in reversed(objects or [])}
        return list(reversed(firsts.values()))

    def _put(self, holder: Any, key: Any, value: Any, node: Node, owner: _Owner, path: _Path) -> None:  # noqa: ANN401
        here = (path, key)
        if value is None:
            holder[key] = None
        elif isinstance(node, Value):
            holder[key] = self._value(value, node.type, holder, key, owner, here)
        elif isinstance(node, Many):
            if isinstance(value, list):
                holder[key] = self._many(value, node, owner, here)
            else:
                holder[key] = None
                self._misfit(owner, here, value, "a list was expected")
        else:
            found = self._thing(value, node, owner, here)
            holder[key] = None if found is _MISFIT else found

    def _many(self, values: list[Any], node: Many, owner: _Owner, path: _Path) -> list[Any]:
        mended: list[Any] = []
        if isinstance(node.element, Value):
            mended = [None] * len(values)
            for index, value in enumerate(values):
                self._put(mended, index, value, node.element, owner, path)
        elif isinstance(node.element, Thing):
            for index, value in enumerate(values):
                found = self._thing(value, node.element, owner, (path, index), in_list=True)
                if found is not _MISFIT:
                    mended.append(found)
        return mended

    def _thing(self, value: Any, node: Thing, owner: _Owner, path: _Path, *, in_list: bool = False) -> Any:  # noqa: ANN401
        if value == []:  # PHP's empty object
            value = {}
        if not isinstance(value, dict):
            owner = _Owner(node.name, None) if in_list and node.keyed else owner
            self._misfit(owner, path, value, "an object was expected")
            return _MISFIT
        if not value and not in_list and node.keyed:
            return None
        own = _identity(value)
        if node.keyed and own is None:
            self._misfit(_Owner(node.name, None), path, value, "its id is no whole number: the object was removed")
            return _MISFIT
        if "." not in node.name:
            owner = _Owner(node.name, own)
        mended: dict[str, Any] = {}
        for key, child in value.items():
            known = node.fields.get(key)
            if known is None:
                self._unknown(f"{node.name}.{key}", child)
            else:
                self._put(mended, key, child, known, owner, path)
        return mended

    def _value(self, value: Any, type_: str, holder: Any, key: Any, owner: _Owner, path: _Path) -> Any:  # noqa: ANN401
        why = self._why_not(value, type_)
        if why is not None:
            self._misfit(owner, path, value, why)
            return None
        if type_ == "BIGINT":
            return int(value)
        if type_ == "BOOLEAN" and isinstance(value, int):
            return bool(value)
        if isinstance(value, str) and type_ not in {"VARCHAR", "JSON"}:
            self.pending.setdefault(type_, []).append(_Pending(holder, key, owner, path))
        return value

    def _why_not(self, value: Any, type_: str) -> str | None:  # noqa: ANN401 - any JSON
        if type_ == "JSON":
            return _broken(value) if self.odd else None
        if isinstance(value, _Oddity):
            return f"{_NAMES[type_]} was expected"
        if isinstance(value, str) and self.odd and _broken(value):
            return _broken(value)
        return None if _FITS[type_](value) else f"{_NAMES[type_]} was expected"

    def _settle(self) -> None:
        """Ask DuckDB about the texts that it is to cast, and null those that it does not take."""
        for type_, candidates in self.pending.items():
            texts = list({candidate.holder[candidate.key] for candidate in candidates})
            bad = set(self.unreadable(type_, texts))
            for candidate in candidates if bad else ():
                text = candidate.holder[candidate.key]
                if text in bad:
                    why = f"{_NAMES[type_]} was expected"
                    candidate.holder[candidate.key] = None
                    self._misfit(candidate.owner, candidate.path, text, why)

    def _misfit(self, owner: _Owner, path: _Path, value: Any, why: str) -> None:  # noqa: ANN401 - any JSON
        self.misfits.append(Misfit(owner.kind, owner.id, _rendered(path), _text(value), why))

    def _unknown(self, path: str, value: Any) -> None:  # noqa: ANN401 - any JSON
        found = self.drift.setdefault(path, Drift(_clean(path), "null", occurrences=0))
        found.occurrences += 1
        if found.example == "null":
            found.example = _text(value)


def _identity(value: dict[str, Any]) -> int | None:
    found = value.get("id")
    return int(found) if found is not None and _is_whole(found) else None


def _is_whole(value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        return _WHOLE.fullmatch(value) is not None and len(value) < 25 and int(value) in _INT64
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= 2**53
    return isinstance(value, int) and value in _INT64


def _is_flag(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, bool) or (isinstance(value, int) and value in {0, 1})


def _is_decimal(value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (isinstance(value, int | float) and abs(value) < _DECIMAL_LIMIT)


def _is_double(value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(value, bool):
        return False
    return isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 2**1023)


def _is_text(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _is_date(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _is_timestamp(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str)


_FITS: dict[str, Callable[[Any], bool]] = {
    "BIGINT": _is_whole,
    "BOOLEAN": _is_flag,
    "DECIMAL(18,4)": _is_decimal,
    "DOUBLE": _is_double,
    "TIMESTAMP WITH TIME ZONE": _is_timestamp,
    "DATE": _is_date,
    "VARCHAR": _is_text,
}
_NAMES = {
    "BIGINT": "a whole number",
    "BOOLEAN": "true or false",
    "DECIMAL(18,4)": "a number of at most fourteen digits before the point",
    "DOUBLE": "a number",
    "TIMESTAMP WITH TIME ZONE": "a date and time",
    "DATE": "a date like 2024-01-31",
    "VARCHAR": "text",
}


def _broken(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Why a value cannot be written as JSON again, if so."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "half of a Unicode pair"
    except (TypeError, ValueError, RecursionError):
        return "it holds what JSON does not have"
    return None


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, _Oddity):
        return value.text
    return _clean(json.dumps(value, ensure_ascii=False, default=lambda oddity: oddity.text))[:TEXT_LIMIT]


def _clean(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _rendered(path: _Path) -> str:
    """``$.collection[3].packages[0].weight``, a JSON path."""
    if len(path) == 1:
        return str(path[0])
    parent, key = path
    return _rendered(parent) + (f"[{key}]" if isinstance(key, int) else f".{_clean(key)}")
