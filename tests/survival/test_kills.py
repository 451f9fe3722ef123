"""Killed anywhere: SIGKILL of the real command line, by name of the moment and at random, then one more run.

After each kill the published file opens and is whole, nothing counts as covered that is not on disk, one more run
succeeds, every table equals the service, and at most the pages in flight were asked for again.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.oracle import Tables
from tests.survival.installation import IN_FLIGHT, Installation, rows
from tests.survival.moments import Moment, read_moments
from wms_sync.layout import Layout

Install = Callable[..., Installation]


@dataclass(frozen=True)
class Victim:
    """A command that is killed, whether the installation was synced before, and what is run afterwards."""

    command: tuple[str, ...]
    again: tuple[str, ...]
    synced: bool
    share: tuple[Moment, ...]


BACKFILL = ("backfill", "--from", "2026-03-10", "--to", "2026-04-02")
VICTIMS = {
    "first sync": Victim(
        ("sync",),
        ("sync",),
        synced=False,
        share=(
            Moment(
                "WindowReader.read > WindowReader._read_on > WindowReader._land > "
                "StateStore.record_page: before commit",
                8,
            ),
        ),
    ),
    "night": Victim(
        ("sync",),
        ("sync",),
        synced=True,
        share=(),
    ),
    "backfill": Victim(
        BACKFILL,
        BACKFILL,
        synced=True,
        share=(Moment("Refresh._finish > Refresh._load > Merger.merge > _transaction: before commit"),),
    ),
    "rebuild": Victim(
        ("rebuild",),
        ("sync",),
        synced=True,
        share=(Moment("Refresh.rebuild > Refresh._finish > Turn.put_in_place > put_in_place: before replace"),),
    ),
}
"""``share`` are the moments of the normal suite."""


def moments_of(victim: Victim, installation: Installation, listing: Path) -> list[Moment]:
    """Every name that the command comes by, the first time, and the last where it comes by again."""
    process = installation.run(*victim.command, listing=listing)
    assert process.exitcode == 0, installation.log.read_text()
    counted = sorted(read_moments(listing).items())
    return [Moment(name, number) for name, times in counted for number in sorted({1, times})]


def kill_and_run_again(
    victim: Victim, installation: Installation, kill: Moment | float, before: Path, expected: Tables
) -> bool:
    """Whether it was killed before it ended; everything promised is asserted."""
    installation.service.sandbox.requests.clear()
    if isinstance(kill, Moment):
        process = installation.run(*victim.command, kill=kill)
    else:
        process = installation.run_and_kill(*victim.command, after=kill)
    assert process.exitcode in {0, -9}, installation.log.read_text()
    if installation.layout.published.exists():
        is_the_old_one = victim.synced and rows(installation.layout) == rows(Layout(before))
        assert is_the_old_one or installation.differences(expected) == []
    else:
        assert not victim.synced
    installation.assert_coverage_is_true()

    again = installation.run(*victim.again)
    assert again.exitcode == 0, installation.log.read_text()
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()
    assert installation.asked_twice <= IN_FLIGHT
    return process.exitcode == -9


@pytest.mark.parametrize("title", VICTIMS)
def test_killed_at_each_moment_by_name(title, install, template, expected, tmp_path, request):
    victim = VICTIMS[title]
    if request.config.getoption("--soak"):
        kills = moments_of(victim, install("listed", synced=victim.synced), tmp_path / "moments.json")
    else:
        kills = list(victim.share)
    if not kills:
        pytest.skip("only under --soak; the random kill of the suite is one of a night")
    survived = 0
    for number, kill in enumerate(kills):
        installation = install(f"data{number}", synced=victim.synced)
        died = kill_and_run_again(victim, installation, kill, template, expected)
        print(f"{title}: {'killed' if died else 'ended before'} {kill}", flush=True)
        survived += died
        shutil.rmtree(installation.data)
    # which thread comes first differs between runs, so the last time of a name may not come again
    assert survived >= 0.9 * len(kills)


@pytest.mark.seeds(suite=1, soak=200)
def test_killed_at_a_random_moment(seed, install, template, expected):
    chance = random.Random(seed)
    title = chance.choice(list(VICTIMS))
    installation = install(synced=VICTIMS[title].synced)
    after = chance.uniform(0.1, 2.5)
    died = kill_and_run_again(VICTIMS[title], installation, after, template, expected)
    print(f"{title}: {'killed' if died else 'ended before'} {after:.3f} s", flush=True)
