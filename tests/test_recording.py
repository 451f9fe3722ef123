"""What is recorded of a run, whatever ends it, and what the system refuses is said in our own words."""

import errno
import os
import signal
import threading
from contextlib import ExitStack

import duckdb
import pytest

from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles
from wms_sync.logs import Lines, handling
from wms_sync.recording import SUCCEEDED, Counts, Ended, Recording
from wms_sync.state.errors import StateLost
from wms_sync.state.holder import Holder
from wms_sync.state.lock import FileLock
from wms_sync.state.run_records import RunRecords
from wms_sync.storage.durable import Inaccessible
from wms_sync.targets.errors import reported_refusals

LARGER_THAN_ANY_MACHINE = 1 << 46


@pytest.fixture(autouse=True)
def _interrupts() -> None:
    """Let SIGINT raise KeyboardInterrupt; it is ignored where the tests run in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_record_is_written_under_the_lock(bench):
    recording, lock = Recording(bench.settings, "run", "backfill", "test"), FileLock(bench.layout)
    held: list[Holder | None] = []

    def counts() -> Counts:
        held.append(lock.holder())
        return {step: 1}

    with RunRecords.opened(bench.settings.database_url) as records:
        for step in ("read", "load"):
            with recording.phase(step, counts=counts, end=lambda: SUCCEEDED) as mine:
                me = lock.holder()
                assert {str(holder)[:19] for holder in (mine.lease.row, me)} == {"backfill (run run, "}
                assert [record.outcome for record in records.as_they_are(bench.layout)] == ["running"]
            assert (held.pop(), lock.holder()) == (me, None)
        [record] = records.newest(5)
    assert (record.outcome, {*record.phases}, record.counts) == ("succeeded", {"read", "load"}, {"read": 1, "load": 1})


def test_a_run_without_its_lock_is_recorded(bench):
    def never(name: str) -> None:
        with Recording(bench.settings, name, "sync", "test").phase(name, counts=dict, end=lambda: SUCCEEDED):
            pytest.fail("it has no lock")

    stop = Lines(lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with FileLock(bench.layout).hold("a suspended run"), handling(stop), pytest.raises(KeyboardInterrupt):
        never("stopped")
    bench.layout.lock("writer").unlink()
    bench.layout.lock("writer").mkdir()
    with pytest.raises(Inaccessible):
        never("failed")
    with RunRecords.opened(bench.settings.database_url) as records:
        assert [(one.run_id, one.outcome, one.phases) for one in records.newest(5)] == [
            ("failed", "failed", {}),
            ("stopped", "interrupted", {}),
        ]


def test_a_state_store_that_is_lost_while_a_run_waits_is_restored_by_the_next(bench):
    recording, earlier = Recording(bench.settings, "run", "backfill", "test"), ExitStack()

    def begin() -> object:
        with recording.phase("read", counts=dict, end=lambda: SUCCEEDED) as store:
            return getattr(store.snapshots.installation(), "id", None)

    known = begin()
    earlier.enter_context(FileLock(bench.layout).hold("an earlier run"))
    earlier.callback(bench.layout.state.unlink)
    with handling(Lines(lambda *_: earlier.close())), pytest.raises(StateLost):
        begin()
    assert begin() == known


def test_an_interrupt_during_a_query_ends_the_run(bench):
    recording = Recording(bench.settings, "run", "rebuild", "test")

    def run(connection: duckdb.DuckDBPyConnection) -> None:
        with recording.phase("rebuild", counts=dict, end=lambda: SUCCEEDED):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            connection.execute("select sum(hash(range)) from range(1000000000)").fetchall()

    with duckdb.connect(config={"threads": "1"}) as connection, pytest.raises(KeyboardInterrupt):
        run(connection)
    with RunRecords.opened(bench.settings.database_url) as records:
        assert [(one.outcome, one.error_kind) for one in records.newest(1)] == [("interrupted", "KeyboardInterrupt")]


def test_a_record_names_a_refused_file(tmp_path):
    with pytest.raises(IsADirectoryError) as refused:
        tmp_path.read_bytes()
    ended = Ended.by(refused.value)
    assert f"{ended.kind}: {ended.error}".startswith(f"Inaccessible: {tmp_path} cannot be used (Is a directory).")
    assert Ended.by(OSError("something private")).error == "OSError; the run's log has the details"


def test_what_the_system_refuses_is_told():
    with pytest.raises(OutOfMemory), reported_refusals():
        b"." * LARGER_THAN_ANY_MACHINE
    before = threading.stack_size(LARGER_THAN_ANY_MACHINE)
    try:
        with pytest.raises(NoThread), reported_refusals():
            threading.Thread().start()
    finally:
        threading.stack_size(before)
    with pytest.raises(RuntimeError, match="something else"), reported_refusals():
        raise RuntimeError("something else")
    with pytest.raises(TooManyFiles, match="ulimit -n"), reported_refusals():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "page-00001.json.gz")
