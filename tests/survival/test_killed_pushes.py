"""Pushes killed anywhere: SIGKILL of the real command line, by name of the moment, then one more push.

After each kill nothing is in the service twice, nothing is there that the ledger does not know, and what it calls
created is there; one more push brings everything in, once, or names as doubtful what was under way, and writes the
rejected rows. The published file is not touched. Of products all this holds also where the state store is lost with
the process, since ``creates.jsonl`` has what the published file does not know yet.
"""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import CONFIG
from tests.survival.installation import KILLED, PARALLEL, Installation, kill_at_each, moments_of
from tests.survival.moments import Moment
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.apply import AHEAD_UNIQUE
from wms_sync.state.ledger import State

ROWS = 60
BAD = "bad"
"""The row that is rejected has no name."""
MERCHANT = {"WMS_MERCHANT_USERNAME": "sandbox-merchant", "WMS_MERCHANT_API_KEY": "sandbox-api-key"}
REJECTED = 3
INTENTS = {
    "retailers": "Push._top_up > Push._intend > PushLedger.record > Guarded._transaction: before commit",
    "products": "Push._intend > JournaledLedger.record > PushLedger.record > Guarded._transaction: before commit",
}
SENT = "Connection.send > Connection._once > Connection._answered > Lane.send: after send"


@dataclass(frozen=True)
class Victim:
    """A kind that is pushed: its file, what the service has of it, how many may be in doubt after a kill.

    ``share`` are the moments of the normal suite.
    """

    lines: tuple[str, ...]
    made: Callable[[Sandbox], list[str]]
    under_way: int
    share: tuple[Moment, ...] = ()


VICTIMS = {
    "retailers": Victim(
        (
            "code,name,parent_retailer_code",
            *(f"R{at},Name {at},{f'R{at // 10}' if at >= 10 else ''}" for at in range(ROWS)),
            f"{BAD},,",
        ),
        lambda sandbox: [one["code"] for one in sandbox.retailers()],
        AHEAD_UNIQUE,
        share=(Moment(INTENTS["retailers"], 3),),
    ),
    "products": Victim(
        ("type,sku,name", *(f"Product,P{at},Name {at}" for at in range(ROWS)), f"Product,{BAD},"),
        lambda sandbox: [one["sku"] for one in sandbox.products()],
        2 * PARALLEL,
        share=(Moment(SENT, 40),),
    ),
}


@pytest.fixture
def desk(template: Path, sandbox: SandboxServer, tmp_path: Path) -> Callable[[str], Installation]:
    """An installation that was synced, before a service where nothing was created yet."""

    def make(name: str) -> Installation:
        sandbox.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))  # a doubt is settled by both clocks
        shutil.copytree(template, tmp_path / name)
        for path in (tmp_path / name).glob("state.db*"):
            path.unlink()
        return Installation(tmp_path / name, sandbox, MERCHANT)

    return make


def push(installation: Installation, title: str) -> tuple[str, ...]:
    path = installation.data.with_name(f"{title}.csv")
    path.write_text("".join(f"{line}\n" for line in VICTIMS[title].lines))
    return ("push", title, str(path))


def prove_what_is_promised(
    installation: Installation, title: str, exitcode: int | None, published: bytes, *, loses_state: bool
) -> bool:
    """Whether it was killed before it ended; everything promised is asserted."""
    victim, command = VICTIMS[title], push(installation, title)
    assert exitcode in {REJECTED, KILLED}, installation.log.read_text()
    made = Counter(victim.made(installation.service.sandbox))
    known = known_of(installation, title)
    assert set(made.values()) <= {1}
    assert made.keys() <= known.keys()
    assert {key for key, state in known.items() if state is State.CREATED} <= made.keys()
    assert sum(state is State.INTENDED for state in known.values()) <= victim.under_way

    if loses_state:
        for path in installation.data.glob("state.db*"):
            path.unlink()
    everything = {line.split(",")[-2 if title == "products" else 0] for line in victim.lines[1:-1]}
    again = installation.run(*command)
    assert again.exitcode == REJECTED, installation.log.read_text()
    made = Counter(victim.made(installation.service.sandbox))
    known = known_of(installation, title)
    assert set(made.values()) == {1}
    doubtful = everything - made.keys()
    assert {key for key, state in known.items() if state is not State.CREATED} == doubtful
    assert len(doubtful) <= (victim.under_way if title == "products" else 0)
    if doubtful:
        assert installation.run(*command, "--resend").exitcode == REJECTED, installation.log.read_text()
        made = Counter(victim.made(installation.service.sandbox))
    assert made == dict.fromkeys(everything, 1)

    sent = creates_sent(installation)
    assert installation.run(*command).exitcode == REJECTED, installation.log.read_text()
    assert creates_sent(installation) == sent
    assert known_of(installation, title) == dict.fromkeys(everything, State.CREATED)
    rejects = [list(csv.reader(path.read_text().splitlines())) for path in installation.layout.rejects.glob("*.csv")]
    assert rejects
    assert all(len(lines) == 2 and BAD in lines[1] for lines in rejects)
    assert installation.layout.published.read_bytes() == published
    return exitcode == KILLED


def known_of(installation: Installation, title: str) -> dict[str, State]:
    """The ledger's states of a kind, by key."""
    return {one["key"]: one["state"] for one in installation.pushes_known() if one["kind"] == title}


def creates_sent(installation: Installation) -> int:
    return sum(one.method == "POST" and "/v1/" in one.path for one in installation.service.sandbox.requests)


@pytest.mark.parametrize("title", VICTIMS)
def test_a_push_killed_at_each_moment_by_name(title, desk, request):
    kills = list(VICTIMS[title].share)
    if request.config.getoption("--soak"):
        installation = desk("listed")
        kills = moments_of(push(installation, title), installation)

    def survive(number: int, kill: Moment) -> bool:
        installation = desk(f"data{number}")
        published = installation.layout.published.read_bytes()
        process = installation.run(*push(installation, title), kill=kill)
        loses_state = title == "products" and number % 2 == 0
        died = prove_what_is_promised(installation, title, process.exitcode, published, loses_state=loses_state)
        shutil.rmtree(installation.data)
        return died

    kill_at_each(f"push of {title}", kills, survive)
