"""Lists that name an object twice, found in decoded pages: of each such list the first occurrence makes the row.

The lists are those whose elements' ids are keys: ``items`` of a shipment, an order and a gallery, and every kind under
``included``, where the six kinds of products count as one. Most ids stand once on a page, so the ids of all lists of a
sort are looked at together, by iterators that run in C; only where one repeats is each list looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

from wms_sync.flatten.shape import PRODUCTS, Many, Node, Thing

_ID = attrgetter("id")
Step = tuple[str, bool]
"""An attribute to follow, and whether a list stands there."""


class NamedTwice:
    """Made for a shape; looks at pages that were decoded by it."""

    def __init__(self, root: Thing) -> None:
        self._routes = list(_routes(root, ()))

    def in_page(self, page: Any) -> bool:  # noqa: ANN401 - a generated struct
        """Whether any list of the page names an object twice."""
        return any(_repeats(page, route) for route in self._routes) or _products_repeat(page)


def _routes(node: Node, before: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """The ways to every list whose elements are keyed; shipments themselves are watched by the pager."""
    if isinstance(node, Many):
        if isinstance(node.element, Thing) and node.element.keyed and len(before) > 1:
            yield before
        yield from _routes(node.element, before)
    elif isinstance(node, Thing):
        for name, child in node.fields.items():
            yield from _routes(child, (*before, (name, isinstance(child, Many))))


def _repeats(page: Any, route: tuple[Step, ...]) -> bool:  # noqa: ANN401 - a generated struct
    lists = list(_lists(page, route))
    return _repeat(chain.from_iterable(lists), sum(map(len, lists))) and any(_repeat(one, len(one)) for one in lists)


def _products_repeat(page: Any) -> bool:  # noqa: ANN401 - a generated struct
    if page.included is None:
        return False
    lists = [listed for kind in PRODUCTS if (listed := getattr(page.included, kind))]
    return _repeat(chain.from_iterable(lists), sum(map(len, lists)))


def _lists(page: Any, route: tuple[Step, ...]) -> Iterable[Any]:  # noqa: ANN401 - generated structs
    """The lists at the end of the route that are there and hold something."""
    holders: Iterable[Any] = (page,)
    for name, is_list in route[:-1]:
        holders = filter(None, map(attrgetter(name), holders))
        if is_list:
            holders = chain.from_iterable(holders)
    return filter(None, map(attrgetter(route[-1][0]), holders))


def _repeat(objects: Iterable[Any], count: int) -> bool:
    """Also ``7`` and ``"7"`` are one id; adding up is the quickest way to see that there is text among them."""
    ids = set(map(_ID, objects))
    try:
        sum(ids)
    except TypeError:
        ids = set(map(int, ids))
    return len(ids) < count
