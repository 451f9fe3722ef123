"""Plan ``wms-sync forget``: resolve the named orders, and count their rows. Nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from wms_sync import sql_files
from wms_sync.json_values import identity
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.targets.errors import UnknownOrderError
from wms_sync.targets.persons import held_rows
from wms_sync.targets.target import target_of


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
        raise UnknownOrderError(f"{name} names several orders: {listed}. Use the unique_id of one.")
    if found:
        return found[0]
    id_ = identity(name)
    if id_ is None:
        raise UnknownOrderError(
            f"No order in the tables has the unique_id or order_ref {name}, and {name} is not an id. Give the id of "
            "the order."
        )
    return NamedOrder(id_, is_forgotten=id_ in forgotten)
