"""Findings about pages with persons in them: what does not fit is told, and nobody is named outside of schema pii."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from wms_sync.shipments.flatten.findings import WITHHELD

NAME = "Zaphodina"
ADDRESS = {"type": "OrderAddress", "id": 5, "first_name": NAME, "city": "Reno"}


def page(order: dict[str, Any] | None = None, **included: Any) -> dict[str, Any]:
    return {
        "collection": [{"type": "Shipment", "id": 1, "order": {"type": "Order", "id": 3}}],
        "included": {"Order": [{"type": "Order", "id": 3, **(order or {})}], **included},
        "has_more": False,
        "next": None,
    }


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


@pytest.mark.parametrize("case", UNFIT)
def test_findings_name_nobody(flattener, land, tmp_path, case):
    content = json.dumps(UNFIT[case]).encode()
    # twice: from the second page on an unknown key is counted by the gate
    done = flattener.flatten(land(content, content), window_id="w", part=1, parquet_dir=tmp_path / "parquet")
    assert done.quarantined or done.drift
    assert_nobody_is_named(done.files)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(page(OrderAddress=[ADDRESS])).encode()[:-9],
        json.dumps(page(OrderAddress=[ADDRESS])).encode().replace(b"Reno", b"Re\xf1o"),
        json.dumps(page(OrderAddress=[ADDRESS])).encode().replace(b'"city"', b'"first_name"'),
        json.dumps(page({"shipping_address": {"city": "Reno", "town": NAME}})).encode().replace(b'"town"', b'"city"'),
    ],
    ids=["no JSON", "not UTF-8", "a key twice", "a key twice of an address without a name"],
)
def test_pieces_of_a_broken_page_name_nobody(flattener, land, tmp_path, content):
    done = flattener.flatten(land(content), window_id="w", part=1, parquet_dir=tmp_path / "parquet")
    assert done.quarantined
    assert_nobody_is_named(done.files)
    with duckdb.connect() as connection:
        texts = connection.execute("select text from read_parquet(?)", [str(done.files["ops_quarantine"])]).fetchall()
    assert (WITHHELD,) in texts


def assert_nobody_is_named(files) -> None:
    with duckdb.connect() as connection:
        for slug, file in files.items():
            if not slug.startswith("pii_"):
                rows = connection.execute("from read_parquet(?)", [str(file)]).fetchall()
                assert NAME not in repr(rows), slug
