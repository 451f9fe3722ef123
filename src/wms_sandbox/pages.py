"""The list envelope (specification 2.6), put together from objects serialised beforehand.

    {"collection": [...], "included": {"Order": [...], ...}, "has_more": true, "next": "/api/...", "previous": null,
     "meta": {"processing_time": 0.01, "cursor_start": 7, "cursor_end": null, "count": 3}}

`processing_time` follows from the number of rows, so that equal requests have equal answers.
"""

import json
from collections.abc import Iterable
from functools import lru_cache, partial
from urllib.parse import quote, urlencode

import numpy as np

from wms_sandbox.compiled import Compiled, compiled_order, compiled_shipment
from wms_sandbox.kinds import INCLUDED_ORDER
from wms_sandbox.matching import Matcher
from wms_sandbox.order_belongings import ADDED_HISTORY
from wms_sandbox.paging import PageRows, find_page
from wms_sandbox.pools import Pools
from wms_sandbox.query import ListQuery
from wms_sandbox.selection import Selection
from wms_sandbox.shared import SharedObjects
from wms_sandbox.slots import slot_rows
from wms_sandbox.store import Indexes, Store
from wms_sandbox.templates import Row

_KEPT_SELECTIONS = 12

Objects = tuple[list[bytes], dict[str, list[bytes]]]
"""The collection, and the included objects by kind."""
_WITH_TELEPHONE = ("OrderAddress", "RetailerShipToLocation")
_TELEPHONE = b',"telephone":"555-0142",'


class View:
    """All shipments under one selection; compiled objects are cached."""

    def __init__(self, store: Store, pools: Pools, selection: Selection) -> None:
        self._store = store
        self._selection = selection
        self._shared = SharedObjects(store, pools, selection)
        self._shipments: dict[tuple[int, int, int], tuple[Compiled, frozenset[int]]] = {}
        self._orders: dict[tuple[int, int], tuple[Compiled, frozenset[int]]] = {}
        self._shows_orders = selection.reaches("order")

    def objects(self, at: Indexes) -> Objects:
        """Return the shipments at these indexes, and each object around them once."""
        collection: list[bytes] = []
        included: dict[str, list[bytes]] = {}
        codes: set[int] = set()
        orders: set[int] = set()
        rows = slot_rows(self._store, at)
        for key, (order, added), row in zip(self._keys(at), self._orders_of(at), rows, strict=True):
            compiled, shared = self._shipments.get(key) or self._compile_shipment(key)
            collection.append(compiled.body.fill(row))
            _fill(compiled, row, included)
            codes |= shared
            if self._shows_orders and order not in orders:
                orders.add(order)
                compiled, shared = self._orders.get((key[0], added)) or self._compile_order(key[0], added)
                included.setdefault("Order", []).append(compiled.body.fill(row))
                _fill(compiled, row, included)
                codes |= shared
        return collection, included | self._shared.write(codes)

    def _keys(self, at: Indexes) -> Iterable[tuple[int, int, int]]:
        """Yield each shipment's family, which of the family's shipments it is, and the number of packages shown."""
        store = self._store
        columns = (store.family[at], store.part[at], store.shown[at])
        return zip(*(column.tolist() for column in columns), strict=True)

    def _orders_of(self, at: Indexes) -> Iterable[tuple[int, int]]:
        """Yield each shipment's order, as the index of its first shipment, with the number of added history entries."""
        firsts = self._store.order_first[at]
        added = np.minimum(self._store.order_revision[firsts], ADDED_HISTORY * self._store.is_odd)
        return zip(firsts.tolist(), added.tolist(), strict=True)

    def _compile_shipment(self, key: tuple[int, int, int]) -> tuple[Compiled, frozenset[int]]:
        index, part, shown = key
        head = self._store.heads[index]
        compiled = compiled_shipment(self._store.seed, head, part, shown, self._selection)
        self._shipments[key] = compiled, self._shared.codes(compiled.shared)
        return self._shipments[key]

    def _compile_order(self, index: int, added: int) -> tuple[Compiled, frozenset[int]]:
        compiled = compiled_order(self._store.seed, self._store.heads[index], added, self._selection)
        self._orders[index, added] = compiled, self._shared.codes(compiled.shared)
        return self._orders[index, added]


def _fill(compiled: Compiled, row: Row, included: dict[str, list[bytes]]) -> None:
    for kind, template in compiled.included:
        included.setdefault(kind, []).append(template.fill(row))


class Pages:
    """Answers listings of one store."""

    def __init__(self, store: Store, pools: Pools, *, unasked_telephones: bool) -> None:
        self._with_telephone = _WITH_TELEPHONE if unasked_telephones else ()
        self._store = store
        self._matcher = Matcher(store)
        self._view = lru_cache(_KEPT_SELECTIONS)(partial(View, store, pools))

    def write(self, path: str, query: ListQuery, *, most_matches: int | None = None) -> list[bytes]:
        """Return the envelope in pieces, to be joined."""
        page = find_page(self._store, self._matcher, query, most_matches)
        collection, included = self._view(query.selection).objects(page.rows)
        for kind in self._with_telephone:
            included[kind] = [record.replace(b",", _TELEPHONE, 1) for record in included.get(kind, ())]
        pieces = [b'{"collection":[', *_listed(collection), b'],"included":{']
        opening = b'"%b":['
        for kind in INCLUDED_ORDER:
            if kind in included:
                pieces += [opening % kind.encode(), *_listed(included[kind]), b"]"]
                opening = b',"%b":['
        return [*pieces, b"},", json.dumps(_ending(path, query, page), separators=(",", ":")).encode()[1:]]


def _listed(things: list[bytes]) -> list[bytes]:
    """Return the objects with commas between them, not yet joined, so that a page of megabytes is copied only once."""
    pieces = [b","] * max(0, 2 * len(things) - 1)
    pieces[::2] = things
    return pieces


def _ending(path: str, query: ListQuery, page: PageRows) -> dict[str, object]:
    meta: dict[str, object] = {
        "processing_time": round(0.004 + 0.00005 * len(page.rows), 6),
        "cursor_start": page.next_cursor,
        "cursor_end": page.previous_cursor,
    }
    if query.wants_count:
        meta["count"] = page.count
    return {
        "has_more": page.has_more,
        "next": _neighbour(path, query, "cursor_start", page.next_cursor),
        "previous": _neighbour(path, query, "cursor_end", page.previous_cursor),
        "meta": meta,
    }


def _neighbour(path: str, query: ListQuery, name: str, cursor: int | None) -> str | None:
    """Return the URL of the same query at another cursor, relative to the root."""
    if cursor is None:
        return None
    kept = [item for item in query.parameters if item[0] not in ("cursor_start", "cursor_end")]
    return f"{path}?{urlencode([*kept, (name, str(cursor))], quote_via=quote, safe='')}"
