"""A run is suspended and loses its lock, another runs to its end, then the first resumes: it writes nothing.

The moments are those behind which one rename or one transaction is all that is left to do: the look at the turn that
comes before has been passed. Runs read one page at a time, since one that is suspended in a transaction of the state
store holds up whoever takes over, as it should. A run of a lake is a pod: its disk is its own and gone afterwards, the
rest is in PostgreSQL and a store. A pod may also lose its sessions in PostgreSQL while no other run takes over.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.conftest import CONFIG
from tests.lakes import Lakes, on_lake
from tests.postgres import end_sessions, plain
from tests.storage.conftest import KEYS, s3_server
from tests.survival.installation import ENDED, Installation, wait_until
from tests.survival.moments import Moment
from tests.survival.victims import BACKFILL
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.state.ledger import PushLedger, State

ONE_AT_A_TIME = {"WMS_MAX_PARALLEL_REQUESTS": "1"}
RECORD = "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction"
PUT = "Turn.put_in_place > put_in_place: before replace"
MERGED = "PendingWindows._merge_batch > PendingWindows._merge > Merger.merge > Session.transaction: before commit"
IN_A_FOLDER = {
    "a page is landed": ("sync", f"FolderFiles.put > Turn.write_whole > {PUT}", 4),
    "a page was landed": ("sync", f"FolderFiles.put > Turn.write_whole > {PUT.replace('before', 'after')}", 4),
    "a page was recorded": ("sync", f"{RECORD}: after commit", 4),
    "a window is closed": ("sync", f"FolderFiles.replace > Turn.write_whole > {PUT}", 1),
    "a table's file is put in place": ("sync", "_put_in_place > put_in_place: before replace", 5),
    "windows are merged": ("sync", MERGED, 1),
    "the tables are published": ("sync", f"Refresh.run > FileLoad.publish > {PUT}", 1),
    "a rebuild is published": ("rebuild", f"Refresh.run > FileLoad.publish > {PUT}", 1),
}
LANDED = "WindowReader.read > StateStore.mark_landed > StateStore._update > Guarded._transaction: after commit"
STORE = "BucketFiles.put > BucketFiles._asked > BucketFiles.put.<locals>.<lambda>"
MERGES = "PendingWindows._merge > Merger.merge > Merger._merge_family > Merger._replace: before execute"
COMMIT = "Refresh.run > LakeLoad.publish"
MAINTAIN = "maintain > put_together > _put_together > committed: before commit"
IN_A_LAKE = {
    "a page is put": ("sync", f"land > {STORE}: before put", 4),
    "a page was put": ("sync", f"land > {STORE}: after put", 4),
    "a page was recorded": ("sync", f"{RECORD}: after commit", 4),
    "a window was landed": ("sync", LANDED, 1),
    "a table's file is put": ("sync", f"BucketFiles._keep > {STORE}: before put", 5),
    "a load begins": ("sync", "Operation._load > refresh > Refresh.run > Lake.load: after begin", 1),
    "rows are merged": ("sync", MERGES, 20),
    "a load is committed": ("sync", f"Operation._load > refresh > {COMMIT}: before commit", 1),
    "a load was committed": ("sync", f"Operation._load > refresh > {COMMIT}: after commit", 1),
    "a rebuild is committed": ("rebuild", f"Operation._load > rebuild > {COMMIT}: before commit", 1),
    "files were put together": ("maintain", MAINTAIN, 1),
    "snapshots are expired": ("maintain", "Lake.maintain > maintain > delete_replaced > committed: before commit", 1),
}
SHARE = {("folder", "a page is landed"), ("lake", "a load was committed")}
"""Of ``make proof``; ``tests/state/test_turns.py`` overtakes turns in both kinds of state store, and
``tests/targets/test_lake.py`` a writer of a lake before its commit."""
CASES = [
    *(("folder", title) for title in IN_A_FOLDER),
    ("state in PostgreSQL", "windows are merged"),
    *(("lake", title) for title in IN_A_LAKE),
]
LOCKS = "pid in (select pid from pg_locks where locktype = 'advisory' and granted)"
KEPT = """
select schemaname || '.' || tablename from pg_tables
where schemaname in ('public', 'lake') and tablename not in ('runs', 'sent_alerts', 'alerts')
order by 1
"""


@dataclass(frozen=True)
class Machine:
    """What runs an installation: in its folder, with its state there or in PostgreSQL."""

    first: Installation
    moments: Mapping[str, tuple[str, str, int]]

    def next(self) -> Installation:
        """The installation for the next run."""
        return self.first

    def prepare(self, command: str) -> None:
        """Do what the command needs."""

    def end_sessions(self, which: str) -> None:
        end_sessions(self.first.settings["WMS_STATE_URL"], which)

    def take_lock(self) -> None:
        """What somebody does who takes a run for dead: docs/how-to/scale.md has it for PostgreSQL."""
        if "WMS_STATE_URL" in self.first.settings:
            self.end_sessions(LOCKS)
        for lock in self.first.layout.work.glob("*.lock"):
            lock.unlink()

    def state(self) -> dict[str, object]:
        """Everything that a late writer could change, apart from its own leavings."""
        layout = self.first.layout
        with self.first.store() as store:
            windows = {window: store.pages(window.id) for window in store.windows()}
        kept = [*layout.raw.rglob("*"), *layout.parquet.rglob("*"), layout.published]
        return {"windows": windows} | {str(path): path.read_bytes() for path in kept if path.is_file()}


@dataclass(frozen=True)
class Pods(Machine):
    """Each has an empty disk."""

    def next(self) -> Installation:
        data = self.first.data.with_name(uuid4().hex) / "data"
        data.parent.mkdir()
        return Installation(data, self.first.service, self.first.settings)

    def prepare(self, command: str) -> None:
        if command != "sync":
            self.next().runs(*BACKFILL)  # two loads make two files of a table, which maintenance puts together
            self.next().runs("sync")

    def state(self) -> dict[str, object]:
        with psycopg.connect(plain(self.first.settings["WMS_STATE_URL"])) as connection:
            tables = connection.execute(KEPT).fetchall()
            return {
                table: sorted(connection.execute(f"select t::text from {table} as t").fetchall()) for (table,) in tables
            }


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A bucket under ``--soak``, else a folder, which takes no server."""
    if not request.config.getoption("--soak"):
        yield {"WMS_FILES_URL": f"file://{tmp_path_factory.mktemp('store')}"}
        return
    with s3_server() as wire:
        yield {**KEYS, "WMS_FILES_URL": "s3://wms", "WMS_FILES_ENDPOINT": wire.address}


@pytest.fixture
def machine(request, kind, title, install, service, tmp_path, monkeypatch) -> Iterator[Machine]:
    if (kind, title) not in SHARE and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    if kind == "folder":
        yield Machine(Installation(install().data, service, ONE_AT_A_TIME), IN_A_FOLDER)
        return
    lakes = Lakes(request.getfixturevalue("postgres_url"))
    if kind == "lake":
        stored = request.getfixturevalue("store")
        for name in stored.keys() & KEYS.keys():
            monkeypatch.setenv(name, stored[name])
        url = f"{stored['WMS_FILES_URL']}/{tmp_path.name}"
        own = {**stored, "WMS_FILES_URL": url, "WMS_PAGE_SIZE": "50", **on_lake(lakes.new())}
        yield Pods(Installation(tmp_path / "data", service, {**ONE_AT_A_TIME, **own}), IN_A_LAKE)
    else:
        settings = {**ONE_AT_A_TIME, "WMS_STATE_URL": lakes.new()}
        yield Machine(Installation(install().data, service, settings), IN_A_FOLDER)
    lakes.remove()


def suspended(installation: Installation, moment: Moment, *command: str) -> ForkServerProcess:
    """The command, which has come to the moment and stands still."""
    process = installation.start(*command, kill=moment)
    wait_until(f"standing still at {moment}", 120, lambda: not process.is_alive() or stands_still(process))
    assert process.is_alive(), installation.log.read_text()
    return process


def stands_still(process: ForkServerProcess) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def suspended_at(title: str, machine: Machine) -> tuple[Installation, ForkServerProcess]:
    """A run that is suspended there; what it needs was done before."""
    command, name, number = machine.moments[title]
    machine.prepare(command)
    installation = machine.next()
    return installation, suspended(installation, Moment(name, number, signal.SIGSTOP), command)


def resumed(process: ForkServerProcess) -> int | None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGCONT)
    process.join()
    return process.exitcode


@pytest.mark.parametrize(("kind", "title"), CASES)
def test_a_run_that_was_overtaken_writes_nothing(title, machine, expected):
    first, process = suspended_at(title, machine)
    machine.take_lock()
    second = machine.next()
    overtaking = second.run("sync")
    assert overtaking.exitcode in ENDED, second.log.read_text()
    made, said = machine.state(), len(first.log.read_text())
    assert resumed(process) == 1, first.log.read_text()
    told = first.log.read_text()[said:]
    assert re.search(rf"process {overtaking.pid} on .* has taken over", told, re.DOTALL), told
    assert "Run again" in told
    assert "Traceback" not in told
    assert machine.state() == made
    assert list(first.layout.turns.iterdir()) == []
    assert second.differences(expected) == []
    second.assert_coverage_is_true()


@pytest.mark.parametrize("which", [LOCKS, "true"], ids=["the lock's session", "all sessions"])
@pytest.mark.parametrize(("kind", "title"), [("lake", title) for title in IN_A_LAKE])
def test_a_pod_loses_its_sessions(title, which, machine, expected, request):
    """It ends with an error or, as long as no other run takes over, with new sessions."""
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak: tests/targets/test_lake.py loses the session of a commit")
    pod, process = suspended_at(title, machine)
    machine.end_sessions(which)
    exitcode, log = resumed(process), pod.log.read_text()
    assert exitcode in ENDED or re.search(
        "has ended|does not answer|could not be committed|Maintenance of the lake stopped", log
    ), log
    assert "Traceback" not in log
    assert not pod.target.is_published or pod.differences(expected) == []
    following = machine.next()
    following.runs("sync")
    assert following.differences(expected) == []


RECORDING = Moment(f"{RECORD}: before commit", 4, signal.SIGSTOP)


def test_nobody_takes_over_during_a_state_write(install, service, expected, request):
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak: it waits for as long as the one who takes over does")
    machine = Machine(Installation(install().data, service, ONE_AT_A_TIME), IN_A_FOLDER)
    installation = machine.next()
    first = suspended(installation, RECORDING, "sync")
    machine.take_lock()
    installation.runs("sync", exitcodes=(1,))
    told = installation.log.read_text()
    assert "The epoch cannot be raised" in told
    assert "Traceback" not in told
    assert resumed(first) in ENDED, installation.log.read_text()
    assert installation.differences(expected) == []


ROWS = 100
RECORDED = "PushLedger.record > Guarded._transaction: after commit"
PUSHED = {
    "retailers": ("code,name", "R{number},Name {number}", 0, f"Push._top_up > Push._intend > {RECORDED}"),
    "products": (
        "type,sku,name",
        "Product,P{number},Name {number}",
        3,
        f"Push._intend > JournaledLedger.record > {RECORDED}",
    ),
}
"""By kind: header, row, exit code, and the moment when the first creates are intended and none has been sent."""


@pytest.mark.parametrize("kind", PUSHED)
def test_a_push_that_was_overtaken_sends_no_create(kind, tmp_path):
    header, row, exitcode, intended = PUSHED[kind]
    path = tmp_path / "given.csv"
    path.write_text("\n".join([header, *(row.format(number=number) for number in range(ROWS))]) + "\n")
    with SandboxServer(Sandbox(CONFIG)) as server:
        installation = Installation(tmp_path / "data", server)
        first = suspended(installation, Moment(intended, 1, signal.SIGSTOP), "push", kind, str(path))
        Machine(installation, {}).take_lock()
        installation.runs("push", kind, str(path), exitcodes=(exitcode,))
        sent = creates(server)
        assert resumed(first) == 1, installation.log.read_text()
        assert f"push {kind} (run " in installation.log.read_text()
        assert "has taken over" in installation.log.read_text()
        assert creates(server) == sent
        made = server.sandbox.retailers() if kind == "retailers" else server.sandbox.products()
    names = [one["code" if kind == "retailers" else "sku"] for one in made]
    assert len(names) == len(set(names))
    with PushLedger(f"sqlite:///{installation.data / 'state.db'}") as ledger:
        unsure = {entry.key for entry in ledger.unsure()}
        there = {entry.key for entry in ledger.all() if entry.state is State.CREATED}
    assert there == set(names)
    assert len(there) + len(unsure) == ROWS
    assert bool(unsure) == (kind == "products")  # which nobody sends again unasked


def creates(server: SandboxServer) -> int:
    """How many creates the service was sent."""
    return sum(one.method == "POST" for one in server.sandbox.requests)
