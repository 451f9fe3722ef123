"""Find lists of a page that contain an object twice: only the first occurrence may become a row.

The lists are those whose elements' ids are keys: ``items`` of a shipment, an order and a gallery, and every kind under
``included``, where the six kinds of products count as one. Most ids occur once, so the ids of all lists on one route
are checked together, with iterators that run in C; only if an id repeats is each list checked by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from wms_sync.shipments.flatten.shape import COLLECTION, PRODUCTS, Node, ObjectNode, Route, at_end, routes

Ids = Sequence[Any]
"""Ids as they are on the page: numbers, or numbers as text."""
id_of = attrgetter("id")


class Duplicates:
    """Finds duplicates in the lists inside objects of one kind, decoded with the shape ``node``."""

    def __init__(self, node: Node) -> None:
        self._routes = [
            route for route, found in routes(node) if route[-1][1] and isinstance(found, ObjectNode) and found.keyed
        ]

    def inside(self, objects: Sequence[Any]) -> bool:
        """Return whether any list inside these objects contains an object twice."""
        return any(_repeats(objects, route) for route in self._routes)


def kinds_repeat(ids: Mapping[str, Ids]) -> bool:
    """Return whether a kind under ``included``, or the kinds of products together, have an id twice on a page.

    Shipments are left out: the pager checks their order.
    """
    products = [ids[kind] for kind in PRODUCTS if kind in ids]
    others = (some for kind, some in ids.items() if kind != COLLECTION and kind not in PRODUCTS)
    return _repeat(chain.from_iterable(products), sum(map(len, products))) or any(
        _repeat(one, len(one)) for one in others
    )


def _repeats(objects: Sequence[Any], route: Route) -> bool:
    lists = list(filter(None, at_end(objects, route)))
    ids = chain.from_iterable(lists)
    return _repeat(map(id_of, ids), sum(map(len, lists))) and any(_repeat(map(id_of, one), len(one)) for one in lists)


def _repeat(ids: Iterable[Any], count: int) -> bool:
    """Return whether an id repeats. ``7`` and ``"7"`` are the same id; ``sum`` is the fastest test for text ids."""
    different = set(ids)
    try:
        sum(different)
    except TypeError:
        different = set(map(int, different))
    return len(different) < count
