"""Plant each fault in a copy of the source, and see the tests that prove the promise fail: ``make faults``.

A fault is caught if pytest ends with 1 and names a test that failed. It survives if all of them pass. Anything else (a
test that cannot be collected, a run that does not end) is no verdict, and counts against it as well.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import NamedTuple

from tests.faults.every import FAULTS
from tests.faults.fault import Fault

ROOT = Path(__file__).parents[2]
COPIED = ("src", "pipelines", "sql", "tests", "docs", "deploy", ".requirements")
"""Folders; of the files beside them, all are copied."""
MEMORY = Path("/dev/shm")
MOST_SECONDS = 600
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)
WHERE = "import pathlib, pipelines, wms_sync, wms_sync.sql_files as s; print(*pipelines.__path__, *wms_sync.__path__)"


class Outcome(NamedTuple):
    """What became of a fault: ``caught``, ``survived`` or what went wrong; which test failed first."""

    verdict: str
    seconds: float
    failed: str


def main() -> int:
    """Plant the faults that were chosen, print a line for each, and return 1 unless all were caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("-k", default="", metavar="TEXT", help="only faults whose sentence, file or tests have this")
    parser.add_argument("-j", type=int, default=2, metavar="N", help="so many at a time")
    parser.add_argument(
        "--whole", action="store_true", help="run the whole tier for those that survive their own tests"
    )
    parser.add_argument("--logs", type=Path, help="folder in which to keep what pytest printed")
    given = parser.parse_args()
    chosen = [one for one in FAULTS if given.k in " ".join((one.sentence, one.file, *one.tests))]
    outcomes = []
    with ThreadPoolExecutor(given.j) as pool:
        for fault, outcome in zip(chosen, pool.map(partial(_tried, given), chosen), strict=True):
            print(f"{outcome.verdict:<9} {outcome.seconds:5.0f} s  {fault.sentence}  {outcome.failed}", flush=True)
            outcomes.append(outcome)
    caught = sum(one.verdict == "caught" for one in outcomes)
    print(f"{len(outcomes)} planted, {caught} caught, {len(outcomes) - caught} not")
    return 0 if outcomes and caught == len(outcomes) else 1


def _tried(given: argparse.Namespace, fault: Fault) -> Outcome:
    outcome = run(fault, fault.tests, given.logs)
    if outcome.verdict == "survived" and given.whole:
        return run(fault, ["tests"], given.logs)
    return outcome


def run(fault: Fault, tests: Sequence[str], logs: Path | None = None) -> Outcome:
    """Run tests against a copy of the source with the fault, until the first one fails."""
    started = monotonic()
    with TemporaryDirectory(prefix="fault-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        copy, scratch = Path(folder) / "copy", Path(folder) / "scratch"
        scratch.mkdir()
        _copy_to(copy)
        text = fault.planted(copy)
        (copy / fault.file).write_text(text, encoding="utf-8")
        # before the installed package; what the tests start inherits it
        environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}", "PYTEST_DEBUG_TEMPROOT": str(scratch)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _refuse_another_source(copy, environment)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=short", *tests]
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome("no end", monotonic() - started, "")
    if logs is not None:
        (logs / f"{re.sub(r'[^a-z0-9]+', '-', fault.sentence.lower())}.log").write_text(done.stdout + done.stderr)
    failed = FAILED.search(done.stdout)
    if done.returncode == 0:
        return Outcome("survived", monotonic() - started, "")
    if done.returncode != 1 or failed is None:
        return Outcome(f"exit {done.returncode}", monotonic() - started, "")
    return Outcome("caught", monotonic() - started, failed[1])


def _copy_to(copy: Path) -> None:
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, copy / path.name)


def _refuse_another_source(copy: Path, environment: dict[str, str]) -> None:
    """Make sure that Python imports the copy, and not the package that is installed."""
    found = subprocess.run(
        [sys.executable, "-c", WHERE], cwd=copy, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert all(Path(path).is_relative_to(copy) for path in found), found


if __name__ == "__main__":
    sys.exit(main())
