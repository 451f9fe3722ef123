"""`python -m benchmarks`: run benchmarks, print tables, save the results as JSON."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from benchmarks.dagster_overhead import dagster_overhead
from benchmarks.first_sync import first_sync
from benchmarks.large import large
from benchmarks.measuring import ContenderFailed
from benchmarks.memory import memory
from benchmarks.night import night
from benchmarks.persons import persons
from benchmarks.report import Section, save, show

RESULTS = Path("bench-data")
WIDTH = 200


def main(arguments: list[str]) -> int:
    """Run the chosen benchmarks, all by default. Return 1 if a contender failed, after running the others."""
    options = _parser().parse_args(arguments)
    scratch = options.results / "scratch"
    benchmarks = _benchmarks(options, scratch)
    console, sections = Console(width=None if sys.stdout.isatty() else WIDTH), []
    failed = False
    for name in options.benchmarks or benchmarks:
        try:
            sections.append(benchmarks[name]())
        except ContenderFailed as failure:
            failed = True
            console.print(f"{name}: {failure}", markup=False, highlight=False)
        else:
            show(sections[-1], console)
    shutil.rmtree(scratch, ignore_errors=True)
    console.print(f"Results: {save(sections, options.results, arguments)}", highlight=False, soft_wrap=True)
    return int(failed)


def _benchmarks(options: argparse.Namespace, scratch: Path) -> Mapping[str, Callable[[], Section]]:
    return {
        "first-sync": lambda: first_sync(
            options.shipments, scratch, rounds=options.rounds, with_dlt=not options.without_dlt
        ),
        "night": lambda: night(options.night_shipments or options.shipments, scratch, nights=options.nights),
        "memory": lambda: memory(options.shipments, scratch),
        "large": lambda: large(options.large_shipments, options.memory_limit, scratch),
        "dagster": lambda: dagster_overhead(scratch, days=options.days),
        "persons": lambda: persons(scratch),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    choices = ("first-sync", "night", "memory", "large", "dagster", "persons")
    parser.add_argument(
        "benchmarks",
        nargs="*",
        choices=[*choices, []],
        metavar="BENCHMARK",
        help=f"of {', '.join(choices)}; all by default",
    )
    parser.add_argument("--shipments", type=int, default=100_000, help="N; memory is also measured at 3 N")
    parser.add_argument("--night-shipments", type=int, help="the larger database of a night; N unless given")
    parser.add_argument("--large-shipments", type=int, default=1_000_000, help="of the night with little memory")
    parser.add_argument("--memory-limit", default="300MB", help="WMS_MEMORY_LIMIT of that night")
    parser.add_argument("--rounds", type=int, default=1, help="of the first sync; the median counts")
    parser.add_argument("--nights", type=int, default=3, help="a size; the median counts")
    parser.add_argument("--days", type=int, default=1000, help="of the range that Dagster is measured with")
    parser.add_argument("--without-dlt", action="store_true", help="leave dlt out: no .venv-bench is needed")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON, and of scratch files")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
