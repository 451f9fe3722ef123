# mypy: disable-error-code="import-not-found,untyped-decorator,no-any-return"
# dlt is not installed where this is checked: it has an environment of its own.
"""dlt as fast as its documentation and its code let it be: pages to DuckDB through Parquet, merged on the key.

It asks for the same pages as the product (the selection is handed over as JSON), in the same windows, four at a time,
with gzip. `collection` and each kind under `included` are resources; nested lists become child tables by dlt's own
normalizer. What is tuned, and why ("performance" is https://dlthub.com/docs/reference/performance):

- Pages, not rows, are yielded, and windows are read in dlt's thread pool (`parallelized`, `EXTRACT__WORKERS`).
  (performance: "Yield pages instead of rows", "Extract")
- Answers are parsed with dlt's own orjson from bytes; `RESTClient` would use `response.json()`, which is the standard
  library's parser. (performance: "Use built-in JSON parser")
- Incremental on `updated_at`: the cursor is the window's upper bound, so that it is evaluated once a window and not
  once a row, and `primary_key=()` switches its own deduplication off, which the merge does anyway. (dlt issue 1710)
- Objects that every page repeats unchanged (retailers, products, buildings ...) are handed on once, as the product
  does within a batch; it saves their normalisation.
- Lists of references that only say which objects belong to a shipment, an order or a gallery (at 100,000 shipments
  781,098 rows of child tables) become a column of those objects, as in the product: so both make the same tables.
- Types that a sample could mistake (a whole number where others have decimals, a time that is none) are declared, and
  free-form objects and lists of scalars are JSON columns, as in the product's tables: fewer columns and tables, no
  variant columns, and no normalisation that has to be repeated because two workers inferred different types.
  `max_table_nesting` ends at the deepest child table that the product has.
- Two normalising processes, forked: spawned ones import dlt again. Extract files do not rotate: dlt deals them out by
  number, in order of table name, and with one file a table both processes get half of the work (49 and 51 % of the CPU
  time, measured); with files of 25,000 rows it would be 30 and 70 %. (performance: "Normalize"; dlt
  `normalize/worker.py`, `group_worker_files`)
- Python's garbage collector is off: dlt holds millions of dictionaries and makes no cycles worth collecting. Measured
  on 10,000 shipments: 23 s become 14 s.
- Buffers of 25,000 rows: fewer conversions to Arrow, fewer row groups, and no rotation of a Parquet file because a
  later row has a new column. (performance: "Controlling in-memory buffers"; default 5,000)
- No compression of intermediate files: they are read once, from the page cache.
- Parquet as the loader's format (DuckDB reads it natively; the default is INSERT VALUES), two load workers, no unique
  indexes (`create_indexes` is off by default). (dlt's DuckDB destination: "Data loading")
- `delete-insert`, dlt's default strategy: `upsert` wants keys that are unique in what is loaded, and overlapping
  windows do not promise that.
- No telemetry, no progress, logs at CRITICAL, finished jobs deleted.
"""

from __future__ import annotations

import gc
import json as standard_json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

TUNING = {
    "EXTRACT__WORKERS": "4",
    "EXTRACT__MAX_PARALLEL_ITEMS": "8",
    "DATA_WRITER__BUFFER_MAX_ITEMS": "25000",
    "DATA_WRITER__DISABLE_COMPRESSION": "true",
    "NORMALIZE__WORKERS": "2",
    "LOAD__WORKERS": "2",
    "LOAD__DELETE_COMPLETED_JOBS": "true",
    "RUNTIME__LOG_LEVEL": "CRITICAL",
    "RUNTIME__DLTHUB_TELEMETRY": "false",
}
os.environ.update(TUNING)  # before dlt is imported: it reads some of them then
gc.disable()

import dlt  # noqa: E402
from dlt.common.json import json  # noqa: E402
from dlt.sources.helpers import requests  # noqa: E402

RECORDS_PER_WINDOW = 10_000
LISTING = "/api/global/v1/shipping/shipments"

SHIPMENT = "Shipment"
KINDS = {
    SHIPMENT: "shipments",
    "ShipmentItem": "shipment_items",
    "ShipmentPackingSolution": "packing_solutions",
    "Gallery": "galleries",
    "GalleryItem": "gallery_items",
    "Order": "orders",
    "OrderItem": "order_items",
    "OrderAddressCandidate": "order_address_candidates",
    "OrderStatusHistory": "order_status_history",
    "OrderInstruction": "order_instructions",
    "ThirdPartyBillingGroup": "third_party_billing_groups",
    "Brand": "brands",
    "Merchant": "merchants",
    "Retailer": "retailers",
    "RetailerShipToLocation": "retailer_ship_to_locations",
    "Warehouse": "warehouses",
    "Product": "products",
    "PackagingContainer": "packaging_containers",
    "PackagingSupplies": "packaging_supplies",
    "PackagingDataCollection": "packaging_data_collection",
    "PackagingInstruction": "packaging_instructions",
    "PackagingInfill": "packaging_infill",
}
REPEATED = frozenset(list(KINDS)[list(KINDS).index("ThirdPartyBillingGroup") :])
"""Kinds of few objects, which nearly every page repeats."""

JSON_COLUMNS = {
    SHIPMENT: ("packing_solution_providers",),
    "GalleryItem": ("device_info", "media_info"),
    "Order": (
        "custom_fields",
        "shipments",
        "generate_sscc",
        "other_shipping_options",
        "allocation_options",
        "automation_data",
    ),
    "Merchant": ("custom_fields", "brands"),
    "Retailer": ("custom_fields", "allowed_shipping_methods"),
    "Product": ("custom_fields", "barcodes", "export__hs_country_extension"),
    "PackagingContainer": ("container_options",),
    "PackagingSupplies": ("supplies_options",),
    "PackagingDataCollection": ("data_collection_options",),
    "PackagingInstruction": ("instruction_options",),
    "PackagingInfill": ("infill_options",),
}
NESTING = 4
"""The product's deepest column: shipment, packages, items, weight, value."""

DECIMALS = "re:(__(value|amount|length|width|height)|quantity|item_count|percent|divisor|cost|cartons|_qty|^qty_.*)$"
TIMES = "re:_(at|until_time)$"
BELONGINGS = (
    ("Order", "items", "OrderItem", "order_id"),
    ("Order", "address_candidates", "OrderAddressCandidate", "order_id"),
    ("Order", "status_history", "OrderStatusHistory", "order_id"),
    ("Order", "instructions", "OrderInstruction", "order_id"),
    ("Gallery", "items", "GalleryItem", "gallery_id"),
)
"""Lists of references: the kind that has it, its key, the kind it refers to, and the column that takes its place."""


def without_references(page: dict[str, Any]) -> dict[str, Any]:
    """Return the page with each list of references replaced by a column of the objects that it refers to."""
    included = page["included"]
    lists = [(included.get(kind, ()), *rest) for kind, *rest in BELONGINGS]
    for owners, key, kind, column in ((page["collection"], "items", "ShipmentItem", "shipment_id"), *lists):
        objects = {member["id"]: member for member in included.get(kind, ())}
        for owner in owners:
            for reference in owner.pop(key, None) or ():
                if reference["id"] in objects:
                    objects[reference["id"]][column] = owner["id"]
    return page


class Listing:
    """The pages of one window, in order, over a connection that is kept alive."""

    def __init__(self) -> None:
        self._base_url = os.environ["WMS_BASE_URL"]
        self._selection = standard_json.loads(os.environ["BENCH_SELECTION"])
        self._session = requests.Client(request_timeout=300).session
        self._session.headers["Authorization"] = f"Bearer {os.environ['WMS_API_TOKEN']}"
        self._session.headers["Accept-Encoding"] = "gzip"

    def matching(self, after: datetime) -> tuple[int, datetime]:
        """Return the number of shipments that changed since then, and the service's present."""
        answer = self._get(LISTING, [("filter", _within(after)), ("limit", "1"), ("count", "1")])
        return int(json.loadb(answer.content)["meta"]["count"]), parsedate_to_datetime(answer.headers["Date"])

    def pages(self, after: datetime, before: datetime) -> Iterator[dict[str, Any]]:
        """Yield decoded pages."""
        limit = ("limit", os.environ["WMS_PAGE_SIZE"])
        params = [("filter", _within(after, before)), ("sort", "id"), limit, *self._selection]
        target = LISTING
        while target:
            page = json.loadb(self._get(target, params).content)
            target, params = (page["next"] if page["has_more"] else ""), []
            yield without_references(page)

    def _get(self, target: str, params: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - a response of requests
        return self._session.get(urljoin(self._base_url, target), params=params)


def _within(after: datetime, before: datetime | None = None) -> str:
    bounds = f'gt:"{after - timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"'
    return f'updated_at{{{bounds},lt:"{before:%Y-%m-%dT%H:%M:%SZ}"}}' if before else f"updated_at{{{bounds}}}"


@dlt.source(max_table_nesting=NESTING)
def shipping() -> Iterator[Any]:
    """Return shipments and everything that comes with them."""
    listing = Listing()

    start_date = datetime.fromisoformat(os.environ["WMS_START_DATE"]).replace(tzinfo=UTC)
    since = dlt.sources.incremental("updated_at", initial_value=start_date, primary_key=())

    @dlt.resource(selected=False)
    def windows(updated_at: Any = since) -> Iterator[dict[str, datetime]]:  # noqa: ANN401 - dlt fills the default in
        start = updated_at.last_value
        count, end = listing.matching(start)
        parts = max(1, -(-count // RECORDS_PER_WINDOW))
        cuts = [start + (end - start) * number / parts for number in range(parts)]
        cuts = [cut.replace(microsecond=0) for cut in cuts]
        for after, before in zip(cuts, [*cuts[1:], end], strict=True):
            yield {"after": after, "updated_at": before}

    @dlt.transformer(data_from=windows, selected=False, parallelized=True)
    def pages(window: dict[str, datetime]) -> Iterator[dict[str, Any]]:
        yield from listing.pages(window["after"], window["updated_at"])

    yield windows
    yield pages
    for kind, name in KINDS.items():
        yield pages | _resource(kind, name)


def _resource(kind: str, name: str) -> Any:  # noqa: ANN401 - dlt's own types are not at hand here
    seen: dict[int, dict[str, Any]] = {}

    @dlt.transformer(
        name=name,
        primary_key="id",
        write_disposition="merge",
        columns={column: {"data_type": "json"} for column in JSON_COLUMNS.get(kind, ())},
    )
    def objects(page: dict[str, Any]) -> list[dict[str, Any]] | None:
        found = page["collection"] if kind == SHIPMENT else page["included"].get(kind, [])
        if kind in REPEATED:
            found = [record for record in found if seen.get(record["id"]) != record]
            seen.update((record["id"], record) for record in found)
        return found or None

    return objects


def main() -> None:
    """Run the pipeline once."""
    folder = Path(os.environ["WMS_DATA_DIR"])
    pipeline = dlt.pipeline(
        "shipping",
        pipelines_dir=str(folder / "pipelines"),
        destination=dlt.destinations.duckdb(str(folder / "dlt.duckdb")),
        dataset_name="main_data",
    )
    source = shipping()
    source.schema.update_preferred_types({DECIMALS: "double", TIMES: "timestamp"})
    pipeline.run(source, loader_file_format="parquet")


if __name__ == "__main__":
    main()
