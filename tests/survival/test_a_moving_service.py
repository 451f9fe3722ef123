"""A service that never rests during a read: once it does, one more sync makes every table equal it.

Between any two answers records change, packages come and go, new shipments appear, some of all that committed late,
with an ``updated_at`` of up to ``LATEST`` seconds before; shipments are deleted, which no listing tells: the next audit
marks them.
"""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from starlette.requests import Request

from tests.bench import CONFIG, queried
from tests.oracle import differences, expected_tables
from tests.shipments.audit.test_audit import night, one_page
from tests.shipments.audit.test_missing_shipments import marks
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sync.service.errors import ApiError
from wms_sync.shipments.load.refresh import refresh
from wms_sync.shipments.read.raw import ExtractError

LATEST = 240


@pytest.mark.seeds("services that change during every read")
def test_once_a_service_rests_every_table_equals_it(seed, bench, in_process, settings_for):
    service = in_process.sandbox = Sandbox(replace(CONFIG, shipments=120, families=40))
    bench.transport = in_process
    bench.settings = settings_for(in_process, page_size=10, overlap_seconds=LATEST + 60, max_parallel_requests=2)
    chance = random.Random(seed)
    moves: list[object] = []
    deleted: set[int] = set()

    def move(request: Request) -> None:
        if request.url.path != SHIPMENTS or chance.random() < 0.4:
            return
        changed = chance.randrange(8)
        moves.append(
            service.advance(
                seconds=chance.uniform(0, 20),
                changed=changed,
                new=chance.randrange(3),
                packages_added=chance.randint(0, changed),
                packages_removed=chance.randint(0, changed),
                orders=chance.randrange(3),
                late=chance.choice((0, 0, chance.uniform(0, LATEST))),
            )
        )
        if chance.random() < 0.3:
            gone = int(service._store.ids[chance.choice(service._store.living())])
            service.delete_shipments([gone])
            deleted.add(gone)

    def read_while_it_moves() -> None:
        """The last transactions are committed behind the read, which may have failed."""
        service.intercept = move
        with suppress(ApiError, ExtractError):
            bench.read()
        service.intercept = None
        service.advance(seconds=1, changed=8, new=2, orders=2, late=chance.uniform(5, LATEST))

    for _ in range(3):
        read_while_it_moves()
        service.advance(seconds=chance.uniform(60, 7200), changed=20, new=3, orders=3)
    bench.load()
    read_while_it_moves()
    service.advance(seconds=10)
    bench.read()
    refresh(bench.run)
    print(f"seed {seed}: {len(moves)} changes during reads, {len(deleted)} shipments deleted")
    assert len(moves) > 20
    assert_all_but_the_deleted_equal(bench, in_process, deleted)

    one_page(bench, in_process, settings_for)
    night(bench, in_process)
    stored = {shipment for (shipment,) in queried(bench.layout.published, "select id from shipments")}
    assert set(marks(bench)) == stored & deleted
    assert_all_but_the_deleted_equal(bench, in_process, deleted)


def assert_all_but_the_deleted_equal(bench, sandbox, deleted: set[int]) -> None:
    expected = expected_tables(sandbox)
    assert not deleted & {shipment for (shipment,) in expected["shipments"]}
    query = "select order_id from shipments where list_contains(?, id)"
    orders = {order for (order,) in queried(bench.layout.published, query, list(deleted))}
    with bench.published() as connection:
        assert differences(connection, expected, deleted | orders) == []
