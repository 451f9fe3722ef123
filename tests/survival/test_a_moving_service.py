"""A service that never rests during a read: once it does, one more sync makes every table equal it.

Between any two answers records change, packages come and go, new shipments appear, some of all that committed late,
with an ``updated_at`` of up to ``LATEST`` seconds before; shipments are deleted, which no listing tells: the next audit
marks them. Now and then a page is served twice, which stops that run.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from tests.conftest import CONFIG
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
        self.moves = self.repeats = 0
        self.deleted: set[int] = set()
        self._last: dict[str, dict[str, Any]] = {}

    def begin(self) -> None:
        self.sandbox.intercept = self.move
        self.sandbox.rewrite = self._serve_twice

    def rest(self) -> None:
        """What was under way is committed, and the clock has moved past it."""
        self._stop()
        self.sandbox.advance(seconds=10)

    def pass_time(self) -> None:
        """Up to two hours between two runs."""
        self._stop()
        self.sandbox.advance(seconds=self.chance.uniform(60, 7200), changed=20, new=3, orders=3)

    def _stop(self) -> None:
        """The last transactions of the read are committed behind it."""
        self.sandbox.intercept = self.sandbox.rewrite = None
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

    def _serve_twice(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """Rarely, a page again in place of the one after it in the same listing."""
        listing = _listing(envelope)
        if listing is None:
            return envelope
        before, self._last[listing] = self._last.get(listing), envelope
        if before is None or before["next"] is None or not envelope["previous"] or self.chance.random() > 0.05:
            return envelope
        self.repeats += 1
        return before


def _listing(envelope: dict[str, Any]) -> str | None:
    """Which listing a page belongs to; None for one that is alone."""
    neighbour = envelope["next"] or envelope["previous"]
    return None if neighbour is None else json.dumps(sorted(httpx.URL(neighbour).params.get_list("filter")))


def read_once(bench) -> bool:
    """Whether the read of a sync came to its end."""
    try:
        bench.read()
    except (ApiError, ExtractError):
        return False
    return True


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(SERVICE)
    return in_process


@pytest.mark.seeds(MOVING_SERVICES)
def test_once_a_service_rests_every_table_equals_it(seed, bench, sandbox, settings_for):
    bench.settings = settings_for(sandbox, page_size=PAGE, overlap_seconds=LATEST + 60, max_parallel_requests=2)
    unrest = Unrest(sandbox.sandbox, seed)
    for _ in range(ROUNDS):
        unrest.begin()
        read_once(bench)
        unrest.pass_time()
    load(bench)
    unrest.begin()
    read_once(bench)
    unrest.rest()
    assert read_once(bench), "a sync of a service that rests failed"
    refresh(bench.run)
    print(
        f"seed {seed}: {unrest.moves} changes during reads, {len(unrest.deleted)} shipments deleted, "
        f"{unrest.repeats} pages served twice"
    )
    assert unrest.moves > 20
    assert_all_but_the_deleted_equal(bench, sandbox, unrest.deleted)

    one_page(bench, sandbox, settings_for)
    night(bench, sandbox)
    assert set(marks(bench)) == set(ids_in_tables(bench)) & unrest.deleted
    assert_all_but_the_deleted_equal(bench, sandbox, unrest.deleted)


def assert_all_but_the_deleted_equal(bench, sandbox, deleted: set[int]) -> None:
    expected = expected_tables(sandbox)
    assert not deleted & {one for (one,) in expected["shipments"]}
    with published(bench) as connection:
        query = "select order_id from shipments where list_contains(?, id)"
        orders = {one for (one,) in connection.execute(query, [list(deleted)]).fetchall()}
        assert differences(connection, expected, deleted | orders) == []


def ids_in_tables(bench) -> list[int]:
    with published(bench) as connection:
        return [one for (one,) in connection.execute("select id from shipments").fetchall()]
