"""Find the windows whose raw pages may name some orders, through their Parquet files instead of their pages.

A page names an order where a shipment refers to it, and where it is included; both become rows. So the pages of a
window without such rows can be skipped if its Parquet files certainly have all rows of its pages: they are complete, no
value was quarantined or had another form than its type, and the pages are those that were flattened. Every other window
may name any order: half-read and abandoned ones, and those that are not flattened yet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import quote
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.findings import UNKNOWN_KEY
from wms_sync.shipments.flatten.page import RecordDamagedError
from wms_sync.shipments.flatten.window import flattened_window, is_flattened
from wms_sync.shipments.read.raw import size_differs
from wms_sync.state.store import COMPLETE_STATES, StateStore, Window

_NAMING = {"shipments": "order_id", "orders": "id"}
"""The tables that have a row for each order that a page names, with the column that names it."""


def suspects(layout: Layout, store: StateStore, order_ids: Collection[int]) -> tuple[str, ...]:
    """Return the ids of the windows whose raw pages may name one of these orders, sorted."""
    with duckdb.connect() as connection:
        rows = {slug: _rows(connection, layout, slug, order_ids) for slug in _NAMING}
        cast = _with_other_forms(connection, layout)
    windows = {window.id: window for window in store.windows(*COMPLETE_STATES) if window.id not in cast}
    found_in = []
    for window_id in layout.windows():
        found = {slug: rows[slug].get(window_id, (0, False)) for slug in _NAMING}
        counted = {slug: count for slug, (count, _) in found.items()}
        is_named = any(is_named for _, is_named in found.values())
        if is_named or not _is_sure(layout, store, windows.get(window_id), counted):
            found_in.append(window_id)
    return tuple(sorted(found_in))


def _rows(
    connection: duckdb.DuckDBPyConnection, layout: Layout, slug: str, order_ids: Collection[int]
) -> Mapping[str, tuple[int, bool]]:
    """Return by window the number of rows of a table, and whether a row names one of these orders."""
    files = layout.files.local(layout.parquet_files(slug))
    if not files:
        return {}
    query = sql_files.read("forget/named.sql").format(key=quote(_NAMING[slug]))
    found = connection.execute(query, {"files": files, "ids": sorted(order_ids)}).fetchall()
    return {window_id: (count, is_named) for window_id, count, is_named in found}


def _with_other_forms(connection: duckdb.DuckDBPyConnection, layout: Layout) -> frozenset[str]:
    """Return the windows in which values had another form than their type."""
    files = layout.files.local(layout.parquet_files("ops_schema_drift"))
    if not files:
        return frozenset()
    query = sql_files.read("forget/other_forms.sql")
    found = connection.execute(query, {"files": files, "unknown": UNKNOWN_KEY}).fetchall()
    return frozenset(window_id for (window_id,) in found)


def _is_sure(layout: Layout, store: StateStore, window: Window | None, counted: Mapping[str, int]) -> bool:
    """Return whether the Parquet files of a window certainly have a row for each order that its pages name."""
    if window is None or not is_flattened(layout, window.id):
        return False
    try:
        flattened = flattened_window(layout, window.id)
    except RecordDamagedError:
        return False
    pages = {page.file: page for page in store.pages(window.id)}
    return (
        flattened.quarantined == 0
        and flattened.records == sum(page.records for page in pages.values())
        and all(flattened.rows.get(slug, 0) == count for slug, count in counted.items())
        and pages.keys() == set(layout.pages(window.id))
        and not any(size_differs(layout, page) for page in pages.values())
    )
