"""Opening the state store where this process has it open already, and others open and close it too."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tests.conftest import turn_at
from tests.state.conftest import take_migration_back
from wms_sync.intervals import Interval
from wms_sync.state.errors import StateUrlError
from wms_sync.state.store import StateStore, Window

ELSEWHERE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("select count(*) from windows").fetchone()[0])
connection.close()
"""
"""Whoever closes a database last takes its log away."""


def test_what_is_written_after_a_second_opening_is_there_for_others(tmp_path):
    """To open and close the file beside SQLite dropped its locks: another process then deleted the log in use."""
    url = f"sqlite:///{tmp_path}/state.db"
    turn = turn_at(url, tmp_path)
    store = StateStore(url, turn)
    StateStore(url).close()
    assert counted(tmp_path / "state.db") == 0
    day = Interval(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC))
    store.begin_windows([Window.begun("w1", day, reason="sync", run_id="run", signature="s", service=None)])
    assert counted(tmp_path / "state.db") == 1
    store.close()
    turn.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_state_store_that_would_forget_everything_is_refused(url):
    with pytest.raises(StateUrlError, match="names no file"):
        StateStore(url)


def test_windows_of_an_earlier_release_learn_to_tell_their_service(tmp_path):
    url = f"sqlite:///{tmp_path}/state.db"
    take_migration_back(url, "0007_service_of_windows", "alter table windows drop column service")
    with StateStore(url) as store:
        assert store.windows() == ()
        assert store.service() is None


def counted(path) -> int:
    """How many windows another process finds."""
    said = subprocess.run([sys.executable, "-c", ELSEWHERE, str(path)], capture_output=True, text=True, check=True)
    return int(said.stdout)
