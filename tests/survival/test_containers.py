"""What ``deploy/pods`` starts, as processes: code location, webserver and daemon; each run finds an empty disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
import yaml

from tests.lakes import on_lake
from tests.oracle import expected_tables
from tests.pipelines.dagster_ui import DagsterUi, free_port
from tests.survival.installation import Installation

PODS = Path(__file__).parents[2] / "deploy" / "pods"
SECONDS = 400


class Containers(DagsterUi):
    """Dagster's three processes; only the code location has settings."""

    def __init__(self, folder: Path, history: str, settings: dict[str, str]) -> None:
        home = folder / "home"
        home.mkdir()
        configuration = yaml.safe_load((PODS / "dagster.yaml").read_text(encoding="utf-8"))
        configuration["storage"]["postgres"] = {"postgres_url": history}
        (home / "dagster.yaml").write_text(yaml.safe_dump(configuration))
        super().__init__(home, {})
        self._settings = settings
        self._code = str(free_port())
        location = {"host": "127.0.0.1", "port": int(self._code), "location_name": "wms-sync"}
        self._workspace = folder / "workspace.yaml"
        self._workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": location}]}))
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        module = ["-m", "wms_sync_pipelines.definitions", "--location-name", "wms-sync"]
        workspace = ["-w", str(self._workspace)]
        try:
            code = ["code-server", "start", "-h", "127.0.0.1", "-p", self._code, *module]
            self._start("dagster", *code, **self._settings)
            self.wait(self._serves, "the code location", SECONDS)  # as the health check of compose.yaml does
            self._start("dagster-daemon", "run", *workspace)
            self._start("dagster-webserver", "-h", "127.0.0.1", "-p", str(self.port), *workspace)
            self.wait(self._has_loaded, "the webserver", SECONDS)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._http.close()

    def _start(self, program: str, *arguments: str, **settings: str) -> None:
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        environment = self._environment | settings
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self.home, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(self._process)

    def _serves(self) -> bool | None:
        command = [str(Path(sys.executable).with_name("dagster")), "api", "grpc-health-check", "-p", self._code]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0 or None


def test_runs_in_pods(request, lake_url, postgres_url, sandbox, tmp_path):
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    stored = {"WMS_FILES_URL": f"file://{tmp_path}/store", "WMS_PAGE_SIZE": "50", **on_lake(lake_url)}
    pod = Installation(tmp_path / "disk", sandbox, stored)
    history = postgres_url.replace("postgresql+psycopg", "postgresql+psycopg2")
    with Containers(tmp_path, history, pod.environment) as dagster:
        for job in ("nightly_sync", "rebuild_tables"):
            assert dagster.ended(dagster.launch_run(job), SECONDS) == "SUCCESS", dagster.log
            assert pod.differences(expected_tables(sandbox)) == []
            assert not (pod.data / "raw").exists()
            shutil.rmtree(pod.data, ignore_errors=True)
