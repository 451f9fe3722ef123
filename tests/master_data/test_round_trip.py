"""The round trip: what was created comes back with shipments, and the ledger learns of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conftest import queried
from tests.test_sync import load
from wms_sandbox.faults import AnswerLost, Disconnect
from wms_sync.master_data.kinds import LOCATION_TAGS, RETAILERS
from wms_sync.master_data.products import PRODUCTS
from wms_sync.shipments.load.refresh import refresh
from wms_sync.state.ledger import State
from wms_sync.state.store import Run


def published(bench) -> dict[str, tuple[str, int | None, bool]]:
    query = "select key, state, remote_id, seen_at is not null from ops.push_ledger"
    return {key: tuple(rest) for key, *rest in queried(bench.layout.published, query)}


@pytest.fixture
def old(shown) -> str:
    """The sku of a product that the service has had for long."""
    [(sku,)] = queried(shown, "select min(sku) from products where type = 'Product'")
    return str(sku)


@pytest.fixture
def pushed(desk, old):
    """Two retailers and two products, of which one each got no answer to its creation; and a tag. Nor came an answer
    for one whose sku another product has, and it was not created."""
    desk.answer({"r2": AnswerLost(), "P2": AnswerLost(), old: Disconnect()})
    desk.push(RETAILERS, desk.file("code,name", "r1,R1", "r2,R2"))
    desk.push(PRODUCTS, desk.file("sku,name", "P1,P1", "P2,P2", f"{old},Ours"))
    desk.push(LOCATION_TAGS, desk.file("name,color", "t1,red1"))
    desk.answer({})
    return desk


def test_what_was_created_comes_back_with_shipments(pushed, old, bench):
    service = pushed.server.sandbox
    service.advance(seconds=3600, new=10)
    service.advance(seconds=10)
    bench.settings = bench.settings.model_copy(update={"page_size": 1000})
    bench.read()
    load(replace(bench, settings=bench.settings.model_copy(update={"base_url": "https://other.example.com"})))
    before = pushed.entries()
    assert all(entry.seen_at is None for entry in before.values()), "that was sent to another instance"

    refresh(bench.run)
    made = {retailer["code"]: retailer["id"] for retailer in service.retailers()}
    made |= {product["sku"]: product["id"] for product in service.products()}
    entries = pushed.entries()
    assert entries[old].state is State.DOUBT, "a product that is older proves nothing"
    assert {key for key, entry in before.items() if entry.state is State.DOUBT} == {"r2", "P2", old}
    assert {key: entry.remote_id for key, entry in entries.items() if key in made} == made
    assert {entry.state for key, entry in entries.items() if key != old} == {State.CREATED}
    assert {key for key, entry in entries.items() if entry.seen_at is not None} == set(made)
    seen = {key: (entry.state.value, entry.remote_id, key in made) for key, entry in entries.items()}
    assert published(bench) == seen

    refresh(Run(bench.settings, bench.store, "again"))
    assert published(bench) == seen
    assert pushed.entries() == entries, "seen once, seen for ever"
