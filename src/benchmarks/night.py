"""Measure a night of 1,000 changes, at two sizes of the database that differ by a factor of ten.

The command line is timed as a whole and split: `read` and `refresh` are what it prints, `publish` is how long the copy
for publishing existed (seen from outside), and the rest is Dagster and starting the process. Of several nights, the one
with the median wall time counts. The checks are timed once more afterwards, on the published file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import duckdb

from benchmarks.report import Figure, Row, Section
from benchmarks.runs import Folder, Run
from benchmarks.service import serving
from wms_sync.analytics.asking import ask_whole_tables
from wms_sync.analytics.checks import checks

APART = 10
CHANGES = {"changed": 800, "new": 100, "orders": 100}
PASSED_SECONDS = 3600
WARM_PAGES = 5
TIMES_HOPED = 1.5


@dataclass(frozen=True)
class Night:
    """The median night at one size."""

    shipments: int
    run: Run
    checks: float
    megabytes: float

    @property
    def without_copy(self) -> float:
        """Return the wall time without the published copy."""
        return self.run.cost.wall - self.run.phases["publish"]


def night(shipments: int, scratch: Path, *, nights: int) -> Section:
    """Measure nights at `shipments` / 10 and at `shipments`."""
    small, large = (_nights(size, scratch / "night", nights) for size in (shipments // APART, shipments))
    return Section(
        name="night",
        title=f"A night of {sum(CHANGES.values()):,} changes, median of {nights}",
        rows=[_row(small), _row(large)],
        figures=[
            Figure("wall without the copy, large / small", large.without_copy / small.without_copy, most=TIMES_HOPED),
            Figure("wall, large / small", large.run.cost.wall / small.run.cost.wall),
            Figure("CPU, large / small", large.run.cost.cpu / small.run.cost.cpu),
        ],
        notes=("checks: run once more on the published file; part of flatten, merge, check",),
    )


def _nights(shipments: int, path: Path, nights: int) -> Night:
    with serving(shipments) as service:
        service.warm_up(WARM_PAGES)
        folder = Folder(path, service)
        folder.command_line("sync")
        runs = []
        for _ in range(nights):
            service.advance(seconds=PASSED_SECONDS, **CHANGES)
            runs.append(folder.command_line("sync"))
        published = folder.layout.published
        outcome = Night(shipments, _median(runs), _checks_alone(published), published.stat().st_size / 1e6)
        folder.remove()
    return outcome


def _checks_alone(published: Path) -> float:
    with duckdb.connect(published, read_only=True, config={"threads": "2"}) as connection:
        connection.execute("set timezone = 'UTC'")
        started = monotonic()
        ask_whole_tables(lambda: nullcontext(connection), checks(), memory_limit="4GB")
        return monotonic() - started


def _median(runs: Sequence[Run]) -> Run:
    return sorted(runs, key=lambda run: run.cost.wall)[len(runs) // 2]


def _row(night: Night) -> Row:
    cost, phases = night.run.cost, night.run.phases
    return {
        "shipments": night.shipments,
        "published MB": night.megabytes,
        "wall s": cost.wall,
        "CPU s": cost.cpu,
        "peak MiB": round(cost.memory),
        "read s": phases["read"],
        "flatten, merge, check s": phases["refresh"] - phases["publish"],
        "of it checks s": night.checks,
        "publishing copy s": phases["publish"],
        "Dagster and start s": cost.wall - phases["read"] - phases["refresh"],
    }
