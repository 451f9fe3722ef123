"""The disk is full: runs fail with what to do and the next one continues, and what only reads still answers."""

from __future__ import annotations

import shutil

import duckdb
import pytest

from tests.receiver import receiving
from tests.survival.counts import FULL_DISKS
from tests.survival.full_disks import needs_a_disk, on_full_disk, room_of
from tests.survival.installation import Installation

IS_FULL = "Its disk is full: free space on it, then run again."


@needs_a_disk
@pytest.mark.seeds(FULL_DISKS)
def test_a_full_disk_fails_a_run_with_advice(seed, install, expected, tmp_path):
    """The disk has so much room beside what a first sync left that something of a night fails, sooner or later."""
    installation: Installation = install("read")
    said = on_full_disk(
        installation,
        tmp_path,
        room_of(seed),
        """
        run sync
        cp "$WMS_DATA_DIR/analytics.duckdb" "$result/meanwhile.duckdb"
        free_space
        run sync
        """,
    )
    assert "sync ended with 1" in said, said
    assert "sync ended with 3" in said, said
    with duckdb.connect(tmp_path / "meanwhile.duckdb", read_only=True) as connection:
        assert connection.execute("select count(*) from shipments").fetchall() == [(240,)]
    shutil.rmtree(installation.data)
    shutil.copytree(tmp_path / "data", installation.data)
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


@needs_a_disk
def test_the_status_answers_on_a_full_disk(install, tmp_path):
    said = on_full_disk(install("read"), tmp_path, 0, "run status\nrun sync\nfree_space\n")
    assert "status ended with 1" in said, said  # the data is old
    assert "240  shipments" in said
    assert "sync ended with 1" in said
    assert IS_FULL in said


@needs_a_disk
@pytest.mark.parametrize("home", ["$1/home", "$result/home"], ids=["inside", "outside"])
def test_an_alert_of_a_full_disk_is_sent(install, tmp_path, home):
    """With Dagster's home on the same disk, and on another one."""
    with receiving() as receiver:
        said = on_full_disk(
            install("read"),
            tmp_path,
            0,
            f"""
            export WMS_ALERT_WEBHOOK_URL={receiver.url} DAGSTER_HOME={home}
            run sync
            free_space
            run sync
            """,
        )
    assert "sync ended with 1" in said, said
    assert "sync ended with 3" in said, said
    [told] = [body for body in receiver.taken if body["event"] == "run_failed"]
    assert "Its disk is full: free space on it, then run again." in told["text"]


@needs_a_disk
def test_status_after_a_kill_names_the_disk(install, tmp_path):
    """SQLite reads a log only with an index of it, for which there is no room."""
    said = on_full_disk(
        install("read"),
        tmp_path,
        4096,
        """
        echo "the log of a kill" > "$WMS_DATA_DIR/state.db-wal"
        run status
        rm "$WMS_DATA_DIR/state.db-wal"
        free_space
        """,
    )
    assert "status ended with 1" in said, said
    assert f"state.db cannot be used (disk I/O error). {IS_FULL}" in said


@needs_a_disk
def test_the_status_answers_on_a_read_only_disk(install, tmp_path):
    said = on_full_disk(install("read"), tmp_path, 2**20, "mount -o remount,ro $1\nrun status\nrun sync\n")
    assert "status ended with 1" in said, said  # the data is old
    assert "240  shipments" in said
    assert "sync ended with 1" in said
    assert "cannot be used (Read-only file system)" in said
