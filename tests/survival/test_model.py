"""Random sequences of everything that happens to a service and to an installation, against a model of the tables.

The model is small: the records that the tables may hold in another way than the service, since no sync can notice it
before an audit or a backfill (a change without ``updated_at``, one with a time of a clock that was set back, an odd
value that was corrected without a sign, what was deleted). After each command nothing was created twice, and after each
sync every other row must equal the service. In the end an audit has read everything: then every table equals the
service, nothing personal of a forgotten order is left, and a loss or a rebuild leaves the tables the same. ``world.py``
has the steps.
"""

from collections.abc import Callable, Mapping

import pytest

from tests.lakes import Lakes, on_lake
from tests.survival.installation import Installation
from tests.survival.world import SETTINGS, SMALL, World
from wms_sandbox.app import Sandbox

STEPS_BY_WEIGHT: Mapping[Callable[[World], None], int] = {
    World.time_passes: 4,
    World.commits_late: 2,
    World.changes_silently: 2,
    World.moves_back: 1,
    World.comes_from_the_future: 1,
    World.deletes: 1,
    World.sets_its_clock_back: 1,
    World.never_rests_during_a_sync: 2,
    World.answers_with_a_wrong_clock: 1,
    World.sends_an_odd_value: 2,
    World.syncs: 4,
    World.backfills: 2,
    World.rebuilds: 1,
    World.forgets: 1,
    World.pushes: 2,
    World.is_killed: 5,
    World.loses_the_state_store: 1,
    World.gets_an_old_state_store_back: 2,
    World.makes_a_backup: 1,
    World.is_restored: 1,
    World.loses_the_published_file: 1,
    World.has_a_damaged_page: 2,
}
AT_LAST = (
    World.rebuilds,
    World.loses_the_published_file,
    World.loses_the_state_store,
    World.gets_an_old_state_store_back,
)
"""One of these by turns: after it and a sync the tables are what they were, with what the audit marked."""


@pytest.fixture(scope="module")
def first(server, lakes_once: Lakes | None, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """After its first sync, with which every sequence begins."""
    server.sandbox = Sandbox(SMALL)
    place = {} if lakes_once is None else on_lake(lakes_once.new())
    installation = Installation(tmp_path_factory.mktemp("first") / "data", server, {**SETTINGS, **place})
    installation.runs("sync")
    return installation


@pytest.mark.targets("file", "lake")
@pytest.mark.seeds("sequences of everything, against a model")
def test_in_the_end_every_table_equals_the_service(seed, count, first, tmp_path, lakes):
    world = World(seed, first, tmp_path, lakes)
    for step in world.chance.choices([*STEPS_BY_WEIGHT], [*STEPS_BY_WEIGHT.values()], k=count("steps of a sequence")):
        world.take(step)
    world.settle()
    before = world.rows()
    world.take(AT_LAST[seed % len(AT_LAST)])
    world.syncs_at_last()
    assert world.rows() == before, world.story([])
    print(f"seed {seed}: {', '.join(world.told)}")
