"""Plan ``wms-sync forget``: resolve the named orders, and count their personal data. Nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.json_values import identity
from wms_sync.layout import Layout, raw_key
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.targets.errors import UnknownOrderError, refusals_explained
from wms_sync.targets.persons import held_rows
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forget import held_files, held_pages, holds, suspects

REFUSED = (
    "The personal data could not be looked up",
    "nothing was changed. `wms-sync verify` lists damaged files and their repair",
)


class NamedOrder(Struct, frozen=True):
    """An order named by the user. ``unique_id`` and ``order_ref`` are None if the order is not in the tables."""

    id: int
    unique_id: str | None = None
    order_ref: str | None = None
    is_in_tables: bool = False
    is_forgotten: bool = False


class ForgetPlan(Struct, frozen=True):
    """The data to be removed: rows by table of the published file, and the numbers of Parquet files and raw pages."""

    rows: Mapping[str, int]
    parquet_files: int
    pages: int


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


def refuse_unseen(layout: Layout, store: StateStore, orders: Collection[NamedOrder]) -> None:
    """Raise ``UnknownOrderError`` for an order that is not in a table, a Parquet file, a raw page or the list."""
    unknown = {order.id for order in orders if not (order.is_in_tables or order.is_forgotten)}
    with refusals_explained(*REFUSED):
        unknown -= _in_parquet(layout, unknown)
        unknown -= _on_pages(layout, store, unknown)
    if unknown:
        ids = ", ".join(map(str, sorted(unknown)))
        raise UnknownOrderError(
            f"No order has the id {ids} in any table, in any file or on the list of forgotten orders. Check the id. To "
            "forget an order that has not arrived yet, add --unseen."
        )


def plan_forget(settings: Settings, store: StateStore, order_ids: Collection[int]) -> ForgetPlan:
    """Return the data that forgetting these orders would remove."""
    layout, target, rows = settings.layout, target_of(settings), {}
    if target.is_published:
        with target.published() as connection:
            rows = held_rows(connection, order_ids)
    with refusals_explained(*REFUSED):
        return ForgetPlan(rows, held_files(layout, order_ids), held_pages(layout, store, order_ids))


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


def _in_parquet(layout: Layout, order_ids: Collection[int]) -> set[int]:
    """Return the orders that are in a Parquet file, for example of a window that is not merged yet."""
    files = layout.files.local(layout.parquet_files(table("orders").slug))
    if not files or not order_ids:
        return set()
    query = sql_files.read("forget/in_files.sql")
    with duckdb.connect() as connection:
        found = connection.execute(query, {"files": files, "ids": sorted(order_ids)}).fetchall()
    return {id_ for (id_,) in found}


def _on_pages(layout: Layout, store: StateStore, order_ids: Collection[int]) -> set[int]:
    """Return the orders with personal data on a raw page, for example of a window that is not flattened yet."""
    left = set(order_ids)
    for window in suspects(layout, store, left) if left else ():
        for page in layout.pages(window):
            if left and holds(layout, raw_key(window, page), left):
                left -= {window_id for window_id in left if holds(layout, raw_key(window, page), {window_id})}
    return set(order_ids) - left
