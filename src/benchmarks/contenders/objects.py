"""The objects of pages in an in-memory DuckDB, for the floor: handed over in memory and decoded once.

DuckDB decodes lines with one object each in half the time that it takes for whole pages. The lines are in files that
exist in memory only (`memfd_create`) and are overwritten by the next pages; of objects that page after page repeats,
each is handed over once in a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import Any

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote
from wms_sync.flatten.objects import type_name
from wms_sync.flatten.shape import COLLECTION, PRODUCTS, create_types
from wms_sync.flatten.split import SHARED

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
_LARGEST = 16 * 1024 * 1024


class Repetitions:
    """What was handed over of the kinds of `SHARED`, by any thread."""

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
            view = {"schema": "page", "kind": quote(kind), "file": literal(f"/proc/self/fd/{file}")}
            named = literal(quote(type_name(kind)))
            statement = sql_files.read("flatten/page/kind.sql")
            self.connection.execute(statement.format(**view, type=named, largest=_LARGEST))

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
        if objects and kind in SHARED:
            objects = self._repetitions.without(objects)
        if objects:
            begin = b'{"page":%d,"object":' % (number + 1)
            yield begin
            yield (b"}\n" + begin).join(objects)
            yield b"}\n"


def _view(kind: str) -> str:
    return f"page.{quote(kind)}"
