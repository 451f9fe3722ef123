"""Killed anywhere: SIGKILL of the real command line, by name of the moment and at random, then one more run."""

import shutil
from dataclasses import replace

import pytest

from tests.oracle import expected_tables
from tests.survival.conftest import SMALL
from tests.survival.installation import ENDED, KILLED, Installation, ever_sooner, moments_of
from tests.survival.moments import Moment
from tests.survival.victims import PUBLISHING, RUNS, VICTIMS
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer


@pytest.mark.parametrize(
    "kill",
    [
        "Reading._heed_clocks > StateStore.withdraw_coverage > StatePart._execute > Guarded._transaction: after commit",
        "remember > StateStore.record > StatePart._put > Guarded._transaction: after commit",
    ],
    ids=str,
)
def test_killed_between_the_end_of_coverage_and_the_next_read(kill, tmp_path):
    """The clocks went back by two hours, and have passed where they were when the next run looks at them."""
    with SandboxServer(Sandbox(replace(SMALL, shipments=60))) as service:
        installation = Installation(tmp_path / "data", service)
        installation.runs("sync")
        service.sandbox.clock.advance(-7_200_000)
        service.sandbox.advance(seconds=3600, changed=20, new=5, orders=10)
        ended = installation.run("sync", kill=Moment(kill))
        assert ended.returncode == KILLED, ended.said
        service.sandbox.advance(seconds=3600, changed=20)
        service.sandbox.clock.advance(86_400_000)
        installation.runs("sync")
        assert installation.differences(expected_tables(service)) == []


@pytest.mark.targets("file", "lake")
@pytest.mark.parametrize("title", VICTIMS)
def test_killed_at_each_moment_by_name(title, request, tmp_path):
    victim, target = VICTIMS[title], request.config.getoption("--target")
    if target not in victim.targets:
        pytest.skip(f"there is no {title} of a {target}")
    kills = victim.share if target == "file" else ()
    if request.config.getoption("--soak"):
        listed = victim.begin(request, tmp_path / "listed")
        kills = tuple(moments_of(victim.command(request, listed), listed))
    if not kills:
        pytest.skip("only under --soak; a night is killed at random")
    died = 0
    for number, kill in enumerate(kills):
        installation = victim.begin(request, tmp_path / f"data{number}")
        ended = installation.run(*victim.command(request, installation), kill=kill)
        assert ended.returncode in {*ENDED, KILLED}, ended.said
        victim.prove(request, installation, number)
        shutil.rmtree(installation.data)
        died += ended.returncode == KILLED
        print(f"{title}: {'killed' if ended.returncode == KILLED else 'ended before'} {kill}", flush=True)
    print(f"{title}: {died} kills by name survived", flush=True)
    # which thread comes first differs between runs, so the last time of a name may not come again
    assert died >= 0.9 * len(kills)


@pytest.mark.targets("file", "lake")
@pytest.mark.parametrize("title", ["first sync", "night", "backfill", "rebuild", "publish"])
@pytest.mark.seeds("random kills of each kind of run")
def test_killed_at_a_random_moment(title, seed, request, tmp_path):
    if title != "night" and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    victim = {**RUNS, "publish": PUBLISHING}[title]
    since = victim.since.get(request.config.getoption("--target"))
    for number, after in enumerate(ever_sooner(f"{title}, {seed}", victim.seconds)):
        installation = victim.begin(request, tmp_path / f"data{number}")
        if installation.run_and_kill(*victim.typed, after=after, since=since) == KILLED:
            break
    victim.prove(request, installation, seed)
    print(f"{title}: killed after {after:.3f} s", flush=True)
