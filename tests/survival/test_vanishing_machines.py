"""Files in object storage, machines whose disks vanish: killed anywhere, or without the store for a while.

The next machine, whose disk is empty, brings the tables to what the service has; in between there is the old state or
the new one, and nothing half visible. On a lake maintenance then leaves no object that the catalogue does not name.
"""

# ruff: noqa: F811 - a fixture that is imported is named again by whoever uses it

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.bench import store_at
from tests.lakes import Lakes, on_lake, tables_of
from tests.oracle import Tables
from tests.storage.conftest import KEYS, Wire, in_bucket, keys, s3  # noqa: F401 - fixtures
from tests.survival.counts import FRESH_DISKS, OUTAGES
from tests.survival.installation import IN_FLIGHT, KILLED, SECONDS, Installation, ever_sooner
from wms_sandbox.server import SandboxServer
from wms_sync.targets.ducklake.target import Lake

pytestmark = pytest.mark.targets("lake")
Make = Callable[[], Installation]


@pytest.fixture
def machines(
    service: SandboxServer, tmp_path: Path, lakes: Lakes, expected: Tables, s3: Wire, in_bucket: dict[str, object]
) -> Make:
    """An installation with an empty disk; each has the same database and prefix."""
    url = lakes.new()
    stored = {"WMS_FILES_URL": str(in_bucket["files_url"]), "WMS_FILES_ENDPOINT": s3.address, **KEYS, **on_lake(url)}

    def make() -> Installation:
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        return Installation(tmp_path / "data", service, stored)

    return make


def begun(machines: Make, seed: int) -> tuple[Installation, bool]:
    """Every other machine finds what another one has synced already."""
    if synced := seed % 2 == 0:
        machines().runs("sync")
    return machines(), synced


def assert_the_next_goes_on(machines: Make, expected: Tables, keys: Callable[[], set[str]]) -> None:
    again = machines()
    again.runs("sync")
    assert again.differences(expected) == []
    again.assert_coverage_is_true()
    lake = Lake(again.read_settings)
    with store_at(again.store_url, again.data) as store:
        lake.maintain(store.turn, timedelta(0))
        lake.maintain(store.turn, timedelta(0))
    assert again.differences(expected) == []
    in_lake = {key for key in keys() if key.startswith("lake/")}
    assert len(in_lake) == sum(one.files for one in tables_of(again.read_settings)), "orphans are left"


@pytest.mark.seeds(FRESH_DISKS)
def test_a_machine_dies_with_its_disk(seed, machines, expected, keys):
    machine, synced = begun(machines, seed)
    for after in ever_sooner(f"disk {seed}", 6.0):
        machine.service.sandbox.requests.clear()
        if machine.run_and_kill("rebuild" if synced else "sync", after=after) == KILLED:
            break
        machine, synced = machines(), True
    if machine.target.is_published:
        assert machine.differences(expected) == []
    assert_the_next_goes_on(machines, expected, keys)
    assert machine.asked_twice <= IN_FLIGHT


@pytest.mark.seeds(OUTAGES)
def test_the_store_is_away_for_a_while(seed, machines, expected, keys, s3: Wire):
    chance = random.Random(f"outage {seed}")
    installation, synced = begun(machines, seed)
    process = installation.start("rebuild" if synced else "sync")
    after, lasts = chance.uniform(0.2, 6), chance.choice((0.2, 2.0, 60.0))
    process.join(after)
    s3.is_cut = True
    process.join(lasts)
    s3.is_cut = False
    ended = process.ended(SECONDS)
    assert ended.returncode in {0, 1, 3}, ended.said
    assert "Traceback" not in ended.said
    if installation.target.is_published:
        assert installation.differences(expected) == []
    assert_the_next_goes_on(machines, expected, keys)
