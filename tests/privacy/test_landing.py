"""A service that sends what it was not asked for: what lands, and everything made of it, is without persons."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import NOW, asks_for_page, logged
from tests.test_sync import load
from tests.unpacked import files_holding
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.shipments.read.raw import damage

SHIPMENTS_HELD = 120
NAME = "Zaphodina-Quxley-77"
STREET = "Magrathea-Lane-42"
COUNTRY = "Brontitall"


@pytest.fixture
def sandbox(in_process: InProcess) -> InProcess:
    in_process.sandbox = Sandbox(SandboxConfig(shipments=SHIPMENTS_HELD, seed=5, days=20, now=NOW, families=30))
    return in_process


def unasked(envelope: dict[str, Any]) -> dict[str, Any]:
    """Addresses and contacts wherever they may stand, some of them such as no type takes."""
    included = envelope.get("included", {})
    addresses = included.setdefault("OrderAddress", [])
    for order in included.get("Order", ()):
        address = {"type": "OrderAddress", "id": order["id"], "first_name": NAME, "street": [STREET], "nickname": NAME}
        address |= {"country": COUNTRY, "region": {"name": STREET}}
        addresses.append(address if order["id"] % 2 else address | {"city": {"name": STREET}})
        order["shipping_address"] = {"type": "OrderAddress", "id": order["id"]} if order["id"] % 3 else address
        order["buyer"] = {"first_name": NAME, "company": STREET}
    for place in included.get("RetailerShipToLocation", ()):
        place |= {"telephone": NAME, "email": f"{NAME}@example.test"}
    return envelope


def test_nothing_personal_lands_that_was_not_asked_for(bench, sandbox):
    sandbox.sandbox.rewrite = unasked
    read = bench.read()
    report = load(bench)
    assert report.published
    assert read.progress.records == report.rows["shipments"] == SHIPMENTS_HELD
    assert not [name for name, rows in report.rows.items() if name.startswith("pii_") and rows]
    assert files_holding(bench.layout.root, NAME.encode(), STREET.encode()) == set()
    assert not list(bench.layout.parquet.glob("pii_*/*.parquet"))
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        sent = connection.execute("select distinct ship_to_country, ship_to_region from orders").fetchall()
    assert sent == [(COUNTRY, None)], "of a whole address these are left"
    for window in bench.store.windows("loaded"):
        pages = bench.store.pages(window.id)
        assert [damage(bench.layout, page) for page in pages] == [None] * len(pages)
    assert_asked_for_addresses(sandbox, asked=False)


def assert_asked_for_addresses(sandbox: InProcess, *, asked: bool) -> None:
    """In each listing or in none."""
    listings = [one.query for one in sandbox.sandbox.requests if one.path == SHIPMENTS and "fields" in one.query]
    assert listings
    assert all(("original_address" in query) == asked for query in listings)
    assert all(("first_name" in query or "order.shipping_address=all" in query) == asked for query in listings)
    assert asked or not any("telephone" in query or "email" in query for query in listings)


def in_order(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda envelope: envelope["included"]["Order"][0].update({key: value})


PERSON = {"first_name": NAME, "company": STREET}
PLANTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "in an order": in_order("buyer", PERSON),
    "in a shipment": lambda envelope: envelope["collection"][-1].update(notify=[{"email": f"{NAME}@example.test"}]),
    "in a kind that is new": lambda envelope: envelope["included"].update(Customer=[{"id": 1, "telephone": NAME}]),
    "deep inside": in_order("visits", [[{"by": {"who": [{"told": [PERSON]}]}}]]),
    "beside custom fields with its keys": in_order("items", [{"custom_fields": {"first_name": "kept"}}, PERSON]),
    "under an escaped key": in_order("buyer", {"ESCAPED": NAME, "company": STREET}),
}
ESCAPED = b'"last\\u005f\\u006eame"'


EVERY = 3
"""Each place is altered on so many pages: among them the first ones, and such that come after each of the others."""


def planted(sandbox: InProcess) -> set[int]:
    """Let somebody stand at the places in turn, a page each, and on no page after them; where these pages end."""
    turns = iter([place for _ in range(EVERY) for place in PLANTED])
    altered: set[int] = set()

    async def plant(request: Request) -> Response | None:
        if not asks_for_page(request.url.query):
            return None
        answer = await sandbox.sandbox._serve(request)
        envelope = json.loads(
            gzip.decompress(answer.body) if "content-encoding" in answer.headers else bytes(answer.body)
        )
        place = next(turns, None) if "Order" in envelope["included"] else None
        if place is None:
            return None
        altered.add(envelope["collection"][-1]["id"])
        PLANTED[place](envelope)
        content = json.dumps(envelope).encode().replace(b'"ESCAPED"', ESCAPED)
        assert NAME.encode() in content
        return Response(content, media_type="application/json")

    sandbox.sandbox.intercept = plant
    return altered


def test_somebody_under_a_key_that_no_table_knows_is_found(bench, sandbox):
    """On whatever page, before it lands, so nothing can be made of it. Other pages land as they were received."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5, "max_parallel_requests": 1})
    altered = planted(sandbox)
    bench.read()
    pages = [page for window in bench.store.windows("landed") for page in bench.store.pages(window.id)]
    assert len(altered) == EVERY * len(PLANTED) < len(pages)
    assert {page.last_id for page in pages if page.file.endswith(".zst")} == altered, "what was scrubbed is packed so"
    assert files_holding(bench.layout.root, NAME.encode(), STREET.encode()) == set()


def test_with_addresses_persons_lie_in_schema_pii_and_nowhere_else(sandbox, bench, settings_for):
    sandbox.sandbox.rewrite = unasked
    bench.settings = settings_for(sandbox, include_addresses=True)
    bench.read()
    report = load(bench)
    assert report.quarantined
    assert report.drift
    assert_asked_for_addresses(sandbox, asked=True)
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
        named = {
            schema
            for schema, table in tables
            if NAME in (text := repr(connection.execute(f'from "{schema}"."{table}"').fetchall())) or STREET in text
        }
    assert named == {"pii"}
    folders = {
        part.split("/")[1] for part in files_holding(bench.layout.parquet.parent, NAME.encode()) if "parquet/" in part
    }
    assert all(folder.startswith("pii_") for folder in folders)
    bench.settings = settings_for(sandbox)
    with logged() as said:
        rebuild(bench.run)
    assert [line for line in said if line.startswith("schema pii is left empty, because WMS_INCLUDE_ADDRESSES is off")]
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        assert connection.execute("select count(*) from pii.order_addresses").fetchall() == [(0,)]
