"""Pushes that are killed again and again while answers get lost: everything ends up in the service once, and is known.

``TEST_PUSH_ROWS`` rows and ``TEST_PUSH_KILLS`` kills, 300 and 4 unless set. The processes are real and die by
SIGKILL at a request of theirs.
"""

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

from tests.bench import CONFIG
from tests.master_data.conftest import MERCHANT, Desk, pushed
from tests.processes import Command
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.faults import IN_ITS_PLACE, AnswerLost, ProxyAnswer, in_its_place
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import PRODUCTS, RETAILERS, kind_named
from wms_sync.master_data.plan import RowStatus
from wms_sync.service.answers import RetryPolicy
from wms_sync.settings import Settings
from wms_sync.state.ledger import State

pytestmark = pytest.mark.proof

ROWS = int(os.environ.get("TEST_PUSH_ROWS", "300"))
KILLS = int(os.environ.get("TEST_PUSH_KILLS", "4"))
DONE: tuple[Callable[[], Response], ...] = (
    AnswerLost,
    ProxyAnswer,
    *(partial(in_its_place, name, done=True) for name in IN_ITS_PLACE),
)
"""What comes instead of the service's answer after the work was done; each of them by turns."""


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    """On a socket, which the processes that are killed reach."""
    server.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))
    return server


def push(kind: str, path: Path, run_id: str) -> None:
    """What runs in a process of its own, with settings from its environment."""
    pushed(
        Settings.load(_env_file=None),
        kind_named(kind),
        path,
        run_id=run_id,
        policy=RetryPolicy(first_wait=0.01, longest_wait=0.05),
    )


class Trouble:
    """One answer in ten lost or given by something else after the work was done, one in ten refused without doing it,
    one in twenty given by something else without its being done, and kills in between."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.process: Command | None = None
        self.left = 0
        self._done = cycle(DONE)
        self._undone = cycle(IN_ITS_PLACE)

    def __call__(self, _: Request) -> Response | None:
        self.left -= 1
        if self.left == 0 and self.process is not None:
            self.process.send_signal(signal.SIGKILL)
        chance = self.random.random()
        if chance < 0.1:
            return next(self._done)()
        if chance < 0.2:
            return failed(self.random.choice((429, 503)), Retry_After="0.01")
        return in_its_place(next(self._undone), done=False) if chance < 0.25 else None


def push_and_kill(desk: Desk, kind: Kind, path: Path, seed: int, **settings: str) -> None:
    """Start a push in a process of its own, and kill it in the middle, ``KILLS`` times."""
    trouble = desk.server.sandbox.intercept = Trouble(seed)
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
    desk.set(push_limit=ROWS)


def test_retailers_are_there_once_with_their_ids(desk):
    parents = {f"R{at}": f"R{at // 10}" if at >= 10 else "" for at in range(ROWS)}
    path = desk.file(
        "code,name,parent_retailer_code", *(f"{code},Name {code},{parent}" for code, parent in parents.items())
    )
    push_and_kill(
        desk, RETAILERS, path, 7, WMS_MERCHANT_USERNAME="sandbox-merchant", WMS_MERCHANT_API_KEY="sandbox-api-key"
    )
    desk.set(**MERCHANT)
    while desk.push(RETAILERS, path).exit_code != 0:  # too many answers without the service's word end a push
        pass
    made = desk.server.sandbox.retailers()
    assert Counter(one["code"] for one in made) == dict.fromkeys(parents, 1)
    ids = {one["code"]: one["id"] for one in made}
    assert {one["code"]: (one["parent_retailer"] or {}).get("id") for one in made} == {
        code: ids.get(parent) for code, parent in parents.items()
    }

    desk.server.sandbox.intercept = None
    report = desk.push(RETAILERS, path)
    assert (report.requests, report.counts) == (0, {RowStatus.ALREADY_THERE: ROWS})
    known = {key: (entry.state, entry.remote_id) for key, entry in desk.entries().items()}
    assert known == {code: (State.CREATED, id_) for code, id_ in ids.items()}


def test_no_product_is_sent_twice_without_being_asked(desk):
    everything = dict.fromkeys((f"P{number}" for number in range(ROWS)), 1)
    path = desk.file("type,sku,name", *(f"Product,{sku},Name" for sku in everything))
    push_and_kill(desk, PRODUCTS, path, 8)
    while RowStatus.UNSENT in (report := desk.push(PRODUCTS, path)).counts:
        pass
    made = Counter(product["sku"] for product in desk.server.sandbox.products())
    assert set(made.values()) == {1}
    doubtful = {row["key"] for row in report.rows(RowStatus.IN_DOUBT)}
    assert everything.keys() - doubtful <= made.keys()
    assert {key for key, entry in desk.entries().items() if entry.state is not State.CREATED} == doubtful
    assert doubtful & made.keys(), "no answer was lost: the test shows nothing"

    desk.server.sandbox.intercept = None
    for settings, counted in (({}, len(doubtful)), (MERCHANT, len(doubtful - made.keys()))):
        desk.set(**settings)
        again = desk.push(PRODUCTS, path)
        assert (again.requests, again.counts[RowStatus.IN_DOUBT]) == (0, counted)
    assert {step.key for step in again.steps if step.action is RowStatus.IN_DOUBT} == everything.keys() - made.keys()
    assert desk.push(PRODUCTS, path, resend=True).exit_code == 0
    assert Counter(product["sku"] for product in desk.server.sandbox.products()) == everything
    assert {entry.state for entry in desk.entries().values()} == {State.CREATED}
