"""Measure what Dagster costs: a night, and a backfill of 1,000 days, over a sandbox with hardly any data.

The overhead is the time of the whole process minus what the command line prints for reading and for refreshing the
tables, so it includes starting the process and the imports. The instance is a real one: a `DAGSTER_HOME` with SQLite.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.report import Figure, Row, Section
from benchmarks.runs import Folder, Run
from benchmarks.service import serving

SHIPMENTS = 50
DAYS = 1000
NIGHT_HOPED, RANGE_HOPED = 20.0, 60.0


def dagster_overhead(scratch: Path, *, days: int = DAYS) -> Section:
    """Measure a first night, a second one, a night without history, and a range of `days` days."""
    today = datetime.now(UTC).date()
    with serving(SHIPMENTS, days=days) as service:
        folder = Folder(scratch / "dagster", service)
        home = folder.home()
        runs = {
            f"first sync, {days:,} days": folder.command_line("sync", dagster_home=home),
            "night": folder.command_line("sync", dagster_home=home),
            "night without DAGSTER_HOME": folder.command_line("sync"),
            f"backfill of {days:,} days": folder.command_line(
                "backfill", "--from", f"{today - timedelta(days=days)}", "--to", f"{today}", dagster_home=home
            ),
        }
        folder.remove()
    overheads = {name: overhead(run) for name, run in runs.items()}
    return Section(
        name="dagster",
        title="Dagster's overhead",
        rows=[_row(name, run) for name, run in runs.items()],
        figures=[
            Figure("a night", overheads["night"], "s", NIGHT_HOPED),
            Figure(f"{days:,} days in a range", overheads[f"backfill of {days:,} days"], "s", RANGE_HOPED),
        ],
    )


def overhead(run: Run) -> float:
    """Return the wall time that is neither reading nor refreshing."""
    return run.cost.wall - run.phases["read"] - run.phases["refresh"]


def _row(name: str, run: Run) -> Row:
    return {
        "run": name,
        "wall s": run.cost.wall,
        "CPU s": run.cost.cpu,
        "read s": run.phases["read"],
        "refresh s": run.phases["refresh"],
        "overhead s": overhead(run),
    }
