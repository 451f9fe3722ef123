"""Count the unknown keys that the gate has learned, in decoded pages; only objects that have such keys cost time.

A learned key is a raw field of its type's struct, so this module walks structs, and only along the branches that lead
to a type with a learned key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from wms_sync.flatten.findings import TEXT_LIMIT, Drift, shown
from wms_sync.flatten.shape import ListNode, Node, ObjectNode
from wms_sync.privacy.detection import mentions_person
from wms_sync.privacy.fields import PERSON, STRICTLY_KEPT

Counted = dict[tuple[str, str], Drift]
"""The drift of a page by holder and key."""
Learned = tuple[str, str]
"""The type that does not have a key, and the key."""
ABSENT = Raw()
# More keys than this are not new fields but an object used as a map: such pages stay on the slow path.
MOST = 100
# No field of a struct of msgspec can be read from such a key, so these pages stay there too.
_UNNAMEABLE = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')


class _Route(Struct, frozen=True):
    """The route from a value to its unknown keys: its own keys, and the fields that lead to others."""

    holder: str
    own: dict[str, str]
    onward: dict[str, _Route]
    is_list: bool


class UnknownKeys:
    """The learned keys, by the type that does not have them."""

    def __init__(self, root: ObjectNode) -> None:
        self._root = root
        self.learned: frozenset[Learned] = frozenset()
        self._route: _Route | None = None

    def learn(self, drift: Iterable[Drift]) -> bool:
        """Remember the keys. Return whether any was new; learn none if there would be more than ``MOST``."""
        new = {(found.holder, found.key) for found in drift if not _UNNAMEABLE.search(found.key)} - self.learned
        if not new or len(new) + len(self.learned) > MOST:
            return False
        self.learned |= new
        self._route = self._route_of(self._root)
        return True

    def may_be_in(self, *path: str) -> bool:
        """Return whether objects at this path of the page may have learned keys."""
        return self._at(path) is not None

    def count_own(self, holder: Any, *path: str, drift: Counted) -> None:  # noqa: ANN401 - a generated struct
        """Count the keys of the object at this path of the page, without those of the objects inside it."""
        route = self._at(path)
        if route is not None and holder is not None:
            _count_own(holder, route, drift)

    def count(self, objects: Sequence[Any], *path: str, drift: Counted) -> None:
        """Count the keys of the objects at this path of the page, and of what is inside them."""
        route = self._at(path)
        if route is not None:
            for one in objects:
                _count(one, route, drift)

    def _at(self, path: Iterable[str]) -> _Route | None:
        route = self._route
        for name in path:
            route = route and route.onward.get(name)
        return route

    def _route_of(self, node: Node) -> _Route | None:
        if isinstance(node, ListNode):
            route = self._route_of(node.element)
            return route and _Route(route.holder, route.own, route.onward, is_list=True)
        if not isinstance(node, ObjectNode):
            return None
        routes = {name: self._route_of(child) for name, child in node.fields.items()}
        onward = {name: route for name, route in routes.items() if route is not None}
        own = attributes_of(self.learned, node.name)
        return _Route(node.name, own, onward, is_list=False) if own or onward else None


def attributes_of(learned: Iterable[Learned], type_: str) -> dict[str, str]:
    """Return a type's unknown keys by the struct attribute that holds each."""
    keys = sorted(key for holder, key in learned if holder == type_)
    return {f"unknown_{number}": key for number, key in enumerate(keys)}


def _count(one: Any, route: _Route, drift: Counted) -> None:  # noqa: ANN401 - a generated struct
    _count_own(one, route, drift)
    for name, onward in route.onward.items():
        below = getattr(one, name)
        if below is not None:
            for element in below if onward.is_list else [below]:
                _count(element, onward, drift)


def _count_own(one: Any, route: _Route, drift: Counted) -> None:  # noqa: ANN401 - a generated struct
    for attribute, key in route.own.items():
        raw = getattr(one, attribute)
        if raw is not ABSENT:
            _add(drift, route.holder, key, raw)


def _add(drift: Counted, holder: str, key: str, raw: Raw) -> None:
    found = drift.setdefault((holder, key), Drift(holder, key, "null", occurrences=0))
    found.occurrences += 1
    if found.example == "null":
        found.example = _example(holder, key, bytes(raw))


def _example(holder: str, key: str, raw: bytes) -> str:
    if mentions_person(raw) or holder in STRICTLY_KEPT or key in PERSON:
        return shown(msgspec.json.decode(raw), holder, key)
    return raw[: 4 * TEXT_LIMIT].decode(errors="ignore")[:TEXT_LIMIT]
