"""Measure the peak memory of the first sync at N and at 3 N: it must not grow with the number of shipments."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import Figure, Section
from benchmarks.runs import Folder, Run
from benchmarks.service import serving

TIMES = 3
WARM_PAGES = 5


def memory(shipments: int, scratch: Path) -> Section:
    """Run one first sync per size."""
    runs = {size: _first_sync(size, scratch / "memory") for size in (shipments, TIMES * shipments)}
    small, large = (run.cost.memory for run in runs.values())
    return Section(
        name="memory",
        title="Peak memory of the first sync",
        rows=[{"shipments": size, **run.cost.as_row()} for size, run in runs.items()],
        figures=[
            Figure(f"peak at {TIMES * shipments:,}", large, "MiB"),
            Figure(f"peak at {TIMES * shipments:,} / peak at {shipments:,}", large / small),
        ],
    )


def _first_sync(shipments: int, path: Path) -> Run:
    with serving(shipments) as service:
        service.warm_up(WARM_PAGES)
        folder = Folder(path, service)
        run = folder.command_line("sync")
        folder.remove()
    return run
