"""The inbox: the open rows of ``ops.quarantine`` and ``ops.schema_drift``, one entry per kind of finding.

Rows stay in these tables for analysts. An entry about values closes when the newest version of each of its objects
fits. An entry about whole records or pages closes when all shipments that the page may have contained have been read
again. An entry about a key stays until ``sql/types`` has the key and its values have been loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import literal, table
from wms_sync.intervals import subtract
from wms_sync.settings import Settings
from wms_sync.state.reported import fingerprint
from wms_sync.state.store import COMPLETE_STATES, StateStore, Window
from wms_sync.targets.database import records
from wms_sync.targets.target import target_of

TABLES = {
    "Brand": "brands",
    "Gallery": "galleries",
    "GalleryItem": "gallery_items",
    "Merchant": "merchants",
    "Order": "orders",
    "OrderItem": "order_items",
    "PackagingContainer": "products",
    "PackagingDataCollection": "products",
    "PackagingInfill": "products",
    "PackagingInstruction": "products",
    "PackagingSupplies": "products",
    "Product": "products",
    "Retailer": "retailers",
    "RetailerShipToLocation": "retailer_ship_to_locations",
    "Shipment": "shipments",
    "ShipmentItem": "shipment_items",
    "ThirdPartyBillingGroup": "third_party_billing_groups",
    "Warehouse": "warehouses",
}
"""The table of each kind of object. The version of an object in its table decides whether its value fits now."""


class InboxEntry(Struct, frozen=True):
    """One entry: a field whose values did not fit (``is_value``), or a key that is unknown or whose values were cast.

    ``rows`` counts open rows of ``ops.quarantine``, or occurrences of the key. ``facts`` is the fingerprint for
    acknowledgements: for values it changes with each new value that does not fit; for a key it never changes.
    """

    name: str
    is_value: bool
    what: str
    why: str
    rows: int
    first_at: datetime
    last_at: datetime
    example: str
    facts: str
    acknowledged_at: datetime | None = None


class InboxRow(Struct, frozen=True):
    """One row of an entry: where it was found, and the original text."""

    window_id: str
    page: int
    object: str | None
    object_id: int | None
    path: str
    text: str
    rows: int


def open_entries(connection: duckdb.DuckDBPyConnection, store: StateStore) -> tuple[InboxEntry, ...]:
    """Return the open entries of the published file: values first, then by descending number of rows."""
    keys = (_key_entry(row) for row in records(connection.execute(sql_files.read("inbox/keys.sql"))))
    entries = (*_values(connection, store), *keys)
    return tuple(sorted(entries, key=lambda entry: (not entry.is_value, -entry.rows, entry.what)))


def rows_of_entry(settings: Settings, entry: InboxEntry, most: int) -> tuple[InboxRow, ...]:
    """Return the newest rows of an entry, at most ``most``."""
    with target_of(settings).published() as connection:
        name = "values" if entry.is_value else "keys"
        query = sql_files.read(f"inbox/rows_of_{name}.sql").format(misfits=_misfits(connection))
        found = connection.execute(query, {"what": entry.what, "why": entry.why, "most": most})
        return tuple(InboxRow(**row) for row in records(found))


def _values(connection: duckdb.DuckDBPyConnection, store: StateStore) -> Iterator[InboxEntry]:
    """Yield the entries about values. The query groups them by window."""
    rows = records(connection.execute(sql_files.read("inbox/values.sql").format(misfits=_misfits(connection))))
    again = _read_again(store, {row["window_id"] for row in rows})
    places = dict.fromkeys((row["what"], row["why"]) for row in rows)
    for what, why in places:
        group = [row for row in rows if (row["what"], row["why"]) == (what, why)]
        still = [row for row in group if row["open_rows"] and row["window_id"] not in again]
        if still:
            newest = max(still, key=lambda row: row["last_at"])
            yield InboxEntry(
                name=_name("value", what, why),
                is_value=True,
                what=what,
                why=why,
                rows=sum(row["open_rows"] for row in still),
                first_at=min(row["first_at"] for row in still),
                last_at=newest["last_at"],
                example=newest["example"],
                facts=fingerprint(max(row["new_at"] for row in group)),
            )


def _key_entry(row: Mapping[str, Any]) -> InboxEntry:
    name = _name("key", row["what"], row["why"])
    return InboxEntry(name=name, is_value=False, facts=fingerprint(name), **row)


def _name(kind: str, what: str, why: str) -> str:
    return f"{kind}-{hashlib.sha256(f'{what} {why}'.encode()).hexdigest()[:6]}"


def _misfits(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the query for all misfits, which says of each whether a later version of its object is stored."""
    query = "select distinct object from ops.quarantine where object_id is not null order by object"
    kinds = [kind for (kind,) in connection.execute(query).fetchall() if kind in TABLES]
    parts = [
        sql_files.read("inbox/newest.sql").format(kind=literal(kind), table=table(TABLES[kind]).qualified)
        for kind in kinds
    ]
    return sql_files.read("inbox/misfits.sql").format(
        newest="\nunion all\n".join(parts) or sql_files.read("inbox/none_newest.sql")
    )


def _read_again(store: StateStore, windows: Collection[str]) -> frozenset[str]:
    """Return the windows whose whole time, or whose undated shipments, have been read again since.

    Rows about their pages are obsolete.
    """
    known = {window.id: window for window in store.windows()} if windows else {}
    complete = [window for window in known.values() if window.state in COMPLETE_STATES]
    return frozenset(window for window in windows if window in known and _is_read_again(known[window], complete))


def _is_read_again(window: Window, complete: Sequence[Window]) -> bool:
    later = [other for other in complete if window.landed_at is not None and other.started_at > window.landed_at]
    return (
        any(other.reason == "undated" for other in later)
        if window.reason == "undated"
        else window.from_at < window.to_at
        and not subtract((window.interval,), (other.interval for other in later if other.covers_time))
    )
