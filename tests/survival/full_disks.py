"""Commands on a small disk of their own that gets full: a file system in memory, in a mount namespace."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.survival.installation import Installation

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


MOUNT = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
needs_a_disk = pytest.mark.skipif(MOUNT.returncode != 0, reason="mounting a small disk is not permitted here")


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
    environment = {**os.environ, **installation.environment, "python": sys.executable, "result": str(folder)}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", lines, "sh", disk, str(used + room), installation.data],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    return said
