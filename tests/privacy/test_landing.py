"""A service that sends what it was not asked for: what lands, and everything made of it, is without persons."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.conftest import NOW
from tests.unpacked import files_holding
from wms_sync.analytics.refresh import refresh
from wms_sync.extract.raw import damage
from wms_sync.sandbox.app import SHIPMENTS, Sandbox
from wms_sync.sandbox.config import SandboxConfig
from wms_sync.sandbox.server import SandboxServer

SHIPMENTS_HELD = 120
NAME = "Zaphodina-Quxley-77"
STREET = "Magrathea-Lane-42"


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    server.sandbox = Sandbox(SandboxConfig(shipments=SHIPMENTS_HELD, seed=5, days=20, now=NOW, families=30))
    return server


def unasked(envelope: dict[str, Any]) -> dict[str, Any]:
    """Addresses and contacts wherever they may stand, some of them such as no type takes."""
    included = envelope.get("included", {})
    addresses = included.setdefault("OrderAddress", [])
    for order in included.get("Order", ()):
        address = {"type": "OrderAddress", "id": order["id"], "first_name": NAME, "street": [STREET], "nickname": NAME}
        addresses.append(address if order["id"] % 2 else address | {"city": {"name": STREET}})
        order["shipping_address"] = {"type": "OrderAddress", "id": order["id"]} if order["id"] % 3 else address
        order["buyer"] = {"first_name": NAME, "company": STREET}
    for place in included.get("RetailerShipToLocation", ()):
        place |= {"telephone": NAME, "email": f"{NAME}@example.test"}
    return envelope


def test_nothing_personal_lands_that_was_not_asked_for(bench, sandbox):
    sandbox.sandbox.rewrite = unasked
    with bench.api() as api:
        read = bench.reading(api).sync()
    report = refresh(bench.settings, bench.store, run_id="test", say=lambda _: None)
    assert report.published
    assert read.progress.records == report.rows["shipments"] == SHIPMENTS_HELD
    assert not [name for name, rows in report.rows.items() if name.startswith("pii_") and rows]
    assert files_holding(bench.layout.root, NAME.encode(), STREET.encode()) == set()
    for window in bench.store.windows("loaded"):
        pages = bench.store.pages(window.id)
        assert [damage(bench.layout.window(window.id), page) for page in pages] == [None] * len(pages)


def test_a_page_without_persons_lands_as_it_was_received(bench, sandbox):
    with bench.api() as api:
        bench.reading(api).sync()
    assert {path.suffix for path in bench.layout.raw.glob("*/page-*")} == {".gz"}, "what was scrubbed is packed as zstd"


@pytest.mark.parametrize("include", [False, True])
def test_what_is_asked_for_is_what_the_setting_says(sandbox, bench, settings_for, include):
    bench.settings = settings_for(sandbox, include_addresses=include)
    with bench.api() as api:
        bench.reading(api).sync()
    listings = [one.query for one in sandbox.sandbox.requests if one.path == SHIPMENTS and "fields" in one.query]
    assert listings
    assert all(("shipping_address" in query) == include for query in listings)
    assert include or not any("telephone" in query or "email" in query for query in listings)


def test_with_addresses_persons_lie_in_schema_pii_and_nowhere_else(sandbox, bench, settings_for):
    sandbox.sandbox.rewrite = unasked
    bench.settings = settings_for(sandbox, include_addresses=True)
    with bench.api() as api:
        bench.reading(api).sync()
    report = refresh(bench.settings, bench.store, run_id="test", say=lambda _: None)
    assert report.quarantined
    assert report.drift
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
