"""Measure what Dagster costs: a night, and a backfill of 1,000 days, over a sandbox with hardly any data.

The instance is a real one: a `DAGSTER_HOME` with SQLite. A night by the command line is the same without Dagster;
with a home the command reports to it what it made.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.report import Figure, Section
from benchmarks.runs import Folder
from benchmarks.service import serving

SHIPMENTS = 50
DAYS = 1000
NIGHT, COMMAND = "night", "wms-sync sync"
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def dagster_overhead(scratch: Path, *, days: int = DAYS) -> Section:
    """Measure a first night, a second one, nights of the command line, and a range of `days` days."""
    today = datetime.now(UTC).date()
    range_of_days = {RANGE_START: f"{today - timedelta(days=days)}", RANGE_END: f"{today - timedelta(days=1)}"}
    with serving(SHIPMENTS, days=days) as service:
        folder = Folder(scratch / "dagster", service)
        home = folder.home()
        runs = {
            f"first night, {days:,} days": folder.dagster_job("nightly_sync", home),
            NIGHT: folder.dagster_job("nightly_sync", home),
            f"{COMMAND}, with a home": folder.command_line("sync", dagster_home=home),
            COMMAND: folder.command_line("sync"),
            f"backfill of {days:,} days": folder.dagster_job("backfill_days", home, tags=range_of_days),
        }
        folder.remove()
    times = runs[NIGHT].cost.cpu / runs[COMMAND].cost.cpu
    return Section(
        name="dagster",
        title="Dagster's overhead",
        rows=[{"run": name, "wall s": run.cost.wall, "CPU s": run.cost.cpu} for name, run in runs.items()],
        figures=[
            Figure("a night, of the command's CPU", times, "times"),
            Figure(f"{days:,} days in a range", runs[f"backfill of {days:,} days"].cost.wall, "s"),
        ],
    )
