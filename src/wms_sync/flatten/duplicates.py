"""Find lists in a decoded page that contain an object twice: only the first occurrence may become a row.

The lists are those whose elements' ids are keys: ``items`` of a shipment, an order and a gallery, and every kind under
``included``, where the six kinds of products count as one. Most ids occur once on a page, so the ids of all lists on
one route are checked together, with iterators that run in C; only if an id repeats is each list checked by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

from wms_sync.flatten.shape import PRODUCTS, ListNode, Node, ObjectNode

_ID = attrgetter("id")
Step = tuple[str, bool]
"""An attribute to follow, and whether it is a list."""


class Duplicates:
    """Finds duplicates in pages that were decoded with the shape ``root``."""

    def __init__(self, root: ObjectNode) -> None:
        self._routes = list(_routes(root, ()))

    def in_page(self, page: Any) -> bool:  # noqa: ANN401 - a generated struct
        """Return whether any list of the page contains an object twice."""
        return any(_repeats(page, route) for route in self._routes) or _products_repeat(page)


def _routes(node: Node, before: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the routes to every list whose elements are keyed, except shipments, whose order the pager checks."""
    if isinstance(node, ListNode):
        if isinstance(node.element, ObjectNode) and node.element.keyed and len(before) > 1:
            yield before
        yield from _routes(node.element, before)
    elif isinstance(node, ObjectNode):
        for name, child in node.fields.items():
            yield from _routes(child, (*before, (name, isinstance(child, ListNode))))


def _repeats(page: Any, route: tuple[Step, ...]) -> bool:  # noqa: ANN401 - a generated struct
    lists = list(_lists(page, route))
    return _repeat(chain.from_iterable(lists), sum(map(len, lists))) and any(_repeat(one, len(one)) for one in lists)


def _products_repeat(page: Any) -> bool:  # noqa: ANN401 - a generated struct
    if page.included is None:
        return False
    lists = [listed for kind in PRODUCTS if (listed := getattr(page.included, kind))]
    return _repeat(chain.from_iterable(lists), sum(map(len, lists)))


def _lists(page: Any, route: tuple[Step, ...]) -> Iterable[Any]:  # noqa: ANN401 - generated structs
    """Return the non-empty lists at the end of the route."""
    holders: Iterable[Any] = (page,)
    for name, is_list in route[:-1]:
        holders = filter(None, map(attrgetter(name), holders))
        if is_list:
            holders = chain.from_iterable(holders)
    return filter(None, map(attrgetter(route[-1][0]), holders))


def _repeat(objects: Iterable[Any], count: int) -> bool:
    """Return whether an id repeats. ``7`` and ``"7"`` are the same id; ``sum`` is the fastest test for text ids."""
    ids = set(map(_ID, objects))
    try:
        sum(ids)
    except TypeError:
        ids = set(map(int, ids))
    return len(ids) < count
