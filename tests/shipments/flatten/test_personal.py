"""Findings about pages with persons in them: what does not fit is told, and nobody is named outside of schema pii."""

import json

import duckdb

from tests.privacy.test_scrub import page
from wms_sync.shipments.flatten.page import WITHHELD

NAME = "Zaphodina"
ADDRESS = {"type": "OrderAddress", "id": 5, "first_name": NAME, "city": "Reno"}


UNFIT = {
    "a name that is a list": page(OrderAddress=[ADDRESS | {"first_name": [NAME]}]),
    "a line of a street that is an object": page(OrderAddress=[ADDRESS | {"street": [{"line": NAME}]}]),
    "an address without an id": page(OrderAddress=[{"type": "OrderAddress", "first_name": NAME, "id": "x"}]),
    "an address that is a text": page({"shipping_address": NAME}),
    "addresses that are no list": page(OrderAddress={"first_name": NAME}),
    "an address among the addresses that is a text": page(OrderAddress=[f"{NAME}, 1 Main St"]),
    "an order without an id": page() | {"included": {"Order": [{"id": "x", "shipping_address": ADDRESS}]}},
    "a telephone of a place": page(RetailerShipToLocation=[{"id": 7, "telephone": {"mobile": NAME}}]),
    "a candidate's city": page(OrderAddressCandidate=[{"id": 6, "city": [NAME]}]),
    "a key of an address that is new": page(OrderAddress=[ADDRESS | {"nickname": NAME}]),
    "a key of an order that is new": page({"buyer": {"last_name": NAME, "since": 2020}}),
    "a kind that is new": page(Customer=[{"id": 9, "first_name": NAME}]),
}


BROKEN = {
    "not UTF-8": json.dumps(page(OrderAddress=[ADDRESS])).encode().replace(b"Reno", b"Re\xf1o"),
    "a key twice": json.dumps(page(OrderAddress=[ADDRESS])).encode().replace(b'"city"', b'"first_name"'),
    "a key twice of an address without a name": json.dumps(page({"shipping_address": {"city": "Reno", "town": NAME}}))
    .encode()
    .replace(b'"town"', b'"city"'),
}


def test_findings_name_nobody(flattener, land, tmp_path):
    """Not of values that do not fit, of keys that are new, nor of pieces of a broken page."""
    contents = {name: json.dumps(content).encode() for name, content in UNFIT.items()} | BROKEN
    # twice: from the second page on an unknown key is counted by the gate
    pages = land(*(content for content in contents.values() for _ in range(2)))
    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path / "parquet")
    with duckdb.connect() as connection:
        rows = {
            slug: connection.execute("select _page, * from read_parquet(?)", [str(file)]).fetchall()
            for slug, file in done.files.items()
            if not slug.startswith("pii_")
        }
        withheld = {row[0] for row in rows["ops_quarantine"] if WITHHELD in row}
    found = {page for slug in ("ops_quarantine", "ops_schema_drift") for page, *_ in rows[slug]}
    for number, name in enumerate(contents):
        both = {2 * number + 1, 2 * number + 2}
        assert both <= found, name
        assert name not in BROKEN or both <= withheld, name
    assert [(slug, row) for slug, those in rows.items() for row in those if NAME in repr(row)] == []
