"""`python -m benchmarks`: run benchmarks, print tables, save the results as JSON."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.dagster_overhead import dagster_overhead
from benchmarks.delay import delay
from benchmarks.file_size import file_size
from benchmarks.first_sync import first_sync
from benchmarks.growth import SIZES, growth
from benchmarks.lake import lake
from benchmarks.measuring import ContenderFailed
from benchmarks.memory import memory
from benchmarks.night import night
from benchmarks.persons import persons
from benchmarks.rebuild import rebuild
from benchmarks.report import Section, machine_in_words, save, show
from benchmarks.troubles import troubles

RESULTS = Path("bench-data")
USUAL = ("first-sync", "night", "delay", "rebuild", "memory", "dagster", "persons")
LONG = ("growth", "file-size", "lake", "troubles")
"""Run when they are named only."""


def main(arguments: list[str]) -> int:
    """Run the chosen benchmarks. Return 1 if a contender failed, after running the others."""
    options = _parser().parse_args(arguments)
    scratch = options.results / "scratch"
    benchmarks = _benchmarks(options, scratch)
    sections, failed = [], False
    for name in options.benchmarks or USUAL:
        try:
            section = replace(benchmarks[name](), command=_command(name, arguments))
        except ContenderFailed as failure:
            failed = True
            print(f"{name}: {failure}\n", flush=True)
        else:
            sections.append(section)
            show(section)
    shutil.rmtree(scratch, ignore_errors=True)
    print(machine_in_words())
    print(f"Results: {save(sections, options.results, arguments)}")
    return int(failed)


def _benchmarks(options: argparse.Namespace, scratch: Path) -> Mapping[str, Callable[[], Section]]:
    with_dlt = not options.without_dlt
    return {
        "first-sync": lambda: first_sync(options.shipments, scratch, rounds=options.rounds, with_dlt=with_dlt),
        "night": lambda: night(options.shipments, scratch, nights=options.nights),
        "delay": lambda: delay(options.shipments, scratch, with_dlt=with_dlt),
        "rebuild": lambda: rebuild(options.shipments, scratch),
        "memory": lambda: memory(options.shipments, scratch),
        "growth": lambda: growth(options.sizes, options.memory_limit, scratch, nights=options.nights),
        "file-size": lambda: file_size(options.shipments, scratch, nights=options.file_nights),
        "lake": lambda: lake(
            options.shipments, options.lake_url, scratch, nights=options.nights, copies=options.copies
        ),
        "troubles": lambda: troubles(options.troubled_shipments, scratch),
        "dagster": lambda: dagster_overhead(scratch, days=options.days),
        "persons": lambda: persons(scratch),
    }


def _command(name: str, arguments: list[str]) -> str:
    """Return what a user types to measure this again."""
    return f'make bench BENCH="{" ".join([name, *(word for word in arguments if word not in (*USUAL, *LONG))])}"'


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "benchmarks",
        nargs="*",
        choices=[*USUAL, *LONG, []],
        metavar="BENCHMARK",
        help=f"of {', '.join(USUAL)}; these by default, in a quarter of an hour. By name only: {', '.join(LONG)}",
    )
    parser.add_argument("--shipments", type=int, default=100_000, help="N; memory is also measured at 3 N")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="shipments of growth")
    parser.add_argument("--memory-limit", help="WMS_MEMORY_LIMIT of growth; the product's default unless given")
    parser.add_argument("--rounds", type=int, default=1, help="of the first sync; the median counts")
    parser.add_argument("--nights", type=int, default=3, help="a size; the median counts")
    parser.add_argument("--file-nights", type=int, default=100, help="over which the file's size is watched")
    parser.add_argument("--lake-url", help="an empty database of PostgreSQL for lake: postgresql+psycopg://...")
    parser.add_argument("--copies", type=int, default=1, help="what lake reads is multiplied so many times")
    parser.add_argument("--troubled-shipments", type=int, default=2000, help="of troubles")
    parser.add_argument("--days", type=int, default=1000, help="of the range that Dagster is measured with")
    parser.add_argument("--without-dlt", action="store_true", help="leave dlt out: no .venv-bench is needed")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON, and of scratch files")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
