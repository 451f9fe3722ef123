"""Find the rows of a page and its neighbours (specification 4.6).

With sort=id or -id, `cursor_start` is the id at which the page starts (inclusive) and `cursor_end` the id before which
a page read backwards ends (exclusive); both follow the sort direction. Choices for gaps in the specification:

- `has_more` of a page read backwards says whether an earlier page remains; its `next` leads forwards again, to the
  page that starts at the requested cursor, and is null only if nothing is there.
- A listing in another order has one page only. If more shipments match, `has_more` is true and `next` is given, as rule
  2 demands, but following it answers 400, since cursors do not work there. So nobody takes a part for the whole.
"""

from dataclasses import dataclass

import numpy as np

from wms_sandbox.matching import Matcher
from wms_sandbox.query import ListQuery
from wms_sandbox.store import Indexes, Store


@dataclass(frozen=True)
class PageRows:
    """One page.

    `rows` are indexes of the store in the order shown; the cursors are those of the neighbours, or None.
    """

    rows: Indexes
    has_more: bool
    next_cursor: int | None
    previous_cursor: int | None
    count: int


def find_page(store: Store, matcher: Matcher, query: ListQuery, most_matches: int | None = None) -> PageRows:
    """Return the page that a query asks for, as if only the first `most_matches` by id matched."""
    matched = matcher.matches(query.filters)[:most_matches]
    if query.is_by_id:
        return _page_by_id(store, matched, query)
    rows = matcher.first_sorted(matched, query.sort, query.limit + 1)
    has_more = len(rows) > query.limit
    next_cursor = int(store.ids[rows[-1]]) if has_more else None
    return PageRows(rows[: query.limit], has_more, next_cursor, None, len(matched))


def _page_by_id(store: Store, matched: Indexes, query: ListQuery) -> PageRows:
    """Return a page by position; positions count in the sort direction, and 0 is the first match of all."""
    total = len(matched)
    if query.cursor_end is not None:
        stop = _position(store, matched, query, query.cursor_end)
        start = max(0, stop - query.limit)
        has_more = start > 0
    else:
        start = 0 if query.cursor_start is None else _position(store, matched, query, query.cursor_start)
        stop = min(total, start + query.limit)
        has_more = stop < total

    rows = matched[::-1][start:stop] if query.is_descending else matched[start:stop]
    next_cursor = _id_at(store, matched, query, stop)
    previous_cursor = None
    if start > 0:
        previous_cursor = _id_at(store, matched, query, start) if start < total else query.cursor_start
    return PageRows(rows, has_more, next_cursor, previous_cursor, total)


def _id_at(store: Store, matched: Indexes, query: ListQuery, position: int) -> int | None:
    if position >= len(matched):
        return None
    return int(store.ids[matched[len(matched) - 1 - position if query.is_descending else position]])


def _position(store: Store, matched: Indexes, query: ListQuery, cursor: int) -> int:
    """Return the position of a cursor: the number of matches before it."""
    if not query.is_descending:
        return int(np.searchsorted(matched, int(np.searchsorted(store.ids, cursor, "left")), "left"))
    below = int(np.searchsorted(matched, int(np.searchsorted(store.ids, cursor, "right")), "left"))
    return len(matched) - below
