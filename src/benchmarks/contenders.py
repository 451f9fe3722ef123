"""The contenders: how each is run, and where it stores its tables. Each continues from what it stored before."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Cost, measure
from benchmarks.service import Service

HERE = Path(__file__).parent
BENCH_PYTHON = HERE.parents[1] / ".venv-bench" / "bin" / "python"


@dataclass(frozen=True)
class Contender:
    """A command that reads what changed, and the name of the DuckDB file that it stores it in."""

    name: str
    command: Sequence[str | Path]
    database: str
    done: Sequence[int] = (0,)
    """Exit codes of success."""


WMS_SYNC = Contender("wms-sync", (Path(sys.executable).with_name("wms-sync"), "sync"), "analytics.duckdb")
DLT = Contender("dlt", (BENCH_PYTHON, HERE / "dlt_pipeline.py"), "dlt.duckdb")
FLOOR = Contender("floor", (sys.executable, "-m", "benchmarks.floor"), "floor.duckdb")


def contenders() -> Sequence[Contender]:
    """Return those that are installed: `make bench` installs dlt."""
    return (WMS_SYNC, DLT, FLOOR) if BENCH_PYTHON.exists() else (WMS_SYNC, FLOOR)


class Installation:
    """A contender with an empty folder, which is the current folder of its processes, so that no `.env` is read."""

    def __init__(self, contender: Contender, folder: Path, service: Service) -> None:
        self.contender = contender
        self._folder = folder.absolute() / contender.name
        self._service = service
        shutil.rmtree(self._folder, ignore_errors=True)
        self._data.mkdir(parents=True)

    @property
    def database(self) -> Path:
        """Return the file that holds its tables."""
        return self._data / self.contender.database

    def sync(self) -> Cost:
        """Read and store what changed; the first time, everything."""
        # Byte code is kept, as in an installed product: compiling its modules takes a tenth of a night.
        left_out = ("WMS_", "DAGSTER_", "PYTHONDONTWRITEBYTECODE")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        environment = {**inherited, **self._service.environment, "WMS_DATA_DIR": str(self._data)}
        contender = self.contender
        cost = measure(contender.command, folder=self._folder, environment=environment, done=contender.done)
        print(f"{contender.name}: {cost.cpu:.1f} CPU s, {cost.wall:.1f} s", file=sys.stderr, flush=True)
        return cost

    @property
    def _data(self) -> Path:
        return self._folder / "data"
