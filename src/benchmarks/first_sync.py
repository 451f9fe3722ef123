"""Measure the first sync of N shipments by the product, its library without Dagster, dlt (tuned, plain), and the floor.

One warmed-up sandbox serves all of them. Each contender runs in a fresh process and folder; of several rounds, the one
with the median wall time counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Figure, Row, Section
from benchmarks.runs import DLT_PYTHON, Folder, Run, dlt_script, module, rows_by_table
from benchmarks.service import Service, serving

OURS, LIBRARY, DLT, FLOOR = "wms-sync sync", "without Dagster", "dlt", "floor"
DLT_DOCUMENTED = "dlt, only as documented"
PRODUCT_SCHEMAS, DLT_SCHEMAS = ("main", "pii"), ("main_data",)
MIB_HOPED = 1024.0


@dataclass(frozen=True)
class Outcome:
    """A contender's median run, and the rows it made."""

    run: Run
    rows: Mapping[str, int]


def first_sync(shipments: int, scratch: Path, *, rounds: int, with_dlt: bool = True) -> Section:
    """Run every contender `rounds` times, in turn."""
    contenders = dict(_contenders())
    if not (with_dlt and DLT_PYTHON.exists()):
        del contenders[DLT], contenders[DLT_DOCUMENTED]
    runs: dict[str, list[Outcome]] = {name: [] for name in contenders}
    with serving(shipments) as service:
        service.warm_up()
        for _ in range(rounds):
            for name, contend in contenders.items():
                runs[name].append(_fresh(contend, scratch / "first-sync", service))
    return _section(shipments, {name: _median(outcomes) for name, outcomes in runs.items()}, rounds)


def _contenders() -> Mapping[str, Callable[[Folder], Outcome]]:
    return {OURS: _command_line, LIBRARY: _library, DLT: _dlt, DLT_DOCUMENTED: _dlt_documented, FLOOR: _floor}


def _command_line(folder: Folder) -> Outcome:
    run = folder.command_line("sync")
    return Outcome(run, rows_by_table(folder.layout.published, PRODUCT_SCHEMAS))


def _library(folder: Folder) -> Outcome:
    run = folder.script(module("library"))
    return Outcome(run, rows_by_table(folder.layout.published, PRODUCT_SCHEMAS))


def _dlt(folder: Folder) -> Outcome:
    return _run_dlt(folder, dlt_script())


def _dlt_documented(folder: Folder) -> Outcome:
    return _run_dlt(folder, ["env", "BENCH_DLT=documented", *dlt_script()])


def _run_dlt(folder: Folder, command: Sequence[str | Path]) -> Outcome:
    run = folder.script(command)
    return Outcome(run, rows_by_table(folder.layout.root / "dlt.duckdb", DLT_SCHEMAS))


def _floor(folder: Folder) -> Outcome:
    run = folder.script(module("floor"))
    return Outcome(run, run.rows)


def _fresh(contend: Callable[[Folder], Outcome], path: Path, service: Service) -> Outcome:
    folder = Folder(path, service)
    outcome = contend(folder)
    folder.remove()
    return outcome


def _median(outcomes: list[Outcome]) -> Outcome:
    return sorted(outcomes, key=lambda outcome: outcome.run.cost.wall)[len(outcomes) // 2]


def _section(shipments: int, outcomes: Mapping[str, Outcome], rounds: int) -> Section:
    ours = outcomes[OURS].run.cost
    figures = [Figure("peak memory of the product", ours.memory, "MiB", MIB_HOPED)]
    for name, most in ((DLT, 0.1), (DLT_DOCUMENTED, None), (FLOOR, 2.0)):
        if name in outcomes:
            other = outcomes[name].run.cost
            figures.append(Figure(f"wall, product / {name}", ours.wall / other.wall, most=most))
            figures.append(Figure(f"CPU, product / {name}", ours.cpu / other.cpu))
            figures.append(Figure(f"peak memory, product / {name}", ours.memory / other.memory))
    without = outcomes[LIBRARY].run.cost
    figures.append(Figure("Dagster and the command line", ours.wall - without.wall, "s"))
    return Section(
        name="first-sync",
        title=f"First sync of {shipments:,} shipments, median of {rounds}",
        rows=[_row(name, outcome) for name, outcome in outcomes.items()],
        figures=figures,
        notes=() if DLT in outcomes else ("dlt was left out: no .venv-bench, or --without-dlt",),
        details={name: {"phases": one.run.phases, "rows": one.rows} for name, one in outcomes.items()},
    )


def _row(name: str, outcome: Outcome) -> Row:
    cost = outcome.run.cost
    shipments = next(count for table, count in outcome.rows.items() if table.rpartition(".")[2] == "shipments")
    return {
        "contender": name,
        "wall s": cost.wall,
        "CPU s": cost.cpu,
        "peak MiB": round(cost.memory),
        "service CPU s": cost.service_cpu,
        "shipments": shipments,
        "rows": sum(outcome.rows.values()),
        "tables": len(outcome.rows),
        "phases s": ", ".join(f"{name} {value:.1f}" for name, value in outcome.run.phases.items()),
    }
