"""A suspended run that loses its lock: another one takes over, and the first writes nothing.

The moments are those behind which one rename or one transaction is all that is left to do: the look at the lease that
comes before has been passed. Runs read one page at a time, since one that is suspended in a transaction of the state
store holds up whoever takes over, as it should. A run of a lake is a pod: its disk is its own and gone afterwards, the
rest is in PostgreSQL and a store.
"""

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest

from tests.bench import CONFIG
from tests.lakes import Lakes, on_lake
from tests.postgres import end_sessions, plain
from tests.processes import Command
from tests.survival.installation import ENDED, SECONDS, Installation
from tests.survival.moments import Moment
from tests.survival.victims import BACKFILL
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.state.ledger import State

ONE_AT_A_TIME = {"WMS_MAX_PARALLEL_REQUESTS": "1"}
RECORD = "WindowReader._land > StateStore.record_page > StatePart._execute > Guarded._transaction"
PUT = "Lease.put_in_place > put_in_place: before replace"
MERGED = "PendingWindows.merge_next > PendingWindows._merge_batch > Merger.merge > Session.transaction: before commit"
IN_A_FOLDER = {
    "a page is landed": ("sync", Moment(f"FolderFiles.put > Lease.write_whole > {PUT}", 4)),
    "a page was landed": ("sync", Moment(f"FolderFiles.put > Lease.write_whole > {PUT.replace('before', 'after')}", 4)),
    "a page was recorded": ("sync", Moment(f"{RECORD}: after commit", 4)),
    "a window is closed": ("sync", Moment(f"FolderFiles.replace > Lease.write_whole > {PUT}", 1)),
    "a table's file is put in place": ("sync", Moment("_put_in_place > put_in_place: before replace", 5)),
    "windows are merged": ("sync", Moment(MERGED, 1)),
    "the tables are published": ("sync", Moment(f"Refresh._load > FileLoad.publish > {PUT}", 1)),
    "a rebuild is published": ("rebuild", Moment(f"Refresh._load > FileLoad.publish > {PUT}", 1)),
}
STORE = "BucketFiles.put > BucketFiles._asked > BucketFiles.put.<locals>.<lambda>"
COMMIT = "Refresh.run > Refresh._load > LakeLoad.publish"
IN_A_LAKE = {
    "a page is put": ("sync", Moment(f"land > {STORE}: before put", 4)),
    "a page was put": ("sync", Moment(f"land > {STORE}: after put", 4)),
    "a page was recorded": ("sync", Moment(f"{RECORD}: after commit", 4)),
    "a window was landed": (
        "sync",
        Moment(
            "StateStore.mark_landed > StateStore._update > StatePart._execute > Guarded._transaction: after commit", 1
        ),
    ),
    "a table's file is put": ("sync", Moment(f"BucketFiles._keep > {STORE}: before put", 5)),
    "a load begins": ("sync", Moment("refresh > Refresh.run > Refresh._load > begun: after begin", 1)),
    "rows are merged": (
        "sync",
        Moment(
            "PendingWindows._merge_batch > Merger.merge > Merger._merge_family > Merger._replace: before execute", 20
        ),
    ),
    "a load is committed": ("sync", Moment(f"refresh > {COMMIT}: before commit", 1)),
    "a load was committed": ("sync", Moment(f"refresh > {COMMIT}: after commit", 1)),
    "a rebuild is committed": (
        "rebuild",
        Moment("Refresh.run > Refresh._load > LakeRebuild.publish > LakeLoad.publish: before commit", 1),
    ),
    "files were put together": (
        "maintain",
        Moment("maintain > put_together > _put_together > committed: before commit", 1),
    ),
    "snapshots are expired": (
        "maintain",
        Moment("Lake.maintain > maintain > delete_replaced > committed: before commit", 1),
    ),
}
SHARE = {("folder", "a page is landed"), ("lake", "a load was committed")}
"""Of ``make proof``; ``tests/state/test_leases.py`` overtakes leases in both kinds of state store, and
``tests/targets/test_lake.py`` a writer of a lake before its commit."""
KEPT = """
select schemaname || '.' || tablename from pg_tables
where schemaname in ('public', 'lake') and tablename not in ('runs', 'sent_alerts', 'alerts')
order by 1
"""


@dataclass(frozen=True)
class Machine:
    """What runs an installation: in its folder, with its state there."""

    first: Installation

    def next(self) -> Installation:
        """The installation for the next run."""
        return self.first

    def take_lock(self) -> None:
        """What somebody does who takes a run for dead."""
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

    def take_lock(self) -> None:
        """As docs/how-to/scale.md has it."""
        end_sessions(self.first.store_url, "pid in (select pid from pg_locks where locktype = 'advisory' and granted)")

    def state(self) -> dict[str, object]:
        with psycopg.connect(plain(self.first.store_url)) as connection:
            return {
                table: sorted(connection.execute(f"select t::text from {table} as t").fetchall())
                for (table,) in connection.execute(KEPT).fetchall()
            }


@pytest.fixture
def machine(request, kind, title, install, service, tmp_path) -> Iterator[Machine]:
    if (kind, title) not in SHARE and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    if kind == "folder":
        yield Machine(Installation(install().data, service, ONE_AT_A_TIME))
        return
    lakes = Lakes(request.getfixturevalue("postgres_url"))
    stored = {"WMS_FILES_URL": f"file://{tmp_path}/store", "WMS_PAGE_SIZE": "50", **on_lake(lakes.new())}
    pods = Pods(Installation(tmp_path / "data", service, {**ONE_AT_A_TIME, **stored}))
    if IN_A_LAKE[title][0] != "sync":
        pods.next().runs(*BACKFILL)  # two loads make two files of a table, which maintenance puts together
        pods.next().runs("sync")
    yield pods
    lakes.remove()


def resumed(process: Command) -> str:
    """What it said at its end, of which an error is no traceback."""
    process.send_signal(signal.SIGCONT)
    ended = process.ended(SECONDS)
    assert (ended.returncode, "Traceback" in ended.said) == (1, False), ended.said
    return ended.said


@pytest.mark.parametrize(
    ("kind", "title"), [*(("folder", title) for title in IN_A_FOLDER), *(("lake", title) for title in IN_A_LAKE)]
)
def test_a_run_that_was_overtaken_writes_nothing(kind, title, machine, expected):
    command, moment = (IN_A_FOLDER if kind == "folder" else IN_A_LAKE)[title]
    first = machine.next()
    process = first.suspended(moment, command)
    machine.take_lock()
    second = machine.next()
    overtaking = second.start("sync")
    assert overtaking.ended(SECONDS).returncode in ENDED, overtaking.stderr
    made = machine.state()
    late = resumed(process)
    assert re.search(rf"process {overtaking.pid} on .* has taken over.* Run again", late, re.DOTALL), late
    assert machine.state() == made
    assert list(first.layout.leases.iterdir()) == []
    assert second.differences(expected) == []
    second.assert_coverage_is_true()


def test_a_push_that_was_overtaken_sends_no_create(tmp_path):
    path = tmp_path / "given.csv"
    path.write_text("type,sku,name\n" + "".join(f"Product,P{number},Name {number}\n" for number in range(100)))
    with SandboxServer(Sandbox(CONFIG)) as server:
        installation = Installation(tmp_path / "data", server)
        # the first creates are intended and none has been sent
        first = installation.suspended(
            Moment("Push._intend > PushLedger.record > StatePart._put > Guarded._transaction: after commit"),
            "push",
            "products",
            str(path),
        )
        Machine(installation).take_lock()
        installation.runs("push", "products", str(path), exitcodes=(3,))
        made = server.sandbox.products()
        late = resumed(first)
        assert re.search(r"push products \(run .* has taken over", late, re.DOTALL), late
        assert server.sandbox.products() == made
    states = {entry["key"]: entry["state"] for entry in installation.pushes_known()}
    assert len(states) == 100
    there = [key for key, state in states.items() if state is State.CREATED]
    assert sorted(there) == sorted(product["sku"] for product in made)
    assert len(there) < 100, "what was intended first is in doubt, and nobody sends it again unasked"
