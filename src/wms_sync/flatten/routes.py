"""Follow a route of attributes through decoded objects, with iterators that run in C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

Step = tuple[str, bool]
"""An attribute to follow, and whether it is a list."""
Route = tuple[Step, ...]


def at_end(objects: Sequence[Any], route: Route) -> Iterable[Any]:
    """Return what the attribute at the end of the route is, of each object that has one; it may be None."""
    holders: Iterable[Any] = objects
    for name, is_list in route[:-1]:
        holders = filter(None, map(attrgetter(name), holders))
        if is_list:
            holders = chain.from_iterable(holders)
    return map(attrgetter(route[-1][0]), holders)
