"""The disk is full: runs fail with what to do and the next one continues, and what only reads still answers."""

import re

import pytest

from tests.bench import queried
from tests.survival.counts import FULL_DISKS
from tests.survival.full_disks import needs_a_disk, on_full_disk, room_of

ADVICE = "Its disk is full: free space on it, then run again."
FREE_SPACE = re.compile(f"{re.escape(ADVICE)}|Nothing was read. Free disk space")
"""In the middle of a run, or before it: a read that needs more than there is does not begin."""
FAILS = {
    # room beside the data, what is done first, the command, and what it says
    "a sync sends its alert past the state store": (0, "", "sync", ADVICE),
    "status answers": (0, "", "status", "in 24 tables"),
    "status names the disk after a kill": (  # SQLite reads a log only with an index of it, for which there is no room
        4096,
        'echo "the log of a kill" > "$WMS_DATA_DIR/state.db-wal"',
        "status",
        f"state.db cannot be used (disk I/O error). {ADVICE}",
    ),
    "status answers on a read-only disk": (2**20, "mount -o remount,ro $disk", "status", "in 24 tables"),
    "a sync names a read-only disk": (
        2**20,
        "mount -o remount,ro $disk",
        "sync",
        "cannot be used (Read-only file system)",
    ),
}


@needs_a_disk
@pytest.mark.seeds(FULL_DISKS)
def test_a_full_disk_fails_a_run_with_advice(seed, install, expected, receiver, tmp_path):
    """The disk has so much room beside what a first sync left that something of a night fails, sooner or later."""
    installation = install("read")
    script = f"""
        export WMS_ALERT_WEBHOOK_URL={receiver.url}
        run sync
        cp "$WMS_DATA_DIR/analytics.duckdb" "$result/meanwhile.duckdb"
        free_space
        run sync
    """
    said = on_full_disk(installation, tmp_path, room_of(seed), script)
    assert re.findall(r"\w+ ended with \d", said) == ["sync ended with 1", "sync ended with 0"], said
    assert FREE_SPACE.search(said), said
    failed = [body["text"] for body in receiver.taken if body["finding"].startswith("run-")]
    assert any(FREE_SPACE.search(text) for text in failed), failed
    assert queried(tmp_path / "meanwhile.duckdb", "select count(*) from shipments") == [(240,)]
    assert installation.differences(expected) == []
    installation.assert_coverage_is_true()


@needs_a_disk
@pytest.mark.parametrize("title", FAILS)
def test_a_command_without_room(title, install, receiver, tmp_path):
    """Each ends with 1: a status because the data is old. A sync sends the alert itself."""
    room, first, command, says = FAILS[title]
    channels = f"export WMS_ALERT_WEBHOOK_URL={receiver.url} DAGSTER_HOME=$disk/home"
    said = on_full_disk(install("read"), tmp_path, room, f"{channels}\n{first}\nrun {command}\n")
    assert (f"{command} ended with 1" in said, says in said) == (True, True), said
    failed = [body["text"] for body in receiver.taken if body["finding"].startswith("run-")]
    assert [says in text for text in failed] == [True] * (command == "sync"), failed


@needs_a_disk
@pytest.mark.parametrize("of_its_own", [True, False])
def test_a_backup_without_room_leaves_no_backup(of_its_own, install, tmp_path):
    """On a full disk of its own, and on that of the data; the next backup is whole."""
    script = f"""
        backups="$disk/backups"
        mkdir "$backups"
        {'mount -t tmpfs -o size=200k tmpfs "$backups"' if of_its_own else ""}
        run backup "$backups"
        echo "left: $(ls -A "$backups")."
        {'mount -o remount,size=1g "$backups"' if of_its_own else "free_space"}
        run backup "$backups"
        run verify "$backups"
    """
    said = on_full_disk(install("read"), tmp_path, 2**20 if of_its_own else 4096, script)
    assert re.findall(r"(\w+) ended with (\d)", said) == [("backup", "1"), ("backup", "0"), ("verify", "0")], said
    assert (ADVICE in said, "left: ." in said) == (True, True), said
