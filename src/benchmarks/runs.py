"""Runs of the contenders: the command, its environment, a folder of its own, and what it says of itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import Cost, measure
from benchmarks.service import Service
from wms_sync.layout import Layout
from wms_sync.service.selection import Selection

BENCH_PYTHON = Path(__file__).parents[2] / ".venv-bench" / "bin" / "python"
DONE, DONE_WITH_DOUBTS = 0, 3
_TOOK = re.compile(r"^took +(?P<phases>.+)$", re.MULTILINE)
_PHASE = re.compile(r"(?P<word>[a-z]+) (?P<seconds>[\d.,]+) s")


@dataclass(frozen=True)
class Run:
    """A contender's run: its cost, and what it reports: seconds by phase, and rows by table if it keeps no database."""

    cost: Cost
    phases: Mapping[str, float]
    rows: Mapping[str, int] = field(default_factory=dict)


class Folder:
    """The folder of one installation: empty at first, and the current folder of its processes, so no `.env` is read."""

    def __init__(self, path: Path, service: Service, settings: Mapping[str, str] | None = None) -> None:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        self.path = path.absolute()
        self._service = service
        self._settings = settings or {}
        self._selection.write_text(json.dumps(Selection.whole(include_addresses=False).params))

    def with_settings(self, settings: Mapping[str, str]) -> Folder:
        """Return the same installation with other settings."""
        other = copy(self)
        other._settings = {**self._settings, **settings}
        return other

    @property
    def layout(self) -> Layout:
        """Return where the product's files are."""
        return Layout(self.path / "data")

    def command_line(self, *arguments: str, dagster_home: Path | None = None, memory_limit: str | None = None) -> Run:
        """Run `wms-sync` as a user does.

        Its phases are `read` and `load`, the sum of the other phases that it prints.
        """
        more = {"DAGSTER_HOME": str(dagster_home)} if dagster_home else {}
        more |= {"WMS_MEMORY_LIMIT": memory_limit} if memory_limit else {}
        cost, output = measure(
            [Path(sys.executable).with_name("wms-sync"), *arguments],
            folder=self.path,
            environment=self.environment(more),
            service=self._service.process,
            accepted=(DONE, DONE_WITH_DOUBTS),
        )
        took = _TOOK.search(output)  # none of maintenance
        phases = _PHASE.finditer(took["phases"] if took else "")
        said = {found["word"]: float(found["seconds"].replace(",", "")) for found in phases}
        read = said.pop("read", 0.0)
        return Run(cost, {"read": read, "load": sum(said.values())})

    def home(self) -> Path:
        """Prepare a Dagster home, in another process: its import here would add to the memory that is measured."""
        home = self.path / "home"
        environment = {**os.environ, "DAGSTER_HOME": str(home)}
        subprocess.run([sys.executable, "-m", "pipelines.home"], check=True, env=environment)
        return home

    def dagster_job(self, job: str, home: Path, *, tags: Mapping[str, str] | None = None) -> Run:
        """Run a job as Dagster's own command line does."""
        dagster = Path(sys.executable).with_name("dagster")
        command = [str(dagster), "job", "execute", "-m", "pipelines.definitions", "-j", job]
        cost, _ = measure(
            [*command, "--tags", json.dumps(tags or {})],
            folder=self.path,
            environment=self.environment({"DAGSTER_HOME": str(home)}),
            service=self._service.process,
        )
        return Run(cost, {})

    def script(self, command: Sequence[str | Path]) -> Run:
        """Run a contender that writes `phases`, and perhaps `rows`, to the file that is its last argument."""
        result = self.path / "result.json"
        cost, _ = measure(
            [*command, result],
            folder=self.path,
            environment=self.environment(),
            service=self._service.process,
        )
        return Run(cost, **json.loads(result.read_text()))

    def remove(self) -> None:
        """Delete the folder, to free the disk."""
        shutil.rmtree(self.path)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of its processes: nothing of the product's but what is given.

        Python keeps the byte code of what it imports, as where the product is installed: to compile the product's
        modules anew takes a tenth of a night.
        """
        left_out = ("WMS_", "DAGSTER_", "PYTHONDONTWRITEBYTECODE")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        own = {"WMS_DATA_DIR": str(self.layout.root), "BENCH_SELECTION": str(self._selection)}
        return {**inherited, **self._service.settings, **self._settings, **own, **(more or {})}

    @property
    def _selection(self) -> Path:
        """Return the file that tells dlt which fields to ask for."""
        return self.path / "selection.json"


def module(name: str) -> list[str]:
    """Return the command of a contender that runs in the product's environment."""
    return [sys.executable, "-m", f"benchmarks.contenders.{name}"]


def dlt_script() -> list[str | Path]:
    """Return the command of dlt, in its environment."""
    return bench_script("dlt_pipeline.py")


def bench_script(name: str) -> list[str | Path]:
    """Return the command of a contender that runs in the competitors' environment."""
    return [BENCH_PYTHON, Path(__file__).parent / "contenders" / name]
