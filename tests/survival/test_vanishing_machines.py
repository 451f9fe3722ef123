"""Files in object storage, machines whose disks vanish: killed anywhere.

The next machine, whose disk is empty, brings the tables to what the service has; in between there is the old state or
the new one, and nothing half visible. On a lake maintenance then leaves no object that the catalogue does not name.
"""

# ruff: noqa: F811 - a fixture that is imported is named again by whoever uses it

import shutil
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.bench import store_at
from tests.lakes import on_lake, tables_of
from tests.storage.conftest import KEYS, Wire, in_bucket, keys, s3  # noqa: F401 - fixtures
from tests.survival.installation import IN_FLIGHT, KILLED, Installation, ever_sooner
from wms_sync.targets.ducklake.target import Lake

pytestmark = pytest.mark.targets("lake")


@pytest.fixture
def machines(service, tmp_path, lakes, expected, s3, in_bucket) -> Callable[[], Installation]:
    """An installation with an empty disk; each has the same database and prefix."""
    stored = {
        "WMS_FILES_URL": str(in_bucket["files_url"]),
        "WMS_FILES_ENDPOINT": s3.address,
        **KEYS,
        **on_lake(lakes.new()),
    }

    def make() -> Installation:
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        return Installation(tmp_path / "data", service, stored)

    return make


@pytest.mark.seeds("kills of machines whose disks vanish")
def test_a_machine_dies_with_its_disk(seed, machines, expected, keys):
    """Every other machine finds what another one has synced already."""
    if synced := seed % 2 == 0:
        machines().runs("sync")
    for after in ever_sooner(f"disk {seed}", 6.0):
        machine = machines()
        machine.service.sandbox.requests.clear()
        if machine.run_and_kill("rebuild" if synced else "sync", after=after) == KILLED:
            break
        synced = True
    if machine.target.is_published:
        assert machine.differences(expected) == []
    again = machines()
    again.runs("sync")
    assert again.asked_twice <= IN_FLIGHT
    again.assert_coverage_is_true()
    with store_at(again.store_url, again.data) as store:
        for _ in range(2):
            Lake(again.read_settings).maintain(store.lease, timedelta(0))
    assert again.differences(expected) == []
    in_lake = sum(key.startswith("lake/") for key in keys())
    assert in_lake == sum(one.files for one in tables_of(again.read_settings)), "orphans are left"
