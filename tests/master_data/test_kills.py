"""Pushes that are killed again and again while answers get lost: everything ends up in the service once, and is known.

``TEST_PUSH_ROWS`` rows and ``TEST_PUSH_KILLS`` kills, 300 and 4 unless set. The processes are real and die by
SIGKILL at a request of theirs.
"""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import CONFIG
from tests.master_data.conftest import MERCHANT, Desk
from tests.processes import Command
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.faults import IN_ITS_PLACE, AnswerLost, ProxyAnswer, in_its_place
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import RETAILERS, kind_named
from wms_sync.master_data.plan import Action
from wms_sync.master_data.products import PRODUCTS
from wms_sync.master_data.push import push_file
from wms_sync.service.retrying import RetryPolicy
from wms_sync.settings import Settings
from wms_sync.state.ledger import State

pytestmark = pytest.mark.proof

ROWS = int(os.environ.get("TEST_PUSH_ROWS", "300"))
KILLS = int(os.environ.get("TEST_PUSH_KILLS", "4"))
POLICY = RetryPolicy(first_wait=0.01, longest_wait=0.05)
DONE: dict[str, Callable[[], Response]] = {
    "no answer": AnswerLost,
    "504 of a proxy": ProxyAnswer,
    **{name: partial(in_its_place, name, done=True) for name in IN_ITS_PLACE},
}
"""What comes instead of the service's answer after the work was done."""
PLAYED = {(name, True) for name in DONE} | {(name, False) for name in IN_ITS_PLACE}


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    """On a socket, which the processes that are killed reach."""
    server.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))
    return server


def push(kind: str, path: Path, run_id: str) -> None:
    """What runs in a process of its own, with settings from its environment."""
    settings = Settings.load(_env_file=None)
    push_file(settings, kind_named(kind), path, run_id=run_id, policy=POLICY)


class Trouble:
    """One answer in ten lost or given by something else after the work was done, one in ten refused without doing it,
    one in twenty given by something else without its being done, and kills in between."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.process: Command | None = None
        self.left: int | None = None
        self.played: set[tuple[str, bool]] = set()
        self._done = cycle(DONE.items())
        self._undone = cycle(IN_ITS_PLACE)

    def __call__(self, _: Request) -> Response | None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0 and self.process is not None:
                self.process.send_signal(signal.SIGKILL)
        chance = self.random.random()
        if chance < 0.1:
            name, answer = next(self._done)
            self.played.add((name, True))
            return answer()
        if chance < 0.2:
            return failed(self.random.choice((429, 503)), Retry_After="0.01")
        if chance < 0.25:
            name = next(self._undone)
            self.played.add((name, False))
            return in_its_place(name, done=False)
        return None


def push_and_kill(desk: Desk, kind: Kind, path: Path, trouble: Trouble, settings: dict[str, str]) -> None:
    """Start a push in a process of its own, and kill it in the middle, ``KILLS`` times."""
    environment = {
        "WMS_BASE_URL": desk.server.base_url,
        "WMS_API_TOKEN": "sandbox-token",
        "WMS_DATA_DIR": str(desk.settings.data_dir),
        "WMS_PUSH_LIMIT": str(ROWS),
        **settings,
    }
    for number in range(KILLS):
        trouble.left = trouble.random.randint(1, ROWS // (KILLS + 1))
        pushing = partial(push, str(kind), path, f"killed{number}")
        left = trouble.left + 1
        while trouble.left > 0:  # too many in a row without the service's word end a push before its kill
            assert trouble.left < left, "there was nothing more to send"
            left = trouble.left
            with Command(pushing, environment, desk.folder) as process:
                trouble.process = process
                ended = process.ended()
        assert ended.returncode == -signal.SIGKILL
    trouble.left = None


def test_retailers_are_there_once_with_their_ids(desk):
    parents = [f"R{number // 10}" if number >= 10 else "" for number in range(ROWS)]
    path = desk.file("code,name,parent_retailer_code", *(f"R{at},Name {at},{parents[at]}" for at in range(ROWS)))
    trouble = Trouble(seed=7)
    desk.server.sandbox.intercept = trouble
    merchant = {"WMS_MERCHANT_USERNAME": "sandbox-merchant", "WMS_MERCHANT_API_KEY": "sandbox-api-key"}
    push_and_kill(desk, RETAILERS, path, trouble, merchant)

    desk.set(push_limit=ROWS, **MERCHANT)
    for _ in range(10):
        report = desk.push(RETAILERS, path)
        if report.exit_code == 0:
            break
    assert trouble.played == PLAYED
    made = desk.server.sandbox.retailers()
    assert Counter(one["code"] for one in made) == dict.fromkeys((f"R{at}" for at in range(ROWS)), 1)
    ids = {one["code"]: one["id"] for one in made}
    assert [(one["parent_retailer"] or {}).get("id") for one in sorted(made, key=lambda one: int(one["code"][1:]))] == [
        ids.get(parent) for parent in parents
    ]

    desk.server.sandbox.intercept = None
    sent = len(desk.creates)
    assert desk.push(RETAILERS, path).counts == {Outcome.ALREADY_THERE: ROWS}
    assert len(desk.creates) == sent
    entries = desk.entries()
    assert {key: entry.remote_id for key, entry in entries.items()} == ids
    assert {entry.state for entry in entries.values()} == {State.CREATED}


def test_no_product_is_sent_twice_without_being_asked(desk):
    kind = PRODUCTS
    path = desk.file("type,sku,name", *(f"Product,P{number},Name" for number in range(ROWS)))
    trouble = Trouble(seed=8)
    desk.server.sandbox.intercept = trouble
    push_and_kill(desk, kind, path, trouble, {})
    desk.set(push_limit=ROWS)
    for _ in range(100):
        report = desk.push(kind, path)
        if Outcome.UNSENT not in report.counts:  # too many in a row without the service's word end a push
            break
    assert trouble.played == PLAYED

    made = Counter(product["sku"] for product in desk.server.sandbox.products())
    assert set(made.values()) == {1}
    doubtful = {row["key"] for row in report.rows(Outcome.IN_DOUBT)}
    everything = {f"P{number}" for number in range(ROWS)}
    assert everything - doubtful <= made.keys()
    assert all("--resend" in row["why"] for row in report.rows(Outcome.IN_DOUBT))
    assert {key for key, entry in desk.entries().items() if entry.state is not State.CREATED} == doubtful
    assert doubtful & made.keys(), "no answer was lost: the test shows nothing"

    desk.server.sandbox.intercept = None
    sent = len(desk.creates)
    assert desk.push(kind, path).counts == {
        Outcome.ALREADY_THERE: ROWS - len(doubtful),
        Outcome.IN_DOUBT: len(doubtful),
    }
    desk.set(**MERCHANT)
    desk.push(kind, path)
    assert len(desk.creates) == sent
    assert {
        step.key for step in desk.plan(kind, path).steps if step.action is Action.IN_DOUBT
    } == everything - made.keys()
    assert desk.push(kind, path, resend=True).exit_code == 0
    assert Counter(product["sku"] for product in desk.server.sandbox.products()) == dict.fromkeys(everything, 1)
    assert {entry.state for entry in desk.entries().values()} == {State.CREATED}
