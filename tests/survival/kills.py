"""Which moments a command is killed at, by name and at random, and one way to go through them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

from tests.survival.installation import Installation
from tests.survival.moments import Moment, read_moments

ENDED = 0, 3
"""Exit codes of a command that did its work; with 3 it names what needs attention, as the age of the data here."""
KILLED = -9


def moments_of(command: Sequence[str], installation: Installation) -> list[Moment]:
    """Every name that the command comes by, the first time, and the last where it comes by again."""
    listing = installation.data.with_name(f"{installation.data.name}.moments")
    process = installation.run(*command, listing=listing)
    assert process.exitcode in ENDED, installation.log.read_text()
    counted = sorted(read_moments(listing).items())
    return [Moment(name, number) for name, times in counted for number in sorted({1, times})]


def kill_at_each(title: str, kills: Sequence[Moment], survive: Callable[[int, Moment], bool]) -> None:
    """``survive`` kills once, proves what is promised, and tells whether the command was killed before it ended."""
    died = 0
    for number, kill in enumerate(kills):
        was_killed = survive(number, kill)
        print(f"{title}: {'killed' if was_killed else 'ended before'} {kill}", flush=True)
        died += was_killed
    print(f"{title}: {died} kills by name survived", flush=True)
    # which thread comes first differs between runs, so the last time of a name may not come again
    assert died >= 0.9 * len(kills)


def kill_at_random(seed: str, within: float, attempt: Callable[[int, float], int | None]) -> float:
    """After how many seconds it was killed. What has ended by then is tried again, each time anew, with fewer."""
    chance = random.Random(seed)
    for number in itertools.count():
        after = chance.uniform(0, within)
        if attempt(number, after) == KILLED:
            break
        within = after
    return after
