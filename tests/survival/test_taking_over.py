"""A run is suspended, its lock is deleted by hand, another runs to its end, then the first goes on: it writes nothing.

The moments are those behind which one rename or one transaction is all that is left to do: the look at the turn that
comes before has been passed. Processes read one page at a time, since one that is suspended in a transaction of the
state store holds up whoever takes over, as it should.
"""

from __future__ import annotations

import os
import signal
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from tests.conftest import CONFIG
from tests.postgres import end_sessions
from tests.survival.installation import ENDED, Installation, wait_until
from tests.survival.moments import Moment
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.state.ledger import PushLedger, State
from wms_sync.state.store import StateStore

ONE_AT_A_TIME = {"WMS_MAX_PARALLEL_REQUESTS": "1"}
PUT = "Turn.put_in_place > put_in_place: before replace"
MOMENTS = {
    "a page is landed": ("sync", f"FolderFiles.put > Turn.write_whole > {PUT}", 4),
    "a page was landed": ("sync", f"FolderFiles.put > Turn.write_whole > {PUT.replace('before', 'after')}", 4),
    "a page was recorded": (
        "sync",
        "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction: after commit",
        4,
    ),
    "a window is closed": ("sync", f"FolderFiles.replace > Turn.write_whole > {PUT}", 1),
    "a table's file is put in place": (
        "sync",
        "_put_in_place > put_in_place: before replace",
        5,
    ),
    "windows are merged": (
        "sync",
        "PendingWindows._merge_batch > PendingWindows._merge > Merger.merge > Session.transaction: before commit",
        1,
    ),
    "the tables are published": ("sync", f"Refresh.run > FileLoad.publish > {PUT}", 1),
    "a rebuild is published": ("rebuild", f"Refresh.run > FileLoad.publish > {PUT}", 1),
}
SHARE = ("a page is landed", "the tables are published")
"""Of the normal suite."""


def suspended(installation: Installation, moment: Moment, *command: str) -> ForkServerProcess:
    """The command, which has come to the moment and stands still."""
    process = installation.start(*command, kill=moment)
    wait_until(f"standing still at {moment}", 60, lambda: not process.is_alive() or stands_still(process))
    assert process.is_alive(), installation.log.read_text()
    return process


def stands_still(process: ForkServerProcess) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def delete_locks(installation: Installation) -> None:
    """What somebody does who takes a run for dead: as docs/how-to/scale.md says where the state is in PostgreSQL."""
    if url := installation.settings.get("WMS_STATE_URL"):
        end_sessions(url, "pid in (select pid from pg_locks where locktype = 'advisory' and granted)")
        return
    for lock in installation.layout.work.glob("*.lock"):
        lock.unlink()


def goes_on(process: ForkServerProcess) -> int | None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGCONT)
    process.join()
    return process.exitcode


def state_of(installation: Installation) -> dict[str, object]:
    """Everything that a late writer could change, apart from its own leavings."""
    with StateStore(installation.settings.get("WMS_STATE_URL", f"sqlite:///{installation.data / 'state.db'}")) as store:
        windows = {window: store.pages(window.id) for window in store.windows()}
    layout = installation.layout
    kept = [*layout.raw.rglob("*"), *layout.parquet.rglob("*"), layout.published]
    return {"windows": windows} | {str(path): path.read_bytes() for path in kept if path.is_file()}


def take_over(installation: Installation, moment: Moment, command: str) -> None:
    """The whole story; what the second run made stays as it is."""
    first = suspended(installation, moment, command)
    delete_locks(installation)
    second = installation.run("sync")
    assert second.exitcode in ENDED, installation.log.read_text()
    made = state_of(installation)
    said = len(installation.log.read_text())
    assert goes_on(first) == 1, installation.log.read_text()
    told = installation.log.read_text()[said:]
    assert f"process {second.pid} on " in told
    assert "has taken over" in told
    assert "Run again" in told
    assert "Traceback" not in told
    assert state_of(installation) == made
    assert list(installation.layout.turns.iterdir()) == []


def assert_next_sync_is_clean(installation: Installation, expected) -> None:
    installation.service.sandbox.requests.clear()
    again = installation.run("sync")
    assert again.exitcode in ENDED, installation.log.read_text()
    assert installation.differences(expected) == []


@pytest.mark.parametrize("title", MOMENTS)
def test_a_run_that_was_overtaken_writes_nothing_more(title, install, service, expected, request):
    if title not in SHARE and not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    command, name, number = MOMENTS[title]
    installation = Installation(install().data, service, ONE_AT_A_TIME)
    take_over(installation, Moment(name, number, signal.SIGSTOP), command)
    installation.assert_coverage_is_true()
    assert_next_sync_is_clean(installation, expected)


def test_nor_with_its_state_in_postgresql(postgres_url, install, service, expected):
    installation = Installation(install().data, service, {**ONE_AT_A_TIME, "WMS_STATE_URL": postgres_url})
    name = MOMENTS["windows are merged"][1]
    take_over(installation, Moment(name, 1, signal.SIGSTOP), "sync")
    assert_next_sync_is_clean(installation, expected)


RECORDING = Moment(
    "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction: before commit",
    4,
    signal.SIGSTOP,
)


def test_nobody_takes_over_during_a_state_write(install, service, expected, request):
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak: it waits for as long as the one who takes over does")
    installation = Installation(install().data, service, ONE_AT_A_TIME)
    first = suspended(installation, RECORDING, "sync")
    delete_locks(installation)
    assert installation.run("sync").exitcode == 1, installation.log.read_text()
    told = installation.log.read_text()
    assert "The epoch cannot be raised" in told
    assert "Traceback" not in told
    assert goes_on(first) in ENDED, installation.log.read_text()
    assert installation.differences(expected) == []
    assert_next_sync_is_clean(installation, expected)


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
        delete_locks(installation)
        second = installation.run("push", kind, str(path))
        assert second.exitcode == exitcode, installation.log.read_text()
        sent = creates(server)
        assert goes_on(first) == 1, installation.log.read_text()
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
