"""Killed anywhere: SIGKILL of the real command line, by name of the moment and at random, then one more run.

After each kill the published file opens and is whole, nothing counts as covered that is not on disk, one more run
succeeds, every table equals the service, at most the pages in flight were asked for again, and what analysts see of
pushes is what the ledger knows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from tests.changed_files import bloat
from tests.oracle import Tables
from tests.survival.counts import RANDOM_KILLS
from tests.survival.installation import ENDED, IN_FLIGHT, KILLED, Installation, kill_at_each, kill_at_random, moments_of
from tests.survival.moments import Moment

Install = Callable[..., Installation]


@dataclass(frozen=True)
class Victim:
    """A command that is killed, whether the installation was synced before, and what is run afterwards.

    ``share`` are the moments of the normal suite, ``bloated`` whether much of the file is free space. A random kill
    comes within so many ``seconds``, of the start or of the moment ``since``.
    """

    command: tuple[str, ...]
    again: tuple[str, ...]
    synced: bool
    share: tuple[Moment, ...] = ()
    bloated: bool = False
    since: Moment | None = None
    seconds: float = 4.0


BACKFILL = ("backfill", "--from", "2026-03-10", "--to", "2026-04-02")
VICTIMS = {
    "first sync": Victim(
        ("sync",),
        ("sync",),
        synced=False,
        share=(
            Moment(
                "WindowReader._read_on > WindowReader._land > StateStore.record_page"
                " > Guarded._transaction: before commit",
                8,
            ),
        ),
    ),
    "night": Victim(("sync",), ("sync",), synced=True),
    "backfill": Victim(
        BACKFILL,
        BACKFILL,
        synced=True,
        share=(Moment("refresh > Refresh.run > FileTarget.load > FileTarget._copy_to: before sendfile"),),
    ),
    "rebuild": Victim(
        ("rebuild",),
        ("sync",),
        synced=True,
        share=(Moment("Refresh.run > FileLoad.publish > Turn.put_in_place > put_in_place: before replace"),),
    ),
    "compaction": Victim(
        ("sync",),
        ("sync",),
        synced=True,
        bloated=True,
        share=(Moment("Refresh.run > FileTarget.load > FileTarget._copy_to > copy_tables: after execute", 40),),
    ),
    "publish": Victim(
        ("sync",),
        ("sync",),
        synced=True,
        since=Moment("refresh > Refresh.run > FileTarget.load > FileTarget._copy_to: before sendfile"),
        seconds=0.1,
    ),
}
PUBLISHED_LAKE = Moment("Operation._load > refresh > Refresh.run > LakeLoad.publish: before commit")
BY_NAME = [title for title, victim in VICTIMS.items() if victim.since is None]
"""Publishing is part of each."""


def victims(target: str) -> Mapping[str, Victim]:
    """What is killed where the tables are in a file, or in a lake, which is committed and maintained instead."""
    if target == "file":
        return VICTIMS
    lake = {title: replace(victim, share=()) for title, victim in VICTIMS.items() if not victim.bloated}
    lake["publish"] = replace(lake["publish"], since=PUBLISHED_LAKE)
    return lake | {"maintenance": Victim(("maintain",), ("sync",), synced=True)}


def begun(installation: Installation, victim: Victim) -> Installation:
    """The installation as the victim finds it."""
    if victim.bloated:
        bloat(installation.layout.published)
    return installation


def prove_what_is_promised(
    victim: Victim, installation: Installation, exitcode: int | None, before: Installation, expected: Tables
) -> bool:
    """Whether it was killed before it ended; everything promised is asserted."""
    assert exitcode in {*ENDED, KILLED}, installation.log.read_text()
    if installation.target.is_published:
        is_the_old_one = victim.synced and installation.rows() == before.rows()
        assert is_the_old_one or installation.differences(expected) == []
    else:
        assert not victim.synced
    installation.assert_coverage_is_true()
    reads_again = victim.again == BACKFILL and not installation.is_half_read  # its days were read, and it asks again

    again = installation.run(*victim.again)
    assert again.exitcode in ENDED, installation.log.read_text()
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()
    if not reads_again:
        assert installation.asked_twice <= IN_FLIGHT
    pushes = installation.pushes_known()
    assert installation.pushes_published() == pushes
    assert all(one["seen_at"] for one in pushes)
    return exitcode == KILLED


@pytest.mark.targets("file", "lake")
@pytest.mark.parametrize("title", [*BY_NAME, "maintenance"])
def test_killed_at_each_moment_by_name(title, install, synced_once, expected, request):
    target = request.config.getoption("--target")
    victim = victims(target).get(title)
    if victim is None:
        pytest.skip(f"there is no {title} of a {target}")
    kills = list(victim.share)
    if request.config.getoption("--soak"):
        kills = moments_of(victim.command, begun(install("listed", synced=victim.synced), victim))
    if not kills:
        pytest.skip("only under --soak; the random kill of the suite is one of a night")

    def survive(number: int, kill: Moment) -> bool:
        installation = begun(install(f"data{number}", synced=victim.synced), victim)
        installation.service.sandbox.requests.clear()
        process = installation.run(*victim.command, kill=kill)
        died = prove_what_is_promised(victim, installation, process.exitcode, synced_once, expected)
        shutil.rmtree(installation.data)
        return died

    kill_at_each(title, kills, survive)


@pytest.mark.targets("file", "lake")
@pytest.mark.seeds(RANDOM_KILLS)
def test_killed_at_a_random_moment(title, seed, install, synced_once, expected, request):
    victim = victims(request.config.getoption("--target"))[title]
    attempts: list[Installation] = []

    def attempt(number: int, after: float) -> int | None:
        attempts.append(install(f"data{number}", synced=victim.synced))
        attempts[-1].service.sandbox.requests.clear()
        return attempts[-1].run_and_kill(*victim.command, after=after, since=victim.since).exitcode

    after = kill_at_random(f"{title} {seed}", victim.seconds, attempt)
    assert prove_what_is_promised(victim, attempts[-1], KILLED, synced_once, expected)
    print(f"{title}: killed after {after:.3f} s", flush=True)
