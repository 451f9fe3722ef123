"""Measure a night of 1,000 changes, at two sizes of the database that differ by a factor of ten.

Nights from the command line alone and nights with a Dagster home take turns on the same database. Each is measured as a
whole and split: `read` and `load` are what the command prints, and the rest is starting the process and Dagster. After
each night its bound is measured: what it costs to change the same rows, and nothing else (`contenders.bound`). Of
several nights, the one with the median CPU time counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bound import Bound
from benchmarks.report import Figure, Row, Section
from benchmarks.runs import Folder, Run
from benchmarks.service import serving

APART = 10
CHANGES = {"changed": 800, "new": 100, "orders": 100}
PASSED_SECONDS = 3600
WARM_PAGES = 5
ALONE, WITH_HOME = "without a Dagster home", "with one"
BOUND = "its rows and nothing else"
WAYS = (ALONE, WITH_HOME)


def night(shipments: int, scratch: Path, *, nights: int) -> Section:
    """Measure nights at `shipments` / 10 and at `shipments`."""
    runs = {size: _nights(size, scratch / "night", nights) for size in (shipments // APART, shipments)}
    return Section(
        name="night",
        title=f"A night of {sum(CHANGES.values()):,} changes, median of {nights}",
        rows=[_row(size, way, run) for size, by_way in runs.items() for way, run in by_way.items()],
        figures=[Figure(f"CPU {way}, {shipments:,} shipments", runs[shipments][way].cost.cpu, "s") for way in WAYS]
        + [
            Figure(f"CPU {way}, {shipments:,} shipments, over its bound", _over_bound(runs[shipments], way))
            for way in WAYS
        ],
    )


def _over_bound(runs: dict[str, Run], way: str) -> float:
    return runs[way].cost.cpu / runs[f"{way}: {BOUND}"].cost.cpu


def _nights(shipments: int, path: Path, nights: int) -> dict[str, Run]:
    with serving(shipments) as service:
        service.warm_up(WARM_PAGES)
        folder = Folder(path, service)
        homes = {ALONE: None, WITH_HOME: folder.home()}
        folder.command_line("sync")
        runs: dict[str, list[Run]] = {way: [] for way in homes}
        for _ in range(nights):
            for way, home in homes.items():
                service.advance(seconds=PASSED_SECONDS, **CHANGES)
                bound = Bound(folder)
                runs[way].append(folder.command_line("sync", dagster_home=home))
                runs.setdefault(f"{way}: {BOUND}", []).append(bound.measure(home))
        folder.remove()
    return {way: median(of_way) for way, of_way in runs.items()}


def median(runs: Sequence[Run]) -> Run:
    """Return the run with the median CPU time."""
    return sorted(runs, key=lambda run: run.cost.cpu)[len(runs) // 2]


def _row(shipments: int, way: str, run: Run) -> Row:
    cost, phases = run.cost, run.phases
    return {
        "night": f"{shipments:,} shipments, {way}",
        **cost.as_row(),
        "read s": phases["read"],
        "load s": phases["load"],
        "start and Dagster s": cost.wall - phases["read"] - phases["load"],
    }
