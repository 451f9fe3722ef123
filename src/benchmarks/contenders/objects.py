"""The objects of pages in an in-memory DuckDB, for the floor: handed over in memory and decoded once.

DuckDB decodes lines with one object each in half the time that it takes for whole pages. The lines are in files that
exist in memory only (`memfd_create`) and are overwritten by the next pages; of objects that page after page repeats,
each is handed over once in a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import Any

import duckdb

from wms_sync.catalogue import literal, quote
from wms_sync.flatten.shape import PRODUCTS, create_types

COLLECTION = "collection"
KINDS = (
    "Brand",
    "Gallery",
    "GalleryItem",
    "Merchant",
    "Order",
    "OrderAddress",
    "OrderAddressCandidate",
    "OrderInstruction",
    "OrderItem",
    "OrderStatusHistory",
    *PRODUCTS,
    "Retailer",
    "RetailerShipToLocation",
    "ShipmentItem",
    "ShipmentPackage",
    "ShipmentPackageItem",
    "ShipmentPackingSolution",
    "ThirdPartyBillingGroup",
    "Warehouse",
)
REPEATED = frozenset(
    {*PRODUCTS, "Brand", "Merchant", "Retailer", "RetailerShipToLocation", "ThirdPartyBillingGroup", "Warehouse"}
)
_LARGEST = 16 * 1024 * 1024
_VIEW = """
create view {view} as
select page as _page, object
from read_json(
    {file},
    columns = {{'page': 'integer', 'object': {type}}},
    format = 'newline_delimited',
    records = true,
    auto_detect = false,
    maximum_object_size = {largest}
)
"""


class Repetitions:
    """What was handed over of the kinds of `REPEATED`, by any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: set[bytes] = set()

    def without(self, objects: Sequence[Any]) -> Sequence[bytes]:
        """Return the objects that are new."""
        with self._lock:
            fresh = [one for one in map(bytes, objects) if one not in self._seen]
            self._seen.update(fresh)
        return fresh


class Objects:
    """A connection with the types of `sql/types` and a view `page.<kind>` for each kind of the pages put in last."""

    def __init__(self, repetitions: Repetitions) -> None:
        self._repetitions = repetitions
        self.connection = duckdb.connect(config={"threads": "1", "preserve_insertion_order": "false"})
        self.connection.execute("set timezone = 'UTC'")
        create_types(self.connection)
        self.connection.execute("create schema page")
        self._files = {kind: os.memfd_create(kind) for kind in (COLLECTION, *KINDS)}
        for kind, file in self._files.items():
            path, named = literal(f"/proc/self/fd/{file}"), literal(quote(_type_name(kind)))
            self.connection.execute(_VIEW.format(view=_view(kind), file=path, type=named, largest=_LARGEST))

    def put(self, pages: Sequence[Any]) -> None:
        """Replace the pages."""
        for kind, file in self._files.items():
            lines = b"".join(chain.from_iterable(self._lines(number, kind, page) for number, page in enumerate(pages)))
            os.pwrite(file, lines, 0)
            os.ftruncate(file, len(lines))

    def decode(self) -> int:
        """Decode every object. Return the number of shipments. Counting a column makes DuckDB decode it whole."""
        counts = [
            self.connection.execute(f"select count(object) from {_view(kind)}").fetchone() for kind in self._files
        ]
        return int(counts[0][0]) if counts[0] else 0

    def _lines(self, number: int, kind: str, page: Any) -> Iterator[bytes]:  # noqa: ANN401 - a generated struct
        objects = page.collection if kind == COLLECTION else getattr(page.included, kind, None)
        if objects and kind in REPEATED:
            objects = self._repetitions.without(objects)
        if objects:
            begin = b'{"page":%d,"object":' % (number + 1)
            yield begin
            yield (b"}\n" + begin).join(objects)
            yield b"}\n"


def _view(kind: str) -> str:
    return f"page.{quote(kind)}"


def _type_name(kind: str) -> str:
    """Return the name of a kind's type in `sql/types`: `order_item` for `OrderItem`."""
    return "shipment" if kind == COLLECTION else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
