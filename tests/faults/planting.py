"""Plant each fault in a copy of the source, and see the tests that prove the promise fail.

``make soak SOAK="-n 2 tests/faults/planting.py"`` plants all.

A fault is caught if pytest ends with 1 and names a test that failed, and if that test passes in the copy once the
fault is taken out again. Anything else (a file that cannot be collected, a run that does not end) is no verdict.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.every import FAULTS

ROOT = Path(__file__).parents[2]
MEMORY = Path("/dev/shm")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.sentence)
def test_a_fault_is_caught(fault):
    with TemporaryDirectory(prefix="fault-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        copy = Path(folder) / "copy"  # of the source, the tests and what they read, with Python's compiled files
        for name in ("src", "pipelines", "sql", "tests", "docs", "deploy", ".requirements"):
            shutil.copytree(ROOT / name, copy / name, symlinks=True)
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy2(path, copy / path.name)
        copy.parent.chmod(0o755)  # PostgreSQL runs as another user
        planted, right = fault.planted(copy), (copy / fault.file).read_bytes()
        (copy / fault.file).write_text(planted, encoding="utf-8")
        ended = pytest_in(copy, "-x", *fault.tests)
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - |$)", ended.stdout, re.MULTILINE)
        assert ended.returncode == 1, ended.stdout
        assert failed, ended.stdout
        (copy / fault.file).write_bytes(right)
        assert pytest_in(copy, failed[1]).returncode == 0, f"without the fault {failed[1]} fails too"


def pytest_in(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the copy, which Python imports before the installed package; what the tests start inherits it."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}", "PYTEST_DEBUG_TEMPROOT": str(copy.parent)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
