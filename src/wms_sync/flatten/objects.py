"""Write the objects of a batch as JSON lines, one file per kind and one line per object, which DuckDB reads as rows.

A line is ``{"page":3,"object":{...}}`` with the object's bytes as the service sent them. Letting DuckDB read whole
pages instead would take twice the time and three times the memory: DuckDB processes 2,048 rows at a time, and a page
would be one row whose lists it holds twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote
from wms_sync.durable import PRIVATE_FILE, make_private
from wms_sync.flatten.shape import COLLECTION
from wms_sync.flatten.split import ObjectBytes

# What DuckDB raises for the content of a file; running out of memory or disk is not among them.
# Its message quotes the file, cut anywhere: if it cuts a character in half, Python cannot decode the message.
CONTENT_ERRORS = (duckdb.InvalidInputException, duckdb.DataError, UnicodeDecodeError)
_MEBIBYTE = 1024 * 1024
_LINE_OVERHEAD = 64  # most bytes of a line besides its object


class Objects:
    """Files of objects in ``folder``, each read by a view ``<schema>.<kind>`` with the columns _page and object."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, schema: str, kinds: Iterable[str]) -> None:
        make_private(folder)
        self._connection = connection
        self._schema = schema
        self._kinds = tuple(kinds)
        self._largest = _MEBIBYTE
        self._paths = {kind: folder / f"{kind}.jsonl" for kind in self._kinds}
        self.clear()
        connection.execute(f"create schema {quote(schema)}")
        self._create_views()

    def clear(self) -> None:
        """Empty every file."""
        for path in self._paths.values():
            path.write_bytes(b"")
            path.chmod(PRIVATE_FILE)

    def add(self, page: int, objects: ObjectBytes) -> None:
        """Append the objects of a page that are known to be valid JSON of the right shape, without line breaks."""
        begin = b'{"page":%d,"object":' % page
        largest = 0
        for kind, some in objects.items():
            if not some:
                continue
            lines = begin + (b"}\n" + begin).join(some) + b"}\n"
            largest = max(largest, *map(len, some))
            with self._paths[kind].open("ab") as file:
                file.write(lines)
        if largest + _LINE_OVERHEAD > self._largest:
            self._largest = largest + _MEBIBYTE
            self._create_views()

    @property
    def is_empty(self) -> bool:
        """Return whether no file has an object."""
        return not any(path.stat().st_size for path in self._paths.values())

    def readable(self) -> bool:
        """Return whether DuckDB can read every object strictly."""
        try:
            for kind, path in self._paths.items():
                if path.stat().st_size:
                    self._connection.execute(f"select count(object) from {self._view(kind)}").fetchall()
        except CONTENT_ERRORS:
            return False
        return True

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
                    type=literal(quote(type_name(kind))),
                    largest=self._largest,
                )
            )


def type_name(kind: str) -> str:
    """Return the name of a kind's type in ``sql/types``: ``order_item`` for ``OrderItem``."""
    return "shipment" if kind == COLLECTION else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
