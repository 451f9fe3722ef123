"""The list of forgotten orders, which must never be lost: in the state store and in ``forgotten-orders.json``.

If raw pages are in object storage, a copy of the file is there too, because the data folder may be lost. A forgotten
order stays forgotten, so the list is the union of all copies, and each run writes it to every copy. The first run
writes the file, with an empty list if no order was forgotten; a missing file therefore means a loss. A snapshot of the
state store may lack orders. So if the state store is lost, and the file is missing or damaged, the list is lost: no run
reads or loads until someone restores it, because a run would store personal data of forgotten orders again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from wms_sync.grammar import count_of
from wms_sync.json_values import identity
from wms_sync.layout import FORGOTTEN, Layout
from wms_sync.state.store import StateStore
from wms_sync.targets.errors import ForgottenOrdersLostError, UnknownOrderError

logger = logging.getLogger(__name__)


def reconcile_lists(layout: Layout, store: StateStore) -> None:
    """Give the state store and the files the same list. The caller holds the writer's lock."""
    known = store.forgotten()
    copies = list(_copies(layout))
    if all(copy is None for _, copy in copies) and (known or layout.forgotten_orders.exists()):
        logger.warning(
            "%(file)s is missing or damaged: rewritten from the state store, %(orders)s",
            {"file": layout.forgotten_orders, "orders": count_of(len(known), "order")},
        )
    listed = frozenset[int]().union(*(copy for _, copy in copies if copy is not None))
    if not listed <= known:
        store.remember_forgotten(listed)
        logger.info(
            "restored %(orders)s in the state store from %(file)s",
            {"orders": count_of(len(listed - known), "forgotten order"), "file": layout.forgotten_orders},
        )
    everyone = known | listed
    for place, copy in copies:
        if copy is not None and copy != everyone:
            logger.info(
                "restored %(orders)s in %(file)s from the state store",
                {"orders": count_of(len(everyone - copy), "forgotten order"), "file": place},
            )
    if any(copy != everyone for _, copy in copies):
        _write(layout, store)


def refuse_lost(layout: Layout) -> None:
    """Raise ``ForgottenOrdersLostError`` if no file can be read. The state store is lost, or an old copy."""
    if any(copy is not None for _, copy in _copies(layout)):
        return
    try:
        orders_listed(layout.forgotten_orders)
    except ValueError as damage:
        raise ForgottenOrdersLostError(layout.forgotten_orders, str(damage)) from None


def orders_remembered(layout: Layout) -> frozenset[int]:
    """Return the orders in the files that can be read."""
    return frozenset[int]().union(*(copy for _, copy in _copies(layout) if copy is not None))


def _copies(layout: Layout) -> Iterator[tuple[str, frozenset[int] | None]]:
    """Yield the location of each file and its list; None for a file that is missing or damaged."""
    try:
        yield str(layout.forgotten_orders), orders_listed(layout.forgotten_orders)
    except ValueError:
        yield str(layout.forgotten_orders), None
    if layout.elsewhere is not None:
        try:
            yield layout.files.where(FORGOTTEN), orders_in(layout.files.get(FORGOTTEN))
        except (FileNotFoundError, ValueError):
            yield layout.files.where(FORGOTTEN), None


def add_to_list(layout: Layout, store: StateStore, order_ids: Collection[int]) -> frozenset[int]:
    """Add these orders to every copy of the list, before any data is removed; return the whole list."""
    store.remember_forgotten(order_ids)
    return _write(layout, store)


def take_off_list(layout: Layout, store: StateStore, order_ids: Collection[int]) -> None:
    """Delete orders from every copy of the list. If this is interrupted, they stay on the list.

    Raise ``UnknownOrderError`` for orders that are not on the list, or whose data is not yet removed everywhere.
    """
    if absent := sorted(set(order_ids) - store.forgotten()):
        raise UnknownOrderError(f"Not on the list of forgotten orders: {', '.join(map(str, absent))}.")
    if unfinished := sorted(set(order_ids) & store.forgotten(unfinished=True)):
        raise UnknownOrderError(
            f"Forgetting {', '.join(map(str, unfinished))} was interrupted: run `wms-sync forget` to finish it first."
        )
    store.take_off_forgotten(order_ids)
    _write(layout, store)


def _write(layout: Layout, store: StateStore) -> frozenset[int]:
    everyone = store.forgotten()
    content = json.dumps(sorted(everyone)).encode()
    store.turn.write_whole(layout.forgotten_orders, content)
    if layout.elsewhere is not None:
        layout.files.replace(store.turn, FORGOTTEN, content)
    return everyone


def orders_listed(path: Path) -> frozenset[int]:
    """Return the orders in a file. Raise ``ValueError``, which describes the damage."""
    try:
        return orders_in(path.read_bytes())
    except FileNotFoundError:
        raise ValueError("is missing") from None


def orders_in(content: bytes) -> frozenset[int]:
    """Return the orders in the content of a file. Raise ``ValueError``, which describes the damage."""
    try:
        listed = json.loads(content)
    except ValueError:
        raise ValueError("is damaged") from None
    if not isinstance(listed, list) or not all(isinstance(entry, int) and identity(entry) == entry for entry in listed):
        raise ValueError("is not a JSON list of order ids")
    return frozenset(listed)
