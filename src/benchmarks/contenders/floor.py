"""The floor: download the pages, land them compressed, decode them once into the types of `sql/types`. Nothing else.

No state, no sync to disk, no guards, no rows: the minimum for any program that reads these pages into typed values. The
windows are slices of time with about ten pages each, like the product's, read four at a time. The decoded pages are
reduced to a count immediately, so memory holds only those in progress; counting a column makes DuckDB decode it whole.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from urllib.parse import urljoin

import duckdb
import httpx
import msgspec

from wms_sync import sql_files
from wms_sync.api.filters import updated_within
from wms_sync.api.selection import selection
from wms_sync.api.shipments import PATH
from wms_sync.intervals import Interval, slices

RECORDS_PER_WINDOW = 10_000
LARGEST_PAGE = 64 * 1024 * 1024
DECODE = """
select
    sum(len(collection)) as shipments,
    count(included) as with_included
from read_json(
    $files,
    columns = {'collection': 'shipment[]', 'included': 'included'},
    format = 'unstructured',
    maximum_object_size = $largest
)
"""


class _Meta(msgspec.Struct):
    count: int = 0


class _Envelope(msgspec.Struct):
    has_more: bool
    next: str | None
    meta: _Meta


def main(result: Path) -> None:
    """Run once over everything. Write the phases to `result`."""
    started = monotonic()
    files = download(Path(os.environ["WMS_DATA_DIR"]))
    read = monotonic() - started
    shipments = decode(files)
    result.write_text(
        json.dumps(
            {
                "phases": {"read": read, "decode": monotonic() - started - read},
                "rows": {"shipments": shipments},
            }
        )
    )


def download(folder: Path) -> list[str]:
    """Download every page to a file as received. Return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    start = datetime.fromisoformat(os.environ["WMS_START_DATE"]).replace(tzinfo=UTC)
    whole = Interval(start, datetime.now(UTC))
    parallel = int(os.environ["WMS_MAX_PARALLEL_REQUESTS"])
    headers = {"Authorization": f"Bearer {os.environ['WMS_API_TOKEN']}", "Accept-Encoding": "gzip"}
    with httpx.Client(headers=headers, timeout=120) as client, ThreadPoolExecutor(parallel) as pool:
        windows = slices(whole, -(-_count(client, whole) // RECORDS_PER_WINDOW))
        landed = pool.map(lambda numbered: list(_land(client, folder, *numbered)), enumerate(windows))
        return [file for files in landed for file in files]


def decode(files: list[str]) -> int:
    """Return the number of shipments in the files, by decoding everything in them."""
    with duckdb.connect(config={"threads": "2", "preserve_insertion_order": "false"}) as connection:
        connection.execute("set timezone = 'UTC'")
        for path in sql_files.listed("types"):
            connection.execute(sql_files.read(path))
        found = connection.execute(DECODE, {"files": files, "largest": LARGEST_PAGE}).fetchone()
    return int(found[0]) if found else 0


def _count(client: httpx.Client, whole: Interval) -> int:
    params = {"filter": updated_within(whole.start, whole.end), "sort": "id", "limit": "1", "count": "1"}
    return msgspec.json.decode(client.get(_address(PATH), params=params).content, type=_Envelope).meta.count


def _land(client: httpx.Client, folder: Path, number: int, window: Interval) -> Iterator[str]:
    within = ("filter", updated_within(window.start, window.end))
    params = (within, ("sort", "id"), ("limit", os.environ["WMS_PAGE_SIZE"]), *selection(include_addresses=False))
    target: str | None = f"{_address(PATH)}?{httpx.QueryParams(list(params))}"
    page = 0
    while target:
        page += 1
        path = folder / f"{number:04d}-{page:05d}.json.gz"
        envelope = _fetch(client, target, path)
        target = _address(envelope.next) if envelope.has_more and envelope.next else None
        yield str(path)


def _fetch(client: httpx.Client, target: str, path: Path) -> _Envelope:
    with client.stream("GET", target) as response:
        response.raise_for_status()
        landed = b"".join(response.iter_raw())
    path.write_bytes(landed)
    return msgspec.json.decode(zlib.decompress(landed, 31), type=_Envelope)


def _address(target: str) -> str:
    return urljoin(os.environ["WMS_BASE_URL"], target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
