"""``wms-sync explain``: show where the rows of shipments came from, as text or as JSON."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from wms_sync.cli.printing import say_json, say_lines
from wms_sync.reports.explain import explain, explain_orders, explain_tracking, explanation_lines, order_lines
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import Struct


def explain_shipment(settings: Settings, name: str, *, as_json: bool) -> None:
    """Print the explanation of one shipment, by id or unique_id. The JSON is one object."""
    with StateStore(settings.database_url) as store:
        found = explain(settings, store, name)
    _print(found, explanation_lines(found), as_json=as_json)


def explain_order(settings: Settings, name: str, *, as_json: bool) -> None:
    """Print the shipments of the orders with this id, unique_id or order_ref. The JSON is a list of orders."""
    with StateStore(settings.database_url) as store:
        found = explain_orders(settings, store, name)
    _print(found, chain.from_iterable(map(order_lines, found)), as_json=as_json)


def explain_package(settings: Settings, number: str, *, as_json: bool) -> None:
    """Print the shipments with this tracking number. The JSON is a list of shipments."""
    with StateStore(settings.database_url) as store:
        found = explain_tracking(settings, store, number)
    _print(found, chain.from_iterable(map(explanation_lines, found)), as_json=as_json)


def _print(found: Struct | tuple[Struct, ...], lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        say_json(found)
    else:
        say_lines(lines)
