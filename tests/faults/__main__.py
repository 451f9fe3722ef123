"""Plant each fault in a copy of the source, and see the tests that prove the promise fail: ``make faults``.

A fault is caught if pytest ends with 1 and names a test that failed, and if that test passes without the fault. It
survives if all of its tests pass. Anything else (a file that cannot be collected, a run that does not end) is no
verdict. Only what is caught is well.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
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
READABLE = 0o755
"""PostgreSQL runs as another user."""
MOST_SECONDS = 900
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - |$)", re.MULTILINE)
WHERE = "import pipelines, wms_sandbox, wms_sync; print(*pipelines.__path__, *wms_sandbox.__path__, *wms_sync.__path__)"


class Outcome(NamedTuple):
    """What became of a fault: ``caught``, ``survived`` or what went wrong; which test failed first."""

    verdict: str
    seconds: float
    failed: str = ""


def main() -> int:
    """Plant the faults that were chosen, print a line for each, and return 1 unless all were caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("-k", default="", metavar="TEXT", help="only faults whose sentence, file or tests have this")
    parser.add_argument("-j", type=int, default=2, metavar="N", help="so many at a time")
    parser.add_argument("--whole", action="store_true", help="run every test on a fault that its own tests let pass")
    parser.add_argument("--logs", type=Path, help="folder for what pytest printed")
    given = parser.parse_args()
    chosen = [fault for fault in FAULTS if given.k in " ".join((fault.sentence, fault.file, *fault.tests))]
    outcomes = []
    with ThreadPoolExecutor(given.j) as pool:
        for fault, outcome in zip(chosen, pool.map(partial(tried, given), chosen), strict=True):
            print(f"{outcome.verdict:<9} {outcome.seconds:5.0f} s  {fault.sentence}  {outcome.failed}", flush=True)
            outcomes.append(outcome)
    anyway = failing_anyway({outcome.failed.partition("[")[0] for outcome in outcomes if outcome.failed}, given.j)
    for test in sorted(anyway):
        print(f"fails without a fault too, so it has caught none: {test}")
    caught = sum(one.verdict == "caught" and one.failed.partition("[")[0] not in anyway for one in outcomes)
    print(f"{len(outcomes)} planted, {caught} caught, {len(outcomes) - caught} not")
    return 0 if outcomes and caught == len(outcomes) else 1


def tried(given: argparse.Namespace, fault: Fault) -> Outcome:
    """Return what became of a fault."""
    outcome = run(fault, fault.tests, given.logs)
    if outcome.verdict == "survived" and given.whole:
        return run(fault, ["tests"], given.logs)
    return outcome


def run(fault: Fault, tests: Sequence[str], logs: Path | None = None) -> Outcome:
    """Run tests against a copy of the source with the fault, until the first one fails."""
    started = monotonic()
    try:
        ended = tested(fault, ["-x", *tests])
    except subprocess.TimeoutExpired:
        return Outcome("no end", monotonic() - started)
    if logs is not None:
        (logs / f"{re.sub(r'[^a-z0-9]+', '-', fault.sentence.lower())}.log").write_text(ended.stdout + ended.stderr)
    failed = FAILED.search(ended.stdout)
    if ended.returncode == 1 and failed is not None:
        return Outcome("caught", monotonic() - started, failed[1])
    return Outcome("survived" if ended.returncode == 0 else f"exit {ended.returncode}", monotonic() - started)


def failing_anyway(tests: Iterable[str], at_once: int) -> set[str]:
    """Return those of these tests that fail in a copy without a fault."""
    if not (named := sorted(tests)):
        return set()
    ended = tested(None, ["-n", str(at_once), *named])
    if ended.returncode not in {0, 1}:
        raise RuntimeError(ended.stdout + ended.stderr)
    return {failed.partition("[")[0] for failed in FAILED.findall(ended.stdout)}


def tested(fault: Fault | None, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run pytest in a copy of the source, with a fault or without."""
    with TemporaryDirectory(prefix="fault-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        copy, scratch = Path(folder) / "copy", Path(folder) / "scratch"
        copied_to(copy)
        scratch.mkdir()
        for readable in (copy.parent, copy, scratch):
            readable.chmod(READABLE)
        if fault is not None:
            planted = fault.planted(copy)
            (copy / fault.file).write_text(planted, encoding="utf-8")
        # before the installed package; what the tests start inherits it
        environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}", "PYTEST_DEBUG_TEMPROOT": str(scratch)}
        refuse_another_source(copy, environment)
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", *arguments]
        most = MOST_SECONDS if fault is not None else None
        return subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=most, check=False
        )


def copied_to(copy: Path) -> None:
    """Copy the source, the tests and what they read, with Python's compiled files."""
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, copy / path.name)


def refuse_another_source(copy: Path, environment: dict[str, str]) -> None:
    """Make sure that Python imports the copy, and not the package that is installed."""
    command = [sys.executable, "-c", WHERE]
    found = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=True).stdout
    if elsewhere := [path for path in found.split() if not Path(path).is_relative_to(copy)]:
        raise RuntimeError(f"not the copy with the fault would be tested, but {', '.join(elsewhere)}")


if __name__ == "__main__":
    sys.exit(main())
