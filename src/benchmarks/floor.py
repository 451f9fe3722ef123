"""The floor: download what changed, keep the pages, decode each object once, store the rows. Nothing else.

It writes Parquet files and a DuckDB file with the product's own queries, so that its rows are the same rows. It has no
state (its newest `updated_at` is where it continues), no history, no checks, no published copy; it proves nothing,
repairs nothing, tries nothing again and syncs nothing to disk. HTTP is the standard library's and gzip isal's; one
pass of msgspec gives the bytes of each object and decodes none. Four threads read a window each; whichever has its
pages takes one of as many flatteners as there are processors.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlencode, urlsplit

import duckdb
import msgspec
from isal import isal_zlib

from wms_sync.catalogue import quote, tables
from wms_sync.intervals import Interval, slices
from wms_sync.service.query import updated_within
from wms_sync.service.shipments import PATH
from wms_sync.shipments.flatten.shape import COLLECTION, SHARED, create_types, shape_of
from wms_sync.shipments.flatten.write import ObjectFiles, create_stages, needs, select_of

RECORDS_PER_WINDOW = 10_000
TABLES = [table for table in tables() if table.schema == "main"]
_GZIP = 31  # zlib's number for data with the header of gzip
_FORMAT = "format parquet, compression zstd, compression_level 1"
_WINNER = """
create or replace temp table winner as
select {key} as key, min(struct_pack(w := _window_id, p := _page)) as place
from read_parquet($files) group by all
"""
_DELETE = "delete from {table} where {key} in (select key from winner)"
_INSERT = """
insert into {table} by name
select staged.* from read_parquet($files) as staged
join winner on staged.{key} = key and struct_pack(w := staged._window_id, p := staged._page) = place
"""


class Page(msgspec.Struct):
    """A page whose objects are bytes."""

    collection: list[msgspec.Raw]
    has_more: bool
    next: str | None
    meta: dict[str, Any]
    included: dict[str, list[msgspec.Raw] | None] = {}


class Listing:
    """List shipments over one connection. Pages are written to `folder` as received."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._decoder = msgspec.json.Decoder(Page)
        self._connection = http.client.HTTPConnection(urlsplit(os.environ["WMS_BASE_URL"]).netloc, timeout=300)
        self._headers = {"Authorization": f"Bearer {os.environ['WMS_API_TOKEN']}", "Accept-Encoding": "gzip"}

    def windows(self, since: datetime) -> Sequence[Interval]:
        """Return slices of the time until the service's present, of about ten pages each."""
        query = {"filter": updated_within(since, None), "limit": "1", "count": "1"}
        now, page = self._get(f"{PATH}?{urlencode(query)}")
        return slices(Interval(since, now), -(-page.meta["count"] // RECORDS_PER_WINDOW))

    def pages(self, window_id: str, window: Interval) -> Iterator[Page]:
        """Yield the pages of a window."""
        within = ("filter", updated_within(window.start, window.end))
        params = [within, ("sort", "id"), ("limit", os.environ["WMS_PAGE_SIZE"])]
        target: str | None = f"{PATH}?{urlencode([*params, *json.loads(os.environ['BENCH_SELECTION'])])}"
        number = 0
        while target:
            number += 1
            _, page = self._get(target, self._folder / f"{window_id}-{number:05d}.json.gz")
            yield page
            target = page.next if page.has_more else None

    def _get(self, target: str, file: Path | None = None) -> tuple[datetime, Page]:
        self._connection.request("GET", target, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != http.client.OK:
            raise http.client.HTTPException(f"{response.status} for {target[:200]}")
        if file:
            file.write_bytes(body)
        content = isal_zlib.decompress(body, _GZIP) if response.headers["Content-Encoding"] == "gzip" else body
        return parsedate_to_datetime(response.headers["Date"]), self._decoder.decode(content)


class Flattener:
    """An in-memory DuckDB that writes the objects of a window's pages to a Parquet file per table."""

    def __init__(self, work: Path, seen: set[bytes]) -> None:
        self._seen = seen
        self._connection = duckdb.connect(config={"threads": "1", "preserve_insertion_order": "false"})
        self._connection.execute("set timezone = 'UTC'")
        create_types(self._connection)
        self._columns = shape_of(self._connection).columns
        self._objects = ObjectFiles(work, self._columns)

    def flatten(self, window_id: str, pages: Sequence[Page], parquet: Path) -> None:
        """Write `<parquet>/<table>/<window>.parquet`."""
        self._objects.clear()
        for number, page in enumerate(pages, start=1):
            listed = {COLLECTION: page.collection, **page.included}
            self._objects.add(number, {kind: self._fresh(kind, listed.get(kind) or ()) for kind in self._columns})
        kinds = self._objects.kinds
        filled = {*kinds.filled, *create_stages(self._connection, kinds)}
        provenance = {
            "window_id": window_id,
            "numbers": list(range(1, len(pages) + 1)),
            "extracted_at": [datetime.now(UTC).isoformat()] * len(pages),
        }
        for table in TABLES:
            if not needs(table).isdisjoint(filled):
                copy = f"copy ({select_of(table, kinds)}) to $file ({_FORMAT})"
                file = parquet / table.slug / f"{window_id}.parquet"
                self._connection.execute(copy, {**provenance, "file": str(file)})

    def _fresh(self, kind: str, objects: Sequence[msgspec.Raw]) -> Sequence[bytes | msgspec.Raw]:
        """Leave out what page after page repeats."""
        if kind not in SHARED:
            return objects
        fresh = [content for content in map(bytes, objects) if content not in self._seen]
        self._seen.update(fresh)
        return fresh


def merge(database: Path, parquet: Path) -> None:
    """Replace what was read again and insert the rest, in one transaction. Of an object read twice, one is stored."""
    files = {table.name: [str(file) for file in (parquet / table.slug).glob("*.parquet")] for table in TABLES}
    is_new = not database.exists()
    with duckdb.connect(database, config={"threads": "1", "preserve_insertion_order": "false"}) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.begin()
        if is_new:
            for table in TABLES:
                connection.execute(table.create)
        for root in (table for table in TABLES if table.is_root and files[table.name]):
            connection.execute(_WINNER.format(key=quote(root.root_key)), {"files": files[root.name]})
            for table in (table for table in TABLES if table.root == root.name):
                names = {"table": table.qualified, "key": quote(table.root_key)}
                connection.execute(_DELETE.format_map(names))
                if files[table.name]:
                    connection.execute(_INSERT.format_map(names), {"files": files[table.name]})
        connection.commit()


def main() -> None:
    """Read and store what changed since the newest shipment that is stored."""
    folder = Path(os.environ["WMS_DATA_DIR"])
    database, run = folder / "floor.duckdb", folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    for table in TABLES:
        (run / table.slug).mkdir(parents=True)
    seen: set[bytes] = set()
    flatteners = SimpleQueue[Flattener]()
    for number in range(os.cpu_count() or 1):
        flatteners.put(Flattener(run / f"objects-{number}", seen))

    def read(number: int, window: Interval) -> None:
        window_id = f"{run.name}-{number:04d}"
        pages = list(Listing(run).pages(window_id, window))
        flattener = flatteners.get()
        flattener.flatten(window_id, pages, run)
        flatteners.put(flattener)

    windows = Listing(run).windows(_newest(database))
    with ThreadPoolExecutor(int(os.environ["WMS_MAX_PARALLEL_REQUESTS"])) as pool:
        list(pool.map(read, range(len(windows)), windows))
    merge(database, run)


def _newest(database: Path) -> datetime:
    if not database.exists():
        return datetime.fromisoformat(os.environ["WMS_START_DATE"]).replace(tzinfo=UTC)
    with duckdb.connect(database, read_only=True) as connection:
        ((newest,),) = connection.execute("select epoch(max(updated_at)) from shipments").fetchall()
    return datetime.fromtimestamp(newest, UTC)


if __name__ == "__main__":
    main()
