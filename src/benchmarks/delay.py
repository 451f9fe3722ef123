"""Measure a first sync from a service that takes its time for each page, since that is what users have.

The least that the delay allows is the fewest pages that hold all shipments, times the delay, over the pages that may be
asked for at a time.
"""

from __future__ import annotations

from pathlib import Path

import httpx

from benchmarks.night import WARM_PAGES
from benchmarks.report import Figure, Row, Section
from benchmarks.runs import BENCH_PYTHON, Folder, Run, dlt_script
from benchmarks.service import PAGE_SIZE, PARALLEL, Service, serving
from benchmarks.slow_service import PAGES_ASKED

DELAYS = (0.3, 1.0)
OURS, DLT = "wms-sync sync", "dlt"


def delay(shipments: int, scratch: Path, *, with_dlt: bool = True) -> Section:
    """Run the product, and dlt, once per delay."""
    rows, figures = [], []
    for seconds in DELAYS:
        least = -(-shipments // PAGE_SIZE) * seconds / PARALLEL
        for name in (OURS, DLT) if with_dlt and BENCH_PYTHON.exists() else (OURS,):
            with serving(shipments, delay=seconds) as service:
                service.warm_up(WARM_PAGES)
                before = _pages_asked(service)
                run = _first_sync(name, Folder(scratch / "delay", service))
                rows.append(_row(name, seconds, least, run, _pages_asked(service) - before))
            if name == OURS:
                figures.append(Figure(f"wall, {seconds:g} s a page ({least:g} s are the least)", run.cost.wall, "s"))
    return Section(
        name="delay",
        title=f"First sync of {shipments:,} shipments from a service that takes its time",
        rows=rows,
        figures=figures,
        notes=(f"the least: pages of {PAGE_SIZE:,} shipments x seconds a page / {PARALLEL} at a time",),
    )


def _first_sync(name: str, folder: Folder) -> Run:
    run = folder.command_line("sync") if name == OURS else folder.script(dlt_script())
    folder.remove()
    return run


def _pages_asked(service: Service) -> int:
    return int(httpx.get(f"{service.base_url}{PAGES_ASKED}").raise_for_status().json())


def _row(name: str, seconds: float, least: float, run: Run, pages: int) -> Row:
    return {
        "contender": f"{name}, {seconds:g} s a page",
        "wall s": run.cost.wall,
        "over the least": run.cost.wall / least,
        "more than the least s": run.cost.wall - least,
        "pages asked for": pages,
        "CPU s": run.cost.cpu,
        "peak MiB": round(run.cost.memory),
    }
