"""The types of ``sql/types`` for msgspec, with no other keys: what DuckDB reads without a loss, and nothing else.

msgspec checks most values by itself: decimals that are whole numbers or texts, and dates that are nothing but a day.
Whether DECIMAL(18,4) holds another number exactly, and whether a date is followed by midnight, are questions to Python.
Asking them about each value takes a third of the gate's time. So only the fields of which such a value was seen are
``Asked`` about, and of decimals each different value once.

To make the types takes 15 ms, so every flattener of a process has the same ones.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.routes import Route
from wms_sync.flatten.shape import ListNode, Node, ObjectNode, ValueNode
from wms_sync.flatten.unknown_keys import ABSENT, Learned, UnknownKeys, attributes_of
from wms_sync.flatten.values import DECIMAL_LIMIT, EXACT_FLOAT, is_exact_decimal
from wms_sync.whole_numbers import INT64

DECIMAL, DATE = "DECIMAL(18,4)", "DATE"
MOST_REMEMBERED = 100_000
"""How many different decimals are known to be exact, so that none is asked about twice."""
# A date followed by midnight loses nothing when its time is cut off.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_DECIMAL = r"\A-?[0-9]{1,14}(?:\.[0-9]{1,4})?\Z"
_DECIMAL_TEXT = re.compile(_DECIMAL, re.ASCII)
_DATE_TEXT = re.compile(_DATE)
_DAY_LENGTH = len("2024-01-31")
_INT64 = Meta(ge=INT64[0], le=INT64[-1])
_BELOW_LIMIT = Meta(gt=-DECIMAL_LIMIT, lt=DECIMAL_LIMIT)
_MAY_BE_EXACT = Meta(gt=-EXACT_FLOAT, lt=EXACT_FLOAT)


class _Value:
    """Stands for a decimal or date that loses nothing; a subclass for each field, with its node and one value."""

    node: ValueNode
    value: _Value


_VALUES: dict[str, Any] = {
    # PHP sometimes writes a number as text; a whole number loses nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    DECIMAL: Annotated[int, _BELOW_LIMIT] | Annotated[str, Meta(pattern=_DECIMAL)],
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": datetime,
    DATE: date,
    "VARCHAR": str | Annotated[int, _INT64] | float | bool,
    "JSON": Raw,
}
_WIDER: dict[str, Any] = {
    DECIMAL: Annotated[int, _BELOW_LIMIT] | Annotated[float, _MAY_BE_EXACT] | Annotated[str, Meta(pattern=_DECIMAL)],
    DATE: Annotated[str, Meta(pattern=_DATE)],
}
"""Types of the fields that are asked about."""

_MAKING = threading.Lock()
"""msgspec notes at a type what it knows of it before it knows all: a decoder that another thread made of such a type
meanwhile ends the process by a segmentation fault."""


class Asked:
    """The fields in which a value was ``seen`` that msgspec does not check by itself."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self._exact: set[Any] = set()

    def check(self, asked: type[_Value], value: object) -> _Value:
        """Check one value; msgspec calls this. Raise ``ValueError``."""
        if asked.node.type == DATE:
            fits = isinstance(value, str) and _DATE_TEXT.fullmatch(value) is not None
            is_usual = fits and len(str(value)) == _DAY_LENGTH
        else:
            is_usual = value.__class__ is not float
            fits = self._is_exact(value)
        if not is_usual:
            self.seen.add(asked.node.name)
        if fits:
            return asked.value
        raise ValueError("it would not be the same value")

    def check_all(self, decimals: Iterable[Any]) -> None:
        """Check decimals of which msgspec has checked those that are no fractions. Raise ``ValueError``."""
        new = set(decimals) - self._exact
        if not all(number.__class__ is not float or is_exact_decimal(number) for number in new):
            raise ValueError("it would not be the same decimal")
        if len(self._exact) > MOST_REMEMBERED:
            self._exact.clear()
        self._exact |= new

    @staticmethod
    def _is_exact(value: object) -> bool:
        if isinstance(value, float):
            return is_exact_decimal(value)
        if isinstance(value, int):
            return not isinstance(value, bool) and -DECIMAL_LIMIT < value < DECIMAL_LIMIT
        return isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value) is not None


def routes_to_decimals(node: Node, before: Route = ()) -> Iterator[tuple[str, Route]]:
    """Yield the name of each decimal field in objects decoded with the shape ``node``, and the route to it."""
    if isinstance(node, ListNode):
        yield from routes_to_decimals(node.element, before)
    elif isinstance(node, ObjectNode):
        for name, child in node.fields.items():
            yield from routes_to_decimals(child, (*before, (name, isinstance(child, ListNode))))
    elif node.type == DECIMAL:
        yield node.name, before


@cache
def _question(node: ValueNode) -> type[_Value]:
    """Return the type that lets msgspec ask ``Asked.check`` about the values of this field."""

    class Question(_Value):
        pass

    Question.node, Question.value = node, Question()
    return Question


@cache
def _may_be_asked(node: Node) -> frozenset[str]:
    """Return the names of the decimals and dates in objects of this shape."""
    if isinstance(node, ListNode):
        return _may_be_asked(node.element)
    if isinstance(node, ObjectNode):
        return frozenset().union(*map(_may_be_asked, node.fields.values()))
    return frozenset({node.name} if node.type in _WIDER else ())


def decoder(node: Node, unknown: UnknownKeys, asked: Asked, *, asks_all: bool = False) -> msgspec.json.Decoder[Any]:
    """Return a decoder of a list of such objects, with the unknown keys that were learned.

    Of decimals and dates, those ``asked`` about are of wider types; with ``asks_all``, every one is asked about.
    """
    wider = _may_be_asked(node).intersection(asked.seen)
    with _MAKING:
        return msgspec.json.Decoder(_listed(node, unknown.learned, wider, asks_all), dec_hook=asked.check)


@lru_cache(maxsize=500)
def _listed(node: Node, unknown: frozenset[Learned], wider: frozenset[str], asks_all: bool) -> Any:  # noqa: ANN401
    return list[StrictTypes(unknown, wider, asks_all=asks_all).of(node)]  # type: ignore[misc]


class StrictTypes:
    """Makes the types of objects, with unknown keys. Of decimals and dates, those named are of ``wider`` types."""

    def __init__(self, unknown: Collection[Learned], wider: Collection[str] = (), *, asks_all: bool = False) -> None:
        self._unknown = unknown
        self._wider = wider
        self._asks_all = asks_all
        self._structs: dict[int, Any] = {}

    def struct(self, thing: ObjectNode, other: Mapping[str, tuple[Any, Any]] | None = None) -> Any:  # noqa: ANN401
        """Return the struct for an object, with the types in ``other`` for some of its fields."""
        given = other or {}
        fields: list[Any] = [
            (name, _VALUES["BIGINT"])
            if thing.keyed and name == "id"
            else (name, *(given[name] if name in given else self._optional(node)))
            for name, node in thing.fields.items()
        ]
        unknown = attributes_of(self._unknown, thing.name)
        fields += [(name, Raw, ABSENT) for name in unknown]
        # in the order of sql/types, in which keys are found at once if the service writes them so
        return msgspec.defstruct(
            "ObjectNode", fields, rename=unknown, forbid_unknown_fields=True, gc=False, kw_only=True
        )

    def of(self, node: Node) -> Any:  # noqa: ANN401 - a type expression
        """Return the type of such a value."""
        if isinstance(node, ValueNode):
            if node.type in _WIDER and self._asks_all:
                return _question(node)
            return (_WIDER if node.name in self._wider else _VALUES)[node.type]
        if isinstance(node, ListNode):
            nullable = isinstance(node.element, ValueNode)
            element = self.of(node.element)
            return list[element | None] if nullable else list[element]  # type: ignore[valid-type]
        if id(node) not in self._structs:
            self._structs[id(node)] = self.struct(node)
        return self._structs[id(node)]

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self.of(node)
        return (Raw, ABSENT) if built is Raw else (built | None, None)
