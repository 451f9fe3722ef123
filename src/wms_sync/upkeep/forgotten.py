"""The list of forgotten orders, which nothing may lose: in the state store and in ``forgotten-orders.json``.

An order that was forgotten once stays so, hence the list is what either of the two has, and each run brings both to it:
what one lost, the other restores. The file is there from the first run on, empty as long as nobody was forgotten, so
that its absence means something. A state store that is behind the disk (deleted, or put back from an old copy) may lack
orders, and a file that is missing or damaged says nothing: where both come together the list is lost, and nothing is
read or loaded until somebody has made it again. Persons of a forgotten order would be stored otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from wms_sync.analytics.errors import ForgottenOrdersLostError
from wms_sync.layout import Layout
from wms_sync.state.store import StateStore

Say = Callable[[str], object]
_LARGEST_ID = 2**63 - 1


def bring_together(layout: Layout, store: StateStore, say: Say, *, behind: bool) -> None:
    """Let state store and file have the same orders; raises ``ForgottenOrdersLostError`` where both are in doubt.

    ``behind`` is whether the state store lacks something that is on disk. The caller holds the writer's lock.
    """
    refuse_lost(layout, behind=behind)
    known = store.forgotten()
    try:
        listed = _listed(layout)
    except ValueError as damage:
        listed = None
        if layout.forgotten_orders.exists() or known:
            say(f"{layout.forgotten_orders} {damage}: made again from the state store, {len(known)} orders")
    if listed is not None and not listed <= known:
        store.remember_forgotten(listed)
        say(f"took {len(listed - known)} forgotten orders into the state store again, from {layout.forgotten_orders}")
    if listed is not None and not known <= listed:
        say(f"put {len(known - listed)} forgotten orders into {layout.forgotten_orders} again, from the state store")
    if listed is None or not known <= listed:
        _write(layout, store)


def refuse_lost(layout: Layout, *, behind: bool) -> None:
    """Raises ``ForgottenOrdersLostError`` where neither state store nor file can be trusted."""
    if behind:
        try:
            _listed(layout)
        except ValueError as damage:
            raise ForgottenOrdersLostError(layout.forgotten_orders, str(damage)) from None


def remember(layout: Layout, store: StateStore, order_ids: Collection[int]) -> frozenset[int]:
    """Put these orders on the list, in both places, before anything of them is removed; all that are on it."""
    store.remember_forgotten(order_ids)
    return _write(layout, store)


def _write(layout: Layout, store: StateStore) -> frozenset[int]:
    everyone = store.forgotten()
    store.turn.write_whole(layout.forgotten_orders, json.dumps(sorted(everyone)).encode())
    return everyone


def _listed(layout: Layout) -> frozenset[int]:
    """The orders in the file; raises ``ValueError`` saying what is the matter with it."""
    try:
        listed = json.loads(layout.forgotten_orders.read_bytes())
    except FileNotFoundError:
        raise ValueError("is missing") from None
    except ValueError:
        raise ValueError("is damaged") from None
    if not isinstance(listed, list) or not all(_is_id(one) for one in listed):
        raise ValueError("is no list of orders' ids")
    return frozenset(listed)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_ID
