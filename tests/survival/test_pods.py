"""A lake whose runs are pods: each on a disk of its own that is gone afterwards, the rest in PostgreSQL and a store.

A pod is suspended. Either its lock is taken from it and another pod runs to its end, and then the first goes on: it
writes nothing. Or its sessions in PostgreSQL are ended: it ends with an error, and the next pod goes on from there.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.oracle import differences
from tests.postgres import end_sessions, plain
from tests.storage.conftest import KEYS, s3_server
from tests.survival.installation import ENDED, Installation, wait_until
from tests.survival.moments import Moment
from tests.survival.test_taking_over import goes_on, stands_still
from wms_sandbox.server import SandboxServer
from wms_sync.settings import Settings
from wms_sync.targets.target import target_of

RECORDED = "StateStore._update > Guarded._transaction: after commit"
PUT = "BucketFiles.put > BucketFiles._asked > BucketFiles.put.<locals>.<lambda>"
COMMIT = "Refresh.run > LakeLoad.publish"
MAINTAIN = "maintain > put_together > _put_together > committed"
EXPIRE = "maintain > delete_replaced > committed"
MOMENTS = {
    "a page is put": ("sync", f"land > {PUT}: before put", 4),
    "a page was put": ("sync", f"land > {PUT}: after put", 4),
    "a page was recorded": (
        "sync",
        "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction: after commit",
        4,
    ),
    "a window was landed": ("sync", f"WindowReader.read > StateStore.mark_landed > {RECORDED}", 1),
    "a table's file is put": ("sync", f"BucketFiles._keep > {PUT}: before put", 5),
    "a load begins": (
        "sync",
        "Operation._load > refresh > Refresh.run > Lake.load: after begin",
        1,
    ),
    "rows are merged": (
        "sync",
        "PendingWindows._merge > Merger.merge > Merger._merge_family > Merger._replace: before execute",
        20,
    ),
    "a load is committed": ("sync", f"Operation._load > refresh > {COMMIT}: before commit", 1),
    "a load was committed": ("sync", f"Operation._load > refresh > {COMMIT}: after commit", 1),
    "a rebuild is committed": ("rebuild", f"Operation._load > rebuild > {COMMIT}: before commit", 1),
    "files were put together": ("maintain", f"{MAINTAIN}: before commit", 1),
    "snapshots are expired": (
        "maintain",
        f"Lake.maintain > {EXPIRE}: before commit",
        1,
    ),
}
SHARE = "a load is committed"
"""Of the normal suite."""
SESSIONS = {"the lock's": "query like '%pg_try_advisory_lock(hash%'", "all": "true"}


@dataclass(frozen=True)
class Place:
    """What outlives the pods of one installation."""

    folder: Path
    service: SandboxServer
    environment: Mapping[str, str]

    @property
    def settings(self) -> Settings:
        names = {name.removeprefix("WMS_").lower(): value for name, value in self.pod().environment.items()}
        fields = {name: value for name, value in names.items() if not name.startswith("aws_")}
        return Settings.load(_env_file=None, **fields)

    def pod(self) -> Installation:
        """The next one, with an empty disk."""
        return Installation(self.folder / uuid4().hex / "data", self.service, self.environment)

    def run(self, command: str) -> Installation:
        """To its end, which is a good one."""
        pod = self.pod()
        pod.data.parent.mkdir()
        process = pod.run(command)
        assert process.exitcode in ENDED, pod.log.read_text()
        return pod

    def suspended(self, moment: Moment, command: str) -> tuple[Installation, ForkServerProcess]:
        """A pod that stands still at a moment."""
        pod = self.pod()
        pod.data.parent.mkdir()
        process = pod.start(command, kill=moment)
        wait_until(f"standing still at {moment}", 120, lambda: not process.is_alive() or stands_still(process))
        assert process.is_alive(), pod.log.read_text()
        return pod, process

    def state(self) -> dict[str, object]:
        """Everything in PostgreSQL that a late writer could change."""
        with psycopg.connect(plain(self.environment["WMS_STATE_URL"])) as connection:
            tables = connection.execute(
                "select schemaname || '.' || tablename from pg_tables where schemaname in ('public', 'lake') "
                "and tablename not in ('runs', 'sent_alerts', 'alerts') order by 1"
            ).fetchall()
            return {
                table: sorted(connection.execute(f"select t::text from {table} as t").fetchall()) for (table,) in tables
            }

    def differences(self, expected: Mapping[str, object]) -> list[str]:
        """Where what analysts see is not what the service has; nothing, if there is nothing yet."""
        with target_of(self.settings).published() as connection:
            return differences(connection, expected)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A bucket under ``--soak``, else a folder, which takes no server."""
    if not request.config.getoption("--soak"):
        yield {"WMS_FILES_URL": f"file://{tmp_path_factory.mktemp('store')}"}
        return
    with s3_server() as wire:
        yield {**KEYS, "WMS_FILES_URL": "s3://wms", "WMS_FILES_ENDPOINT": wire.address}


@pytest.fixture
def place(postgres_url, service, store, tmp_path, monkeypatch) -> Place:
    name = f"t{uuid4().hex}"
    with psycopg.connect(plain(postgres_url), autocommit=True) as connection:
        connection.execute(f"create database {name}")
    for variable, value in store.items():
        if not variable.startswith("WMS_"):
            monkeypatch.setenv(variable, value)
    return Place(
        tmp_path,
        service,
        {
            **store,
            "WMS_FILES_URL": f"{store['WMS_FILES_URL']}/{name}",
            "WMS_STATE_URL": postgres_url.replace("/postgres?", f"/{name}?"),
            "WMS_ANALYTICS": "ducklake",
            "WMS_MAX_PARALLEL_REQUESTS": "1",
        },
    )


def at(title: str, place: Place) -> tuple[Installation, ForkServerProcess]:
    """A pod that is suspended there; what it needs was done before."""
    command, name, number = MOMENTS[title]
    if command != "sync":
        place.run("sync")
        place.run("rebuild")  # the files of the sync are those that maintenance deletes
    return place.suspended(Moment(name, number, signal.SIGSTOP), command)


@pytest.fixture(autouse=True)
def _share(request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["title"] != SHARE and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")


@pytest.mark.parametrize("title", MOMENTS)
def test_a_pod_that_was_overtaken_writes_nothing_more(title, place, expected):
    pod, first = at(title, place)
    end_sessions(place.environment["WMS_STATE_URL"], SESSIONS["the lock's"])
    place.run("sync")
    made = place.state()
    said = len(pod.log.read_text())
    assert goes_on(first) == 1, pod.log.read_text()
    told = pod.log.read_text()[said:]
    assert "has taken over" in told
    assert "Traceback" not in told
    assert place.state() == made
    assert place.differences(expected) == []


@pytest.mark.parametrize("which", SESSIONS)
@pytest.mark.parametrize("title", MOMENTS)
def test_a_pod_ends_when_its_sessions_are_lost(title, which, place, expected, request):
    if which != "all" and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    pod, first = at(title, place)
    end_sessions(place.environment["WMS_STATE_URL"], SESSIONS[which])
    assert goes_on(first) == 1, pod.log.read_text()
    told = pod.log.read_text()
    assert re.search("has ended|does not answer|could not be committed", told), told
    assert "Traceback" not in told
    if target_of(place.settings).is_published:
        assert place.differences(expected) == []
    place.run("sync")
    assert place.differences(expected) == []
