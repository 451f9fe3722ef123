"""A service that never rests during a read: once it does, one more sync makes every table equal it.

Between any two answers records change, packages come and go, new shipments appear, some of all that committed late,
with an ``updated_at`` of up to ``LATEST`` seconds before; shipments are deleted, which no listing tells: the next audit
marks them.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from starlette.requests import Request

from tests.conftest import CONFIG, queried
from tests.oracle import differences, expected_tables
from tests.shipments.audit.test_audit import night, one_page
from tests.shipments.audit.test_missing_shipments import marks
from tests.survival.counts import MOVING_SERVICES
from tests.test_sync import load, published
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sync.service.errors import ApiError
from wms_sync.shipments.load.refresh import refresh
from wms_sync.shipments.read.raw import ExtractError

SERVICE = replace(CONFIG, shipments=120, families=40)
LATEST = 240
ROUNDS = 3
PAGE = 10


class Unrest:
    """What a service does between two answers while it is read, by chance from a seed."""

    def __init__(self, sandbox: Sandbox, seed: int) -> None:
        self.chance = random.Random(seed)
        self.sandbox = sandbox
        self.moves = 0
        self.deleted: set[int] = set()

    def read(self, bench) -> None:
        """Read while it moves; the last transactions are committed behind the read, which may have failed."""
        self.sandbox.intercept = self.move
        with suppress(ApiError, ExtractError):
            bench.read()
        self.sandbox.intercept = None
        self.sandbox.advance(seconds=1, changed=8, new=2, orders=2, late=self.chance.uniform(5, LATEST))

    def move(self, request: Request) -> None:
        if request.url.path != SHIPMENTS or self.chance.random() < 0.4:
            return
        self.moves += 1
        changed = self.chance.randrange(8)
        self.sandbox.advance(
            seconds=self.chance.uniform(0, 20),
            changed=changed,
            new=self.chance.randrange(3),
            packages_added=self.chance.randint(0, changed),
            packages_removed=self.chance.randint(0, changed),
            orders=self.chance.randrange(3),
            late=self.chance.choice((0, 0, self.chance.uniform(0, LATEST))),
        )
        if self.chance.random() < 0.3:
            store = self.sandbox._store
            gone = int(store.ids[self.chance.choice(store.living())])
            self.sandbox.delete_shipments([gone])
            self.deleted.add(gone)


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(SERVICE)
    return in_process


@pytest.mark.seeds(MOVING_SERVICES)
def test_once_a_service_rests_every_table_equals_it(seed, bench, sandbox, settings_for):
    bench.settings = settings_for(sandbox, page_size=PAGE, overlap_seconds=LATEST + 60, max_parallel_requests=2)
    unrest = Unrest(sandbox.sandbox, seed)
    for _ in range(ROUNDS):
        unrest.read(bench)
        sandbox.sandbox.advance(seconds=unrest.chance.uniform(60, 7200), changed=20, new=3, orders=3)
    load(bench)
    unrest.read(bench)
    sandbox.sandbox.advance(seconds=10)
    bench.read()
    refresh(bench.run)
    print(f"seed {seed}: {unrest.moves} changes during reads, {len(unrest.deleted)} shipments deleted")
    assert unrest.moves > 20
    assert_all_but_the_deleted_equal(bench, sandbox, unrest.deleted)

    one_page(bench, sandbox, settings_for)
    night(bench, sandbox)
    stored = {shipment for (shipment,) in queried(bench.layout.published, "select id from shipments")}
    assert set(marks(bench)) == stored & unrest.deleted
    assert_all_but_the_deleted_equal(bench, sandbox, unrest.deleted)


def assert_all_but_the_deleted_equal(bench, sandbox, deleted: set[int]) -> None:
    expected = expected_tables(sandbox)
    assert not deleted & {shipment for (shipment,) in expected["shipments"]}
    query = "select order_id from shipments where list_contains(?, id)"
    orders = {order for (order,) in queried(bench.layout.published, query, list(deleted))}
    with published(bench) as connection:
        assert differences(connection, expected, deleted | orders) == []
