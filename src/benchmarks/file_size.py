"""Measure how the published file grows over many nights of 1,000 changes, next to the rows in it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.night import CHANGES, PASSED_SECONDS, WARM_PAGES
from benchmarks.report import Figure, Row, Section
from benchmarks.rows import rows_by_table
from benchmarks.runs import Folder, Run
from benchmarks.service import serving

SHOWN = 10


def file_size(shipments: int, scratch: Path, *, nights: int) -> Section:
    """Run a first sync and `nights` nights; show every tenth of them."""
    rows: list[Row] = []
    with serving(shipments) as service:
        service.warm_up(WARM_PAGES)
        folder = Folder(scratch / "file-size", service)
        rows.append(_row(0, folder, folder.command_line("sync")))
        for number in range(1, nights + 1):
            service.advance(seconds=PASSED_SECONDS, **CHANGES)
            run = folder.command_line("sync")
            if number % max(1, nights // SHOWN) == 0:
                rows.append(_row(number, folder, run))
        folder.remove()
    first, largest = rows[0], max(rows, key=lambda row: float(row["file MB"]))
    times = (float(largest["file MB"]) / float(first["file MB"])) / (float(largest["rows"]) / float(first["rows"]))
    return Section(
        name="file-size",
        title=f"The published file over {nights} nights of {sum(CHANGES.values()):,} changes",
        rows=rows,
        figures=[Figure("growth of the file over growth of the rows, at its largest", times)],
    )


def _row(number: int, folder: Folder, run: Run) -> Row:
    with duckdb.connect(folder.layout.published, read_only=True) as connection:
        blocks = connection.execute("select block_size * free_blocks from pragma_database_size()").fetchone()
    return {
        "night": number,
        "file MB": folder.layout.published.stat().st_size / 1e6,
        "of it free MB": blocks[0] / 1e6 if blocks else 0.0,
        "rows": sum(rows_by_table(folder.layout.published).values()),
        "CPU s": run.cost.cpu,
        "peak MiB": round(run.cost.memory),
    }
