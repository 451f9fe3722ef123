"""Measure the first sync of N shipments by the product, with a Dagster home too, dlt (tuned, plain), and two floors.

One warmed-up sandbox serves all of them. Each contender runs in a fresh process and folder; of several rounds, the one
with the median CPU time counts. Whoever keeps a database must have the same number of rows in each table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders.floor import DATABASE, OUTPUTS
from benchmarks.measuring import ContenderFailed
from benchmarks.report import Figure, Row, Section
from benchmarks.rows import Rows, difference, rows_by_table
from benchmarks.runs import BENCH_PYTHON, Folder, Run, dlt_script, module
from benchmarks.service import Service, serving

OURS, WITH_HOME, DLT, FLOOR = "wms-sync sync", "the same with a Dagster home", "dlt", "floor"
DLT_DOCUMENTED = "dlt, only as documented"
FLOOR_WITH_OUTPUTS = "floor with outputs"
DLT_SCHEMA = "main_data"
OTHERS = (DLT, DLT_DOCUMENTED, FLOOR, FLOOR_WITH_OUTPUTS)


@dataclass(frozen=True)
class Outcome:
    """A contender's median run, and the rows it made: the floor keeps none and only counts shipments."""

    run: Run
    rows: Rows


def first_sync(shipments: int, scratch: Path, *, rounds: int, with_dlt: bool = True) -> Section:
    """Run every contender `rounds` times, in turn."""
    contenders = dict(_contenders())
    if not (with_dlt and BENCH_PYTHON.exists()):
        del contenders[DLT], contenders[DLT_DOCUMENTED]
    runs: dict[str, list[Outcome]] = {name: [] for name in contenders}
    with serving(shipments) as service:
        service.warm_up()
        for _ in range(rounds):
            for name, contend in contenders.items():
                runs[name].append(_fresh(contend, scratch / "first-sync", service))
                _compare(name, runs)
    return _section(shipments, {name: _median(outcomes) for name, outcomes in runs.items()}, rounds)


def _contenders() -> Mapping[str, Callable[[Folder], Outcome]]:
    return {
        OURS: _command_line,
        WITH_HOME: _with_home,
        DLT: _dlt,
        DLT_DOCUMENTED: _dlt_documented,
        FLOOR: _floor,
        FLOOR_WITH_OUTPUTS: _floor_with_outputs,
    }


def _command_line(folder: Folder) -> Outcome:
    run = folder.command_line("sync")
    return Outcome(run, rows_by_table(folder.layout.published))


def _with_home(folder: Folder) -> Outcome:
    run = folder.command_line("sync", dagster_home=folder.home())
    return Outcome(run, rows_by_table(folder.layout.published))


def _dlt(folder: Folder) -> Outcome:
    return _run_dlt(folder, dlt_script())


def _dlt_documented(folder: Folder) -> Outcome:
    return _run_dlt(folder, ["env", "BENCH_DLT=documented", *dlt_script()])


def _run_dlt(folder: Folder, command: Sequence[str | Path]) -> Outcome:
    run = folder.script(command)
    return Outcome(run, rows_by_table(folder.layout.root / "dlt.duckdb", DLT_SCHEMA))


def _floor(folder: Folder) -> Outcome:
    run = folder.script(module("floor"))
    return Outcome(run, run.rows)


def _floor_with_outputs(folder: Folder) -> Outcome:
    run = folder.script([*module("floor"), OUTPUTS])
    return Outcome(run, rows_by_table(folder.layout.root / DATABASE))


def _compare(name: str, runs: Mapping[str, Sequence[Outcome]]) -> None:
    """Raise if a contender made other rows than the product: then their costs cannot be compared."""
    if other := difference(runs[name][-1].rows, runs[OURS][0].rows):
        raise ContenderFailed(f"{name} made other rows than {OURS}: {other}")


def _fresh(contend: Callable[[Folder], Outcome], path: Path, service: Service) -> Outcome:
    folder = Folder(path, service)
    outcome = contend(folder)
    folder.remove()
    return outcome


def _median(outcomes: list[Outcome]) -> Outcome:
    return sorted(outcomes, key=lambda outcome: outcome.run.cost.cpu)[len(outcomes) // 2]


def _section(shipments: int, outcomes: Mapping[str, Outcome], rounds: int) -> Section:
    ours = outcomes[OURS].run.cost
    figures = [Figure("peak memory of the product", ours.memory, "MiB")]
    for name in OTHERS:
        if name in outcomes:
            other = outcomes[name].run.cost
            figures.append(Figure(f"CPU, product / {name}", ours.cpu / other.cpu))
            figures.append(Figure(f"wall, product / {name}", ours.wall / other.wall))
            figures.append(Figure(f"peak memory, product / {name}", ours.memory / other.memory))
    figures.append(Figure("CPU that a Dagster home costs", outcomes[WITH_HOME].run.cost.cpu - ours.cpu, "s"))
    return Section(
        name="first-sync",
        title=f"First sync of {shipments:,} shipments, median of {rounds}",
        rows=[_row(name, outcome) for name, outcome in outcomes.items()],
        figures=figures,
        notes=(
            "phases: of the floors CPU seconds, since they overlap",
            *(() if DLT in outcomes else ("dlt was left out: no .venv-bench, or --without-dlt",)),
        ),
        details={name: {"phases": outcome.run.phases, "rows": outcome.rows} for name, outcome in outcomes.items()},
    )


def _row(name: str, outcome: Outcome) -> Row:
    run = outcome.run
    return {
        "contender": name,
        **run.cost.as_row(),
        "shipments": outcome.rows["shipments"],
        "rows": sum(outcome.rows.values()),
        "phases s": ", ".join(f"{name} {value:.1f}" for name, value in run.phases.items()),
    }
