"""Write the objects of a batch as JSON lines, one file per kind and one line per object, which DuckDB reads as rows.

A line is ``{"_page":3,...}``: the number of the page before the object's own keys, with the bytes that the service
sent. So the object's fields are columns, of which a statement reads those that it needs; as fields of one struct, they
are planned and copied together, at twice the cost. Letting DuckDB read whole pages would take twice the time and three
times the memory: DuckDB processes 2,048 rows at a time, and a page would be one row whose lists it holds twice. An
object that has a key ``_page`` itself fails to be read, as any object that has a key twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from wms_sync import sql_files
from wms_sync.catalogue import literal
from wms_sync.shipments.flatten.statements import Kinds
from wms_sync.storage.durable import PRIVATE_FILE, make_private

# What DuckDB raises for the content of a file; running out of memory or disk is not among them.
# Its message quotes the file, cut anywhere: if it cuts a character in half, Python cannot decode the message.
CONTENT_ERRORS = (duckdb.InvalidInputException, duckdb.DataError, UnicodeDecodeError)
_MEBIBYTE = 1024 * 1024
_LINE_OVERHEAD = 64  # most bytes of a line besides its object
_PAGE = "_page"
_NO_KEYS = b'"":null}'
Columns = Mapping[str, Mapping[str, str]]
"""The type of each field in SQL, by kind."""
ObjectBytes = Mapping[str, Sequence[Any]]
"""The bytes of each object, by kind."""


class Objects:
    """Files of objects in ``folder``, which DuckDB reads as rows of _page and the object's fields."""

    def __init__(self, folder: Path, columns: Columns) -> None:
        make_private(folder)
        self._columns = columns
        self._largest = _MEBIBYTE
        self._paths = {kind: folder / f"{kind}.jsonl" for kind in columns}
        self._filled: set[str] = set()
        self.clear()

    def clear(self) -> None:
        """Empty every file."""
        self._filled.clear()
        for path in self._paths.values():
            path.write_bytes(b"")
            path.chmod(PRIVATE_FILE)

    def add(self, page: int, objects: ObjectBytes) -> None:
        """Append the objects of a page that are known to be valid JSON of the right shape, without line breaks."""
        for kind, some in objects.items():
            if not some:
                continue
            self._largest = max(self._largest, max(map(len, some)) + _LINE_OVERHEAD)
            with self._paths[kind].open("ab") as file:
                file.write(lines(page, some))
            self._filled.add(kind)

    @property
    def kinds(self) -> Kinds:
        """Return what statements read."""
        return Kinds({kind: self._read(kind) for kind in self._paths}, self._columns, frozenset(self._filled))

    def _read(self, kind: str) -> str:
        return read_of(self._paths[kind], self._columns[kind], self._largest)


def read_of(file: Path, columns: Mapping[str, str], largest: int) -> str:
    """Return the SQL that reads a kind's file, of which no line is larger than ``largest`` bytes."""
    types = {_PAGE: "integer", **columns}
    named = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in types.items())
    return sql_files.body("flatten/page/kind.sql").format(file=literal(str(file)), columns=named, largest=largest)


def lines(page: int, objects: Iterable[bytes | msgspec.Raw]) -> bytes:
    """Return the lines of a page's objects of one kind, each in bytes without a line break."""
    begin = b'{"_page":%d,' % page
    rest = [memoryview(one)[1:] if len(one) > len("{}") else _NO_KEYS for one in objects]
    return begin + (b"\n" + begin).join(rest) + b"\n"
