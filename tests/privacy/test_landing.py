"""A service that sends what it was not asked for: what lands, and everything made of it, is without persons."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import NOW, Bench, asks_for_page, logged
from tests.services import content_of
from tests.test_sync import load, published
from tests.unpacked import files_holding
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.shipments.read.raw import damage

SHIPMENTS_HELD = 60
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
    """So nothing that is made of the pages can hold it."""
    sandbox.sandbox.rewrite = unasked
    assert bench.read().progress.records == SHIPMENTS_HELD
    assert files_holding(bench.layout.root, NAME.encode(), STREET.encode()) == set()
    pages = [page for window in bench.store.windows("landed") for page in bench.store.pages(window.id)]
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
        envelope = json.loads(content_of(await sandbox.sandbox._serve(request)))
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


def test_a_person_under_an_unknown_key_is_found(bench, sandbox):
    """On whatever page, before it lands, so nothing can be made of it. Other pages land as they were received."""
    bench.settings = bench.settings.model_copy(update={"page_size": 2, "max_parallel_requests": 1})
    altered = planted(sandbox)
    bench.read()
    pages = [page for window in bench.store.windows("landed") for page in bench.store.pages(window.id)]
    assert len(altered) == EVERY * len(PLANTED) < len(pages)
    assert {page.last_id for page in pages if page.file.endswith(".zst")} == altered, "what was scrubbed is packed so"
    assert files_holding(bench.layout.root, NAME.encode(), STREET.encode()) == set()


def test_with_addresses_persons_are_in_schema_pii_alone(sandbox, bench, settings_for):
    """And not even there once the setting is off again; of an address its country is left."""
    sandbox.sandbox.rewrite = unasked
    bench.settings = settings_for(sandbox, include_addresses=True, max_parallel_requests=1)
    bench.read()
    report = load(bench)
    assert (report.quarantined > 0, report.drift > 0) == (True, True)
    assert_asked_for_addresses(sandbox, asked=True)
    assert schemas_holding_persons(bench) == {"pii"}
    parquet = files_holding(bench.layout.parquet, NAME.encode())
    assert {path.partition("/")[0].partition("_")[0] for path in parquet} == {"pii"}
    bench.settings = settings_for(sandbox)
    with logged() as said:
        rebuild(bench.run)
    assert [line for line in said if line.startswith("schema pii is left empty, because WMS_INCLUDE_ADDRESSES is off")]
    assert schemas_holding_persons(bench) == set()
    with published(bench) as connection:
        sent = connection.execute("select distinct ship_to_country, ship_to_region from orders").fetchall()
    assert sent == [(COUNTRY, None)]


def schemas_holding_persons(bench: Bench) -> set[str]:
    with published(bench) as connection:
        tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
        rows = ((schema, connection.execute(f'from "{schema}"."{table}"').fetchall()) for schema, table in tables)
        return {schema for schema, found in rows if NAME in repr(found) or STREET in repr(found)}
