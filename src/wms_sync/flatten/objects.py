"""Write the objects of a batch as JSON lines, one file per kind and one line per object, which DuckDB reads as rows.

A line is ``{"page":3,"object":{...}}`` with the object's bytes as the service sent them. Letting DuckDB read whole
pages instead would take twice the time and three times the memory: DuckDB processes 2,048 rows at a time, and a page
would be one row whose lists it holds twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote
from wms_sync.durable import PRIVATE_FILE, make_private
from wms_sync.flatten.shape import PRODUCTS

COLLECTION = "collection"
# Kinds that many shipments refer to: page after page repeats their objects, byte for byte.
SHARED = frozenset(
    {*PRODUCTS, "Brand", "Merchant", "Retailer", "RetailerShipToLocation", "ThirdPartyBillingGroup", "Warehouse"}
)
# What DuckDB raises for the content of a file; running out of memory or disk is not among them.
# Its message quotes the file, cut anywhere: if it cuts a character in half, Python cannot decode the message.
CONTENT_ERRORS = (duckdb.InvalidInputException, duckdb.DataError, UnicodeDecodeError)
_MEBIBYTE = 1024 * 1024
_LINE_OVERHEAD = 64  # most bytes of a line besides its object


class Objects:
    """Files of objects in ``folder``, each read by a view ``<schema>.<kind>`` with the columns _page and object.

    Of identical objects of a shared kind, only the first one added is written, so add the newest page first.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, schema: str, kinds: Sequence[str]) -> None:
        make_private(folder)
        self._connection = connection
        self._schema = schema
        self._kinds = (COLLECTION, *kinds)
        self._largest = _MEBIBYTE
        self._split = _splitter(kinds)
        self._paths = {kind: folder / f"{kind}.jsonl" for kind in self._kinds}
        self.clear()
        connection.execute(f"create schema {quote(schema)}")
        self._create_views()

    def clear(self) -> None:
        """Empty every file."""
        self._shared = {kind: set[bytes]() for kind in self._kinds if kind in SHARED}
        for path in self._paths.values():
            path.write_bytes(b"")
            path.chmod(PRIVATE_FILE)

    def add(self, page: int, content: bytes) -> None:
        """Append the objects of a page that is known to be valid JSON of the right shape."""
        if b"\n" in content:  # only between values: inside a text it is escaped
            content = content.replace(b"\n", b" ")
        largest = 0
        for kind, objects in self._objects(content):
            begin = b'{"page":%d,"object":' % page
            lines = begin + (b"}\n" + begin).join(objects) + b"}\n"
            largest = max(largest, *map(len, objects))
            with self._paths[kind].open("ab") as file:
                file.write(lines)
        if largest + _LINE_OVERHEAD > self._largest:
            self._largest = largest + _MEBIBYTE
            self._create_views()

    def readable(self) -> bool:
        """Return whether DuckDB can read every object strictly."""
        try:
            for kind in self._kinds:
                self._connection.execute(f"select count(object) from {self._view(kind)}").fetchall()
        except CONTENT_ERRORS:
            return False
        return True

    def _objects(self, content: bytes) -> Iterator[tuple[str, list[Any]]]:
        page = self._split.decode(content)
        if page.collection:
            yield COLLECTION, page.collection
        for kind in self._kinds[1:]:
            objects = getattr(page.included, kind, None)
            if objects and kind in SHARED:
                objects = self._unseen(kind, objects)
            if objects:
                yield kind, objects

    def _unseen(self, kind: str, objects: list[Any]) -> list[bytes]:
        seen = self._shared[kind]
        unseen = [one for one in map(bytes, objects) if one not in seen]
        seen.update(unseen)
        return unseen

    def _view(self, kind: str) -> str:
        return f"{quote(self._schema)}.{quote(kind)}"

    def _create_views(self) -> None:
        statement = sql_files.read("flatten/page/kind.sql")
        for kind, path in self._paths.items():
            self._connection.execute(
                statement.format(
                    schema=quote(self._schema),
                    kind=quote(kind),
                    file=literal(str(path)),
                    type=literal(quote(_type_name(kind))),
                    largest=self._largest,
                )
            )


def _splitter(kinds: Sequence[str]) -> msgspec.json.Decoder[Any]:
    """Return a decoder that gives the bytes of a page's objects and skips everything else."""
    objects: Any = list[msgspec.Raw] | None
    included = msgspec.defstruct("Included", [(kind, objects, None) for kind in kinds])
    page = msgspec.defstruct("Page", [(COLLECTION, objects, None), ("included", included | None, None)])
    return msgspec.json.Decoder(page)


def _type_name(kind: str) -> str:
    """Return the name of a kind's type in ``sql/types``: ``order_item`` for ``OrderItem``."""
    return "shipment" if kind == COLLECTION else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
