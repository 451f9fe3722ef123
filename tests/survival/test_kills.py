"""Killed anywhere: SIGKILL of the real command line, by name of the moment and at random, then one more run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Bench, opened_store
from tests.survival.conftest import SMALL
from tests.survival.counts import FULL_DISKS_OF_FORGETS, RANDOM_KILLS
from tests.survival.full_disks import needs_a_disk, on_full_disk, room_of
from tests.survival.installation import ENDED, KILLED, Installation, kill_at_each, kill_at_random, moments_of
from tests.survival.moments import Moment
from tests.survival.victims import PERSONAL, PUBLISHING, RUNS, VICTIMS, Read, Stage
from tests.upkeep.test_forget import marked
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.targets.opening import open_for_reading

OFTEN_NAMED = """
select order_id
from (from pii.order_addresses select order_id union all from pii.order_address_candidates select order_id)
group by all order by count(*) desc, order_id limit 1
"""


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(request.getfixturevalue, tmp_path)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    with SandboxServer(Sandbox(replace(SMALL, shipments=60))) as service:
        service.sandbox.rewrite = marked
        installation = Installation(tmp_path_factory.mktemp("read") / "data", service, PERSONAL)
        with closing(opened_store(installation.read_settings)) as store:
            Bench(installation.read_settings, store).read()
        service.sandbox.advance(seconds=3600, changed=30, orders=20)
        service.sandbox.advance(seconds=10)
        installation.runs("sync")
        with open_for_reading(installation.layout, installation.layout.published) as connection:
            [(order,)] = connection.execute(OFTEN_NAMED).fetchall()
        yield Read(installation.data, service, order)


@pytest.mark.targets("file", "lake")
@pytest.mark.parametrize("title", VICTIMS)
def test_killed_at_each_moment_by_name(title, stage, request):
    victim, target = VICTIMS[title], request.config.getoption("--target")
    if target not in victim.targets:
        pytest.skip(f"there is no {title} of a {target}")
    kills = victim.share if target == "file" else ()
    if request.config.getoption("--soak"):
        listed = victim.begin(stage, "listed")
        kills = tuple(moments_of(victim.command(stage, listed), listed))
    if not kills:
        pytest.skip("only under --soak; a night is killed at random")

    def survive(number: int, kill: Moment) -> bool:
        installation = victim.begin(stage, f"data{number}")
        exitcode = installation.run(*victim.command(stage, installation), kill=kill).exitcode
        assert exitcode in {*ENDED, KILLED}, installation.log.read_text()
        victim.prove(stage, installation, number)
        shutil.rmtree(installation.data)
        return exitcode == KILLED

    kill_at_each(title, kills, survive)


@pytest.mark.targets("file", "lake")
@pytest.mark.seeds(RANDOM_KILLS)
def test_killed_at_a_random_moment(title, seed, stage, request):
    victim = {**RUNS, "publish": PUBLISHING}[title]
    since = victim.since.get(request.config.getoption("--target"))
    attempts: list[Installation] = []

    def attempt(number: int, after: float) -> int | None:
        attempts.append(victim.begin(stage, f"data{number}"))
        return attempts[-1].run_and_kill(*victim.typed, after=after, since=since).exitcode

    after = kill_at_random(f"{title}, {seed}", victim.seconds, attempt)
    victim.prove(stage, attempts[-1], seed)
    print(f"{title}: killed after {after:.3f} s", flush=True)


@needs_a_disk
@pytest.mark.seeds(FULL_DISKS_OF_FORGETS)
def test_a_forget_on_a_full_disk_is_finished(seed, stage, tmp_path):
    """Until there is space, a rebuild that finishes the forget fails as it did."""
    victim = VICTIMS["forget"]
    installation = victim.begin(stage, "read")
    forget = " ".join(victim.command(stage, installation))
    script = f"run {forget}\nrun rebuild\nfree_space\n"
    said = on_full_disk(installation, tmp_path, room_of(seed), script)
    assert "forget ended with 1" in said, said
    assert "rebuild ended with 1" in said, said
    assert "No space left on device" in said or "Its disk is full" in said, said
    shutil.rmtree(installation.data)
    shutil.copytree(tmp_path / "data", installation.data)
    victim.prove(stage, installation, seed)
