"""Measure a rebuild: every table again from the raw pages of a first sync, on as many processors as there are."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.measuring import ContenderFailed
from benchmarks.report import Figure, Section
from benchmarks.rows import difference, rows_by_table
from benchmarks.runs import Folder
from benchmarks.service import serving


def rebuild(shipments: int, scratch: Path) -> Section:
    """Run one first sync and one rebuild; the service is gone by then, so it uses no processor."""
    with serving(shipments) as service:
        service.warm_up()
        folder = Folder(scratch / "rebuild", service)
        folder.command_line("sync")
        before = rows_by_table(folder.layout.published)
    run = folder.command_line("rebuild")
    if other := difference(rows_by_table(folder.layout.published), before):
        raise ContenderFailed(f"the rebuild made other rows than the sync: {other}")
    folder.remove()
    cores = len(os.sched_getaffinity(0))
    used = run.cost.cpu / run.cost.wall
    return Section(
        name="rebuild",
        title=f"Rebuild of {shipments:,} shipments",
        rows=[{"processors": cores, **run.cost.as_row(), "processors used": used, "load s": run.phases["load"]}],
        figures=[Figure("processors used, of those there are", used / cores)],
    )
