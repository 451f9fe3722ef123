"""Killed anywhere: SIGKILL of the real command line, by name of the moment and at random, then one more run."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.bench import let_pass, queried
from tests.oracle import expected_tables
from tests.survival.conftest import SMALL
from tests.survival.counts import FULL_DISKS_OF_FORGETS, RANDOM_KILLS
from tests.survival.full_disks import needs_a_disk, on_full_disk, room_of
from tests.survival.installation import ENDED, KILLED, Installation, ever_sooner, moments_of, rows
from tests.survival.moments import Moment
from tests.survival.victims import PERSONAL, PUBLISHING, RUNS, VICTIMS, Read
from tests.upkeep.test_forget import marked
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer

AFTER_THE_CUT = (
    Moment(
        "Reading._heed_clocks > StateStore.withdraw_coverage > StatePart._execute > Guarded._transaction: after commit"
    ),
    Moment("remember > StateStore.record > StatePart._put > Guarded._transaction: after commit"),
)
OFTEN_NAMED = """
select order_id
from (from pii.order_addresses select order_id union all from pii.order_address_candidates select order_id)
group by all order by count(*) desc, order_id limit 1
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    with SandboxServer(Sandbox(replace(SMALL, shipments=60))) as service:
        service.sandbox.rewrite = marked
        installation = Installation(tmp_path_factory.mktemp("read") / "data", service, PERSONAL)
        installation.runs("sync")
        let_pass(service.sandbox, seconds=3600, changed=30, orders=20)
        installation.runs("sync")
        [(order,)] = queried(installation.layout.published, OFTEN_NAMED)
        forgotten = replace(installation, data=installation.data.with_name("forgotten"))
        shutil.copytree(installation.data, forgotten.data)
        forgotten.runs("forget", "--yes", str(order))
        yield Read(installation, order, rows(installation.layout), rows(forgotten.layout))


@pytest.mark.parametrize("kill", AFTER_THE_CUT, ids=str)
def test_killed_between_the_end_of_coverage_and_the_next_read(kill, tmp_path):
    """The clocks went back by two hours, and have passed where they were when the next run looks at them."""
    with SandboxServer(Sandbox(replace(SMALL, shipments=60))) as service:
        installation = Installation(tmp_path / "data", service)
        installation.runs("sync")
        service.sandbox.clock.advance(-7_200_000)
        service.sandbox.advance(seconds=3600, changed=20, new=5, orders=10)
        ended = installation.run("sync", kill=kill)
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
@pytest.mark.seeds(RANDOM_KILLS)
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


@needs_a_disk
@pytest.mark.seeds(FULL_DISKS_OF_FORGETS)
def test_a_forget_on_a_full_disk_is_finished(seed, request, tmp_path):
    """Until there is space, a rebuild that finishes the forget fails as it did."""
    victim = VICTIMS["forget"]
    installation = victim.begin(request, tmp_path / "read")
    script = f"run {' '.join(victim.command(request, installation))}\nrun rebuild\nfree_space\n"
    said = on_full_disk(installation, tmp_path, room_of(seed), script)
    assert re.findall(r"(\w+) ended with (\d)", said) == [("forget", "1"), ("rebuild", "1")], said
    assert "No space left on device" in said or "Its disk is full" in said, said
    victim.prove(request, installation, seed)
