"""Write the objects of a batch to one Parquet file per table, with a COPY of ``sql/flatten/<table>.sql``.

A file is written under a temporary name, synced and renamed; a table without rows has no file. The files of a batch are
synced in parallel, because the disk then syncs them together: one after the other takes eight times as long.

DuckDB reads the objects of a batch as JSON lines, one file per kind and one line per object.

A line is ``{"_page":3,...}``: the number of the page, then the object's own keys, unchanged unless repaired. So the
object's fields are columns, and a statement reads only those that it needs; as fields of one struct, they would be
planned and copied together, at twice the cost. Reading whole pages with DuckDB would take twice the time and three
times the memory: DuckDB processes 2,048 rows at a time, and a page would be one row, whose lists DuckDB holds twice. An
object never has its own key ``_page``, because ``repair`` removes unknown keys.

A statement reads only kinds and stages with rows in the batch, because planning a query costs more than running it on a
few rows. So ``from page."Order"`` becomes the read of the kind's file directly, without a view. The kind that the
header ``completed`` names is joined only if it has objects.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import msgspec
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote, tables
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.storage.durable import PRIVATE_FILE, make_private, put_in_place, sync_file
from wms_sync.targets.database import number_in

_KIND = re.compile(r'\bpage\.(?:"(\w+)"|(\w+))')
# DuckDB's errors for the content of a file; they do not include running out of memory or disk.
# The message quotes the file, cut anywhere: if a character is cut in half, Python cannot decode the message.
CONTENT_ERRORS = (duckdb.InvalidInputException, duckdb.DataError, UnicodeDecodeError)
_MEBIBYTE = 1024 * 1024
_LINE_OVERHEAD = 64  # the maximum bytes of a line besides its object
_PAGE = "_page"
_NO_KEYS = b'"":null}'
Columns = Mapping[str, Mapping[str, str]]
"""The SQL type of each field, by kind."""
ObjectBytes = Mapping[str, Sequence[Any]]
"""The bytes of each object, by kind."""
# Measured on 25 tables: snappy is 10% faster to write and a third larger. Reading the objects takes far longer.
_FORMAT = "format parquet, compression zstd, compression_level 1"
_SYNCED_AT_ONCE = 8


class Kinds(Struct, frozen=True):
    """The kinds of a batch: ``reads`` has the SQL after ``from`` that reads the objects of each, ``fields`` its fields.

    ``filled`` are the kinds that have objects.
    """

    reads: Mapping[str, str]
    fields: Mapping[str, Collection[str]]
    filled: Collection[str]


def statement(path: str, kinds: Kinds) -> str:
    """Return the statement of an SQL file, reading the objects of ``kinds``.

    With the header ``completed: OrderItem``, fields are taken from included objects of that kind, or from ``stated``
    where they are null there.
    """
    text = sql_files.read(path)
    kind = sql_files.headers(text).get("completed", "")
    if kind in kinds.filled:
        text = _completed(text, kind, kinds.fields[kind])
    return _KIND.sub(lambda named: kinds.reads[named[1] or named[2]], text)


def select_of(table: Table, kinds: Kinds) -> str:
    """Return the SELECT for all columns of a table.

    Its parameters are the batch's provenance; for a table of ``ops`` it has none.
    """
    if table.schema == "ops":
        return f"from {table.qualified}"
    return sql_files.read("flatten/page/provenance.sql").format(select=statement(f"flatten/{table.slug}.sql", kinds))


@cache
def needs(table: Table) -> frozenset[str]:
    """Return the kinds and stages of the header ``needs``: the table has rows only if at least one of them has."""
    if table.schema == "ops":
        return frozenset({table.slug})
    return frozenset(sql_files.headers(sql_files.read(f"flatten/{table.slug}.sql"))["needs"].split(", "))


def _completed(text: str, kind: str, fields: Collection[str]) -> str:
    replaced = ", ".join(f"coalesce(included.{name}, stated.{name}) as {name}" for name in map(quote, fields))
    select = sql_files.read("flatten/page/completed.sql").format(kind=quote(kind), fields=replaced)
    before, _, after = text.rpartition("from stated")
    return f"{before}from ({select}) as stated{after}"


class ObjectFiles:
    """Files of objects in ``folder``, which DuckDB reads as rows with ``_page`` and the object's fields."""

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
        """Append objects of a page, which must be valid JSON of the right shape without line breaks."""
        for kind, some in objects.items():
            if not some:
                continue
            self._largest = max(self._largest, max(map(len, some)) + _LINE_OVERHEAD)
            with self._paths[kind].open("ab") as file:
                file.write(lines(page, some))
            self._filled.add(kind)

    @property
    def kinds(self) -> Kinds:
        """Return the kinds of these files, for statements."""
        reads = {kind: read_of(path, self._columns[kind], self._largest) for kind, path in self._paths.items()}
        return Kinds(reads, self._columns, frozenset(self._filled))


def read_of(file: Path, columns: Mapping[str, str], largest: int) -> str:
    """Return the SQL that reads a kind's file, whose lines have at most ``largest`` bytes."""
    types = {_PAGE: "integer", **columns}
    named = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in types.items())
    return sql_files.body("flatten/page/kind.sql").format(file=literal(str(file)), columns=named, largest=largest)


def lines(page: int, objects: Iterable[bytes | msgspec.Raw]) -> bytes:
    """Return a page's objects of one kind as lines; their bytes must have no line break."""
    begin = b'{"_page":%d,' % page
    rest = [bytes(raw)[1:] if len(raw) > len("{}") else _NO_KEYS for raw in objects]
    return begin + (b"\n" + begin).join(rest) + b"\n"


class Batch(Struct, frozen=True):
    """Pages of one window; their Parquet files ``<parquet_dir>/<table>/<name>`` are first written in ``work_dir``."""

    pages: Sequence[RawPage]
    window_id: str
    parquet_dir: Path
    name: str
    work_dir: Path

    def path(self, slug: str) -> Path:
        """Return the path of a table's file."""
        return self.parquet_dir / slug / self.name

    def temporary(self, slug: str) -> Path:
        """Return the path at which a table's file is written."""
        return self.work_dir / f"{slug}.parquet"


def create_stages(connection: duckdb.DuckDBPyConnection, kinds: Kinds) -> set[str]:
    """Create the tables of a batch that several tables select from. Return the names of those that have rows."""
    filled = set()
    for path in sql_files.listed("flatten/stages"):
        name = _stage(path)
        created = connection.execute(f"create or replace table {quote(name)} as {statement(path, kinds)}")
        if number_in(created):
            filled.add(name)
    return filled


def drop_stages(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the stages, to free their memory."""
    for path in sql_files.listed("flatten/stages"):
        connection.execute(f"drop table if exists {quote(_stage(path))}")


def _stage(path: str) -> str:
    return sql_files.stem(path).partition("_")[2]


def write_tables(
    connection: duckdb.DuckDBPyConnection, batch: Batch, kinds: Kinds, filled: Collection[str]
) -> tuple[dict[str, int], dict[str, Path]]:
    """Write every table; return rows and files by ``Table.slug``.

    Skip a table if none of its ``needs`` is ``filled``: it has no rows, and planning its query would cost time.
    """
    rows = {
        table.slug: 0 if needs(table).isdisjoint(filled) else _write(connection, batch, table, kinds)
        for table in tables()
    }
    for slug, count in rows.items():
        if not count:
            batch.path(slug).unlink(missing_ok=True)
    files = {slug: batch.path(slug) for slug, count in rows.items() if count}
    with ThreadPoolExecutor(_SYNCED_AT_ONCE, "sync") as pool:
        for _ in pool.map(partial(_put_in_place, batch), files):
            pass  # an error in a thread is raised here
    return rows, files


def _write(connection: duckdb.DuckDBPyConnection, batch: Batch, table: Table, kinds: Kinds) -> int:
    temporary = batch.temporary(table.slug)
    copy = f"copy ({select_of(table, kinds)}) to $temporary ({_FORMAT})"
    parameters: dict[str, object] = {"temporary": str(temporary)}
    if table.schema != "ops":
        parameters |= {
            "window_id": batch.window_id,
            "numbers": [page.number for page in batch.pages],
            "extracted_at": [page.served_at.isoformat() for page in batch.pages],
        }
    rows = number_in(connection.execute(copy, parameters))
    if not rows:
        temporary.unlink(missing_ok=True)
    return rows


def _put_in_place(batch: Batch, slug: str) -> None:
    temporary, path = batch.temporary(slug), batch.path(slug)
    make_private(path.parent)
    sync_file(temporary)
    put_in_place(temporary, path)
