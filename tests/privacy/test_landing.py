"""A service that sends what it was not asked for: what lands, and everything made of it, is without persons."""

import pytest

from tests.bench import logged, pages_asked, queried
from tests.unpacked import a_row_holds, files_holding, tables_of
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.shipments.read.raw import damage

SHIPMENTS_HELD = 60
NAME = "Zaphodina-Quxley-77"
STREET = "Magrathea-Lane-42"
PERSON = (NAME.encode(), STREET.encode())
COUNTRY = "Brontitall"


def unasked(envelope):
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
    """So nothing that is made of the pages can hold it. Pages without persons land as they were received."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5})
    sandbox.sandbox.rewrite = lambda page: (
        page if any(one["id"] % 7 == 0 for one in page["collection"]) else unasked(page)
    )
    assert bench.read().progress.records == SHIPMENTS_HELD
    assert files_holding(bench.layout.root, *PERSON) == set()
    pages = [page for window in bench.store.windows("landed") for page in bench.store.pages(window.id)]
    assert [damage(bench.layout, page) for page in pages] == [None] * len(pages)
    scrubbed = [page.file.endswith(".zst") for page in pages]
    assert 0 < sum(scrubbed) < len(pages), "what was scrubbed is packed so"
    assert {"original_address" in query for query in pages_asked(sandbox)} == {False}


@pytest.mark.proof
def test_with_addresses_persons_are_in_schema_pii_alone(sandbox, bench, settings_for):
    """And not even there once the setting is off again; of an address its country is left."""
    sandbox.sandbox.rewrite = unasked
    bench.settings = settings_for(sandbox, include_addresses=True, max_parallel_requests=1)
    bench.read()
    assert min(bench.load().rows[name] for name in ("ops_quarantine", "ops_schema_drift")) > 0
    assert {"original_address" in query for query in pages_asked(sandbox)} == {True}
    assert schemas_holding_persons(bench) == {"pii"}
    assert {path[:4] for path in files_holding(bench.layout.parquet, NAME.encode())} == {"pii_"}
    bench.settings = settings_for(sandbox)
    with logged() as said:
        rebuild(bench.run)
    assert [line for line in said if line.startswith("schema pii is left empty, because WMS_INCLUDE_ADDRESSES is off")]
    assert schemas_holding_persons(bench) == set()
    assert queried(bench.layout.published, "select distinct ship_to_country, ship_to_region from orders") == [
        (COUNTRY, None)
    ]


def schemas_holding_persons(bench):
    with bench.published() as connection:
        found = [table for table in tables_of(connection) if a_row_holds(connection, table, PERSON)]
    return {table.partition(".")[0].strip('"') for table in found}
