"""``wms-sync forget`` killed anywhere, or on a full disk: the next run finishes it, and nothing else is lost.

After each kill the published file opens, and is as it was or as it is to be. One more ``wms-sync forget``, night or
rebuild later no byte of the order's persons is in any file, every other row is there, what is recorded of the raw pages
is what they are, and none was given up.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.survival.conftest import SMALL
from tests.survival.counts import FULL_DISKS
from tests.survival.full_disks import needs_a_disk, on_full_disk, room_of
from tests.survival.installation import ENDED, KILLED, Installation, Rows, kill_at_each, moments_of, rows
from tests.survival.moments import Moment
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.targets.database import open_for_reading

PERSONAL = {"WMS_INCLUDE_ADDRESSES": "true", "WMS_PAGE_SIZE": "20", "WMS_CLOCK_TOLERANCE_SECONDS": "86400"}
"""The sandbox's clock stands still while forgets are killed, which takes minutes."""
NOTHING_TO_FINISH = 2


@dataclass(frozen=True)
class Read:
    """An installation with persons, read twice, so that orders stand in several windows."""

    data: Path
    service: SandboxServer
    order: int

    def copy(self, data: Path) -> Installation:
        shutil.copytree(self.data, data)
        return Installation(data, self.service, PERSONAL)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    with SandboxServer(Sandbox(replace(SMALL, shipments=120))) as service:
        service.sandbox.rewrite = marked
        installation = Installation(tmp_path_factory.mktemp("read") / "data", service, PERSONAL)
        assert installation.run("sync").exitcode in ENDED, installation.log.read_text()
        service.sandbox.advance(seconds=3600, changed=60, orders=40)
        service.sandbox.advance(seconds=10)
        assert installation.run("sync").exitcode in ENDED, installation.log.read_text()
        yield Read(installation.data, service, an_order(installation))


def an_order(installation: Installation) -> int:
    """One with most rows."""
    query = """
        select order_id
        from (from pii.order_addresses select order_id union all from pii.order_address_candidates select order_id)
        group by all order by count(*) desc, order_id limit 1
    """
    with open_for_reading(installation.layout, installation.layout.published) as connection:
        [(order,)] = connection.execute(query).fetchall()
    return int(order)


def holding(installation: Installation, order: int) -> set[str]:
    """The files that hold what is personal of the order."""
    return files_holding(installation.data, (MARK % order).encode())


def known(installation: Installation) -> frozenset[int]:
    """The orders that were asked to be forgotten."""
    if not (installation.data / "state.db").exists():
        return frozenset()
    store = installation.store()
    orders = store.forgotten()
    store.close()
    return orders


AGAIN = ("rebuild", "sync", "forget")
SHARE = (Moment("_clean_pages > _clean_page > StateStore.rewrite_page > Guarded._transaction: after commit"),)
"""Of the normal suite: what is recorded of a page is not yet what it is."""


def test_a_forget_killed_at_each_moment_by_name(read, tmp_path, request):
    """What comes next is each of ``AGAIN`` by turns."""
    whole: Installation = read.copy(tmp_path / "whole")
    before = rows(whole.layout)
    command = ("forget", "--yes", str(read.order))
    kills = moments_of(command, whole)
    assert set(SHARE) <= set(kills)
    if not request.config.getoption("--soak"):
        kills = list(SHARE)
    after = rows(whole.layout)
    assert holding(whole, read.order) == set()

    def survive(number: int, kill: Moment) -> bool:
        installation: Installation = read.copy(tmp_path / f"data{number}")
        process = installation.run(*command, kill=kill)
        assert process.exitcode in {*ENDED, KILLED}, installation.log.read_text()
        prove_it_is_finished(read, installation, AGAIN[number % len(AGAIN)], before, after)
        shutil.rmtree(installation.data)
        return process.exitcode == KILLED

    kill_at_each("forget", kills, survive)


def prove_it_is_finished(read: Read, installation: Installation, again: str, before: Rows, after: Rows) -> None:
    assert rows(installation.layout) in (before, after)
    if not known(installation):
        assert rows(installation.layout) == before
        assert installation.run("forget", "--yes", str(read.order)).exitcode == 0, installation.log.read_text()
    process = installation.run(again)
    assert process.exitcode in {*ENDED, NOTHING_TO_FINISH if again == "forget" else 0}, installation.log.read_text()
    assert known(installation) == {read.order}
    assert holding(installation, read.order) == set()
    assert rows(installation.layout) == after
    installation.assert_coverage_is_true()
    store = installation.store()
    assert store.windows("abandoned") == ()
    assert store.forgotten(unfinished=True) == frozenset()
    store.close()


@needs_a_disk
@pytest.mark.seeds(FULL_DISKS)
def test_a_forget_on_a_full_disk_is_finished(seed, read, tmp_path):
    """The next run is one of ``AGAIN``; until there is space, a rebuild that finishes the forget fails as it did."""
    whole: Installation = read.copy(tmp_path / "whole")
    before = rows(whole.layout)
    assert whole.run("forget", "--yes", str(read.order)).exitcode == 0, whole.log.read_text()
    installation = read.copy(tmp_path / "read")
    script = f"run forget --yes {read.order}\nrun rebuild\nfree_space\n"
    said = on_full_disk(installation, tmp_path, room_of(seed), script)
    assert "forget ended with 1" in said, said
    assert "rebuild ended with 1" in said, said
    assert "No space left on device" in said or "Its disk is full" in said, said
    shutil.rmtree(installation.data)
    shutil.copytree(tmp_path / "data", installation.data)
    prove_it_is_finished(read, installation, AGAIN[seed % len(AGAIN)], before, rows(whole.layout))
