"""The disk is full: runs fail with what to do and the next one continues, and what only reads still answers.

Commands run on a small disk of their own: a file system in memory, in a mount namespace.
"""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import queried
from tests.survival.installation import Installation
from tests.survival.victims import VICTIMS

DISK = """
set -e
disk="$1"
mount -t tmpfs -o size=$2 tmpfs "$disk"
cp -r "$3" "$disk/data"
export WMS_DATA_DIR="$disk/data"
set +e
run() {
    "$python" -c "import sys; from wms_sync.cli.main import main; main(sys.argv[1:])" "$@"
    echo "$1 ended with $?"
}
free_space() { mount -o remount,size=1g "$disk"; }
"""
needs_a_disk = pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode != 0,
    reason="mounting a small disk is not permitted here",
)
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


def room_of(seed: int) -> int:
    """From 12 KiB to 4 MiB, most of them small."""
    return int(4096 * 10 ** random.Random(seed).uniform(0.5, 3.0))


def on_full_disk(installation: Installation, folder: Path, room: int, script: str) -> str:
    """Copy the data folder to a disk with ``room`` bytes beside it, and run lines of a shell; return what they said.

    ``run COMMAND...`` says how the command ended, ``free_space`` ends the shortage, and the data folder is copied back
    at the end. ``$result`` is the folder.
    """
    disk = folder / "disk"
    disk.mkdir()
    used = sum(path.stat().st_blocks * 512 for path in installation.data.rglob("*") if path.is_file())
    lines = f'{DISK}{script}\nrm -r "$3"\ncp -r "$WMS_DATA_DIR" "$3"\n'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", lines, "sh", disk, str(used + room), installation.data],
        env={**os.environ, **installation.environment, "python": sys.executable, "result": str(folder)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    return said


@needs_a_disk
@pytest.mark.seeds("sizes of a disk that gets full, for a night")
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
@pytest.mark.parametrize(("room", "first", "command", "says"), FAILS.values(), ids=FAILS)
def test_a_command_without_room(room, first, command, says, install, receiver, tmp_path):
    """Each ends with 1: a status because the data is old. A sync sends the alert itself."""
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


@needs_a_disk
@pytest.mark.seeds("sizes of a disk that gets full, for a forget")
def test_a_forget_on_a_full_disk_is_finished(seed, request, tmp_path):
    """Until there is space, a rebuild that finishes the forget fails as it did."""
    victim = VICTIMS["forget"]
    installation = victim.begin(request, tmp_path / "read")
    script = f"run {' '.join(victim.command(request, installation))}\nrun rebuild\nfree_space\n"
    said = on_full_disk(installation, tmp_path, room_of(seed), script)
    assert re.findall(r"(\w+) ended with (\d)", said) == [("forget", "1"), ("rebuild", "1")], said
    assert "No space left on device" in said or "Its disk is full" in said, said
    victim.prove(request, installation, seed)
