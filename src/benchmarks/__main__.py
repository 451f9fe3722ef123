"""`make bench`: wms-sync beside dlt and the floor. BENCH chooses, and has options: BENCH="night --shipments 10000"."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from benchmarks.contenders import DLT, contenders
from benchmarks.measuring import ContenderFailed
from benchmarks.persons import persons
from benchmarks.trials import first_sync, growth, night

NAMES = ("first-sync", "night", "growth", "persons")
FOLDER = Path("bench-data")
"""What contenders store. It is deleted at the end."""


def main(arguments: list[str]) -> int:
    """Run the chosen benchmarks. Return 1 if one failed, after running the others."""
    options = parser().parse_args(arguments)
    rounds = options.rounds
    benchmarks = {
        "first-sync": lambda: first_sync(options.shipments, rounds, FOLDER, persons=options.persons),
        "night": lambda: night(options.shipments, rounds, FOLDER),
        "growth": lambda: growth(options.shipments, options.sizes, rounds, FOLDER),
        "persons": lambda: persons(rounds, FOLDER),
    }
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[2]:.1f} over the last quarter of an hour")
    if DLT not in contenders():
        print("dlt is left out: it is not installed (`make .venv-bench/.installed`)")
    failed = False
    for name in options.benchmarks or NAMES:
        try:
            benchmarks[name]()
        except ContenderFailed as failure:
            failed = True
            print(f"{name}: {failure}\n", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    return int(failed)


def parser() -> argparse.ArgumentParser:
    """Return the parser of what BENCH has."""
    found = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    found.add_argument(
        "benchmarks", nargs="*", choices=[*NAMES, []], metavar="BENCHMARK", help=f"of {', '.join(NAMES)}"
    )
    found.add_argument(
        "--shipments", type=int, default=100_000, help="of first-sync and night; growth copies 5,000 of them"
    )
    found.add_argument("--sizes", type=int, nargs="+", default=(100_000, 1_000_000), help="shipments of growth")
    found.add_argument("--persons", action="store_true", help="first-sync: a person in each address, not requested")
    found.add_argument("--rounds", type=int, default=3, help="that count; their median is shown")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
