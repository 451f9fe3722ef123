"""The objects of pages in an in-memory DuckDB, for the floor: handed over in memory and decoded once.

DuckDB decodes lines with one object each in half the time that it takes for whole pages. The lines are in files that
exist in memory only (`memfd_create`) and are overwritten by the next pages; of objects that page after page repeats,
each is handed over once in a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb

from wms_sync.shipments.flatten.shape import COLLECTION, PRODUCTS, SHARED, create_types, shape_of
from wms_sync.shipments.flatten.write import Kinds, lines, read_of

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
            fresh = [content for content in map(bytes, objects) if content not in self._seen]
            self._seen.update(fresh)
        return fresh


class Objects:
    """A connection with the types of `sql/types` and what statements read of the pages put in last."""

    def __init__(self, repetitions: Repetitions) -> None:
        self._repetitions = repetitions
        self.connection = duckdb.connect(config={"threads": "1", "preserve_insertion_order": "false"})
        self.connection.execute("set timezone = 'UTC'")
        create_types(self.connection)
        columns = shape_of(self.connection).columns
        self._files = {kind: os.memfd_create(kind) for kind in (COLLECTION, *KINDS)}
        reads = {
            kind: read_of(Path(f"/proc/self/fd/{file}"), columns[kind], _LARGEST) for kind, file in self._files.items()
        }
        self.kinds = Kinds(reads, columns, frozenset(reads))

    def put(self, pages: Sequence[Any]) -> None:
        """Replace the pages."""
        for kind, file in self._files.items():
            content = b"".join(
                chain.from_iterable(self._lines(number, kind, page) for number, page in enumerate(pages))
            )
            os.pwrite(file, content, 0)
            os.ftruncate(file, len(content))

    def decode(self) -> int:
        """Decode every object. Return the number of shipments. Counting a column makes DuckDB decode it whole."""
        counts = [
            self.connection.execute(f"select count(columns(*)) from {self.kinds.reads[kind]}").fetchone()
            for kind in self._files
        ]
        return int(counts[0][0]) if counts[0] else 0

    def _lines(self, number: int, kind: str, page: Any) -> Iterator[bytes]:  # noqa: ANN401 - a generated struct
        objects = page.collection if kind == COLLECTION else getattr(page.included, kind, None)
        if objects and kind in SHARED:
            objects = self._repetitions.without(objects)
        if objects:
            yield lines(number + 1, objects)
