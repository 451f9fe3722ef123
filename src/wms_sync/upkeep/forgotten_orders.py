"""The list of forgotten orders, which must never be lost: in the state store and in ``forgotten-orders.json``.

If raw pages are in object storage, a copy of the file is there too, because the data folder may be lost. A forgotten
order stays forgotten, so the list is the union of all copies, and each run writes it to every copy. The first run
writes the file, with an empty list if no order was forgotten; a missing file therefore means a loss. A snapshot of the
state store may lack orders. So if the state store is lost, and the file is missing or damaged, the list is lost: no run
reads or loads until someone restores it, because a run would store personal data of forgotten orders again.

The end of this module resolves the orders that a user names for ``wms-sync forget``, and counts their rows.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from wms_sync import sql_files
from wms_sync.grammar import count_of
from wms_sync.json_values import identity
from wms_sync.layout import FORGOTTEN, Layout
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.storage.files import Files, FolderFiles
from wms_sync.targets.errors import ForgottenOrdersLostError, UnknownOrderError
from wms_sync.targets.persons import held_rows
from wms_sync.targets.target import target_of

logger = logging.getLogger(__name__)


def reconcile_lists(layout: Layout, store: StateStore) -> None:
    """Give the state store and the files the same list. The caller holds the writer's lock."""
    known, copies = store.forgotten(), [*_copies(layout)]
    everyone = known.union(*(copy for _, copy in copies if isinstance(copy, frozenset)))
    incomplete = [place for place, copy in [("the state store", known), *copies] if copy != everyone]
    if not incomplete:
        return
    if everyone or layout.forgotten_orders.exists():  # otherwise this is the first run
        logger.warning(
            "the list of forgotten orders was missing, damaged or incomplete in %(places)s: completed, %(orders)s",
            {"places": " and ".join(incomplete), "orders": count_of(len(everyone), "order")},
        )
    add_to_list(layout, store, everyone)


def refuse_lost(layout: Layout) -> None:
    """Raise ``ForgottenOrdersLostError`` if no file can be read. The state store is lost, or an old copy."""
    copies = [copy for _, copy in _copies(layout)]
    if all(isinstance(copy, ValueError) for copy in copies):
        raise ForgottenOrdersLostError(layout.forgotten_orders, str(copies[0]))


def orders_remembered(layout: Layout) -> frozenset[int]:
    """Return the orders in the files that can be read."""
    return frozenset[int]().union(*(copy for _, copy in _copies(layout) if isinstance(copy, frozenset)))


def _copies(layout: Layout) -> Iterator[tuple[str, frozenset[int] | ValueError]]:
    """Yield the location of each file, and its list or the damage."""
    for files in places_of(layout):
        try:
            yield files.where(FORGOTTEN), orders_in(files.get(FORGOTTEN))
        except FileNotFoundError:
            yield files.where(FORGOTTEN), ValueError("is missing")
        except ValueError as damage:
            yield files.where(FORGOTTEN), damage


def places_of(layout: Layout) -> Iterable[Files]:
    """Return the data folder and, if raw pages are there, the object storage: both keep what must not be lost."""
    return dict.fromkeys((FolderFiles(layout.root), layout.files))


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
    for files in places_of(layout):
        files.replace(store.lease, FORGOTTEN, content)
    return everyone


def orders_in(content: bytes) -> frozenset[int]:
    """Return the orders in the content of a file. Raise ``ValueError``, which describes the damage."""
    try:
        listed = json.loads(content)
    except ValueError:
        raise ValueError("is damaged") from None
    if not isinstance(listed, list) or not all(isinstance(entry, int) and identity(entry) == entry for entry in listed):
        raise ValueError("is not a JSON list of order ids")
    return frozenset(listed)


class NamedOrder(Struct, frozen=True):
    """An order named by the user. ``unique_id`` and ``order_ref`` are None if the order is not in the tables."""

    id: int
    unique_id: str | None = None
    order_ref: str | None = None
    is_in_tables: bool = False
    is_forgotten: bool = False


def orders_named(settings: Settings, store: StateStore, names: Sequence[str]) -> tuple[NamedOrder, ...]:
    """Return the orders named by id, ``unique_id`` or ``order_ref``, sorted by id.

    Raise ``UnknownOrderError`` if a name matches several orders, or matches none and is not an id.
    """
    forgotten = store.forgotten()
    found: dict[str, list[NamedOrder]] = {}
    target = target_of(settings)
    if names and target.is_published:
        with target.published() as connection:
            query = sql_files.read("queries/named_orders.sql")
            for name, id_, unique_id, order_ref in connection.execute(query, {"names": list(names)}).fetchall():
                order = NamedOrder(id_, unique_id, order_ref, is_in_tables=True, is_forgotten=id_ in forgotten)
                found.setdefault(name, []).append(order)
    orders = [_meant(name, found.get(name, []), forgotten) for name in names]
    return tuple(sorted({order.id: order for order in orders}.values(), key=lambda order: order.id))


def refuse_unseen(orders: Collection[NamedOrder]) -> None:
    """Raise ``UnknownOrderError`` for an order that is neither in the tables nor on the list."""
    if unknown := [str(order.id) for order in orders if not (order.is_in_tables or order.is_forgotten)]:
        raise UnknownOrderError(
            f"No order has the id {', '.join(unknown)} in the tables or on the list of forgotten orders. Check the id. "
            "To forget an order that has not arrived there yet, add --unseen."
        )


def rows_to_forget(settings: Settings, order_ids: Collection[int]) -> Mapping[str, int]:
    """Return the numbers of rows, by table, that forgetting these orders would remove or change."""
    target = target_of(settings)
    if not target.is_published:
        return {}
    with target.published() as connection:
        return held_rows(connection, order_ids)


def _meant(name: str, found: Sequence[NamedOrder], forgotten: Collection[int]) -> NamedOrder:
    if len(found) > 1:
        listed = "; ".join(
            f"{found_in.id} (unique_id {found_in.unique_id}, order_ref {found_in.order_ref})" for found_in in found
        )
        raise UnknownOrderError(f"{name} names several orders: {listed}. Use the unique_id or the id of one.")
    if found:
        return found[0]
    id_ = identity(name)
    if id_ is None:
        raise UnknownOrderError(
            f"No order in the tables has the unique_id or order_ref {name}, and {name} is not an id. Give the id of "
            "the order."
        )
    return NamedOrder(id_, is_forgotten=id_ in forgotten)
