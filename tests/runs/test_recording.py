"""What is recorded of a run, whatever ends it."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from wms_sync.runs.recording import SUCCEEDED, Ended, Recording
from wms_sync.state.runs import RunRecords


def test_an_interrupt_while_duckdb_runs_a_query_ends_the_run_as_interrupted(bench):
    recording = Recording(bench.settings, "run", "rebuild", "test")

    def run(connection: duckdb.DuckDBPyConnection) -> None:
        with recording.phase("rebuild", counts=dict, end=lambda: SUCCEEDED):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            connection.execute("select sum(hash(range)) from range(1000000000)").fetchall()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with duckdb.connect(config={"threads": "1"}) as connection, pytest.raises(KeyboardInterrupt):
            run(connection)
    finally:
        signal.signal(signal.SIGINT, before)
    with RunRecords(bench.settings.database_url) as records:
        assert [(one.outcome, one.error_kind) for one in records.newest(1)] == [("interrupted", "KeyboardInterrupt")]


def test_a_file_that_the_system_refuses_is_named_in_the_record_and_any_other_defect_by_its_kind_only(tmp_path):
    with pytest.raises(IsADirectoryError) as refused:
        tmp_path.read_bytes()
    ended = Ended.by(refused.value)
    assert str(ended.error).startswith(f"{tmp_path} cannot be used (Is a directory).")
    assert ended.kind == "Inaccessible"
    assert Ended.by(OSError("something private")).error == "OSError; the run's log has the details"
