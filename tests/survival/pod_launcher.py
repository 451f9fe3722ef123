"""Launches each run as Dagster's launcher for Kubernetes does: a process of its own that finds an empty disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, RunLauncher, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import ConfigurableClass, ConfigurableClassData


class PodLauncher(RunLauncher, ConfigurableClass):
    """``folder`` has ``environment.json``, what a pod is given, and gets a folder for each pod."""

    def __init__(self, folder: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._folder = Path(folder)
        self._inst_data = inst_data
        self._pods: dict[str, subprocess.Popen[bytes]] = {}
        super().__init__()

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> Any:
        return {"folder": dg.StringSource}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        return cls(inst_data=inst_data, **config_value)

    def launch_run(self, context: LaunchRunContext) -> None:
        run = context.dagster_run
        assert run.job_code_origin is not None
        asked = ExecuteRunArgs(
            job_origin=run.job_code_origin, run_id=run.run_id, instance_ref=self._instance.get_ref()
        ).get_command_args()
        disk = self._folder / run.run_id
        disk.mkdir()
        given = json.loads((self._folder / "environment.json").read_text())
        with (disk / "log").open("wb") as log:
            pod = subprocess.Popen(
                [sys.executable, "-m", "dagster", *asked[asked.index("api") :]],
                env={**given, "WMS_DATA_DIR": str(disk / "data")},
                cwd=disk,
                stdout=log,
                stderr=log,
            )
        (disk / "pid").write_text(str(pod.pid))
        self._pods[run.run_id] = pod

    def terminate(self, run_id: str) -> bool:
        self._pods[run_id].terminate()
        return True

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        code = self._pods[run.run_id].poll() if run.run_id in self._pods else None
        if code is None:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.SUCCESS if code == 0 else WorkerStatus.FAILED, f"exit code {code}")
