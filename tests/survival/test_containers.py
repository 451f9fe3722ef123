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

from tests.oracle import differences, expected_tables
from tests.pipelines.dagster_dev import DagsterDev, free_port
from tests.storage.conftest import KEYS, s3_server
from wms_sandbox.server import SandboxServer
from wms_sync.settings import Settings
from wms_sync.targets.target import target_of

PODS = Path(__file__).parents[2] / "deploy" / "pods"
SECONDS = 400


class Containers(DagsterDev):
    """Dagster's three processes, each in a folder of its own; only the code location has settings."""

    def __init__(self, folder: Path, history: str, settings: dict[str, str]) -> None:
        home = folder / "home"
        home.mkdir()
        configuration = yaml.safe_load((PODS / "dagster.yaml").read_text(encoding="utf-8"))
        configuration["storage"]["postgres"] = {"postgres_url": history}
        (home / "dagster.yaml").write_text(yaml.safe_dump(configuration))
        super().__init__(home, {})
        self._code = free_port()
        location = {"host": "127.0.0.1", "port": self._code, "location_name": "wms-sync"}
        workspace = folder / "workspace.yaml"
        workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": location}]}))
        given = {**self._environment, **settings, "WMS_DATA_DIR": str(folder / "disk")}
        module = ["-m", "pipelines.definitions", "--location-name", "wms-sync"]
        web = ["-h", "127.0.0.1", "-p", str(self.port), "-w", str(workspace)]
        self._commands = {
            "code": (["dagster", "code-server", "start", "-h", "127.0.0.1", "-p", str(self._code), *module], given),
            "daemon": (["dagster-daemon", "run", "-w", str(workspace)], self._environment),
            "webserver": (["dagster-webserver", *web], self._environment),
        }
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self._start("code")
            self.wait(self._serves, "the code location", SECONDS)  # as the health check of compose.yaml does
            self._start("daemon")
            self._start("webserver")
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

    def _start(self, name: str) -> None:
        (program, *arguments), environment = self._commands[name]
        disk = self._folder / name
        disk.mkdir()
        command = [str(Path(sys.executable).parent / program), *arguments]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=disk, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(self._process)

    def _serves(self) -> bool | None:
        command = [str(Path(sys.executable).parent / "dagster"), "api", "grpc-health-check", "-p", str(self._code)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0 or None


def test_runs_in_pods_and_a_killed_one(request, lake_url, postgres_url, sandbox, tmp_path, monkeypatch):
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with s3_server() as wire:
        settings = {
            "WMS_ANALYTICS": "ducklake",
            "WMS_API_TOKEN": sandbox.sandbox.config.token,
            "WMS_BASE_URL": sandbox.base_url,
            "WMS_FILES_ENDPOINT": wire.address,
            "WMS_FILES_URL": "s3://wms/pods",
            "WMS_PAGE_SIZE": "50",
            "WMS_START_DATE": "2026-03-01",
            "WMS_STATE_URL": lake_url,
        }
        history = postgres_url.replace("postgresql+psycopg", "postgresql+psycopg2")
        with Containers(tmp_path, history, {**KEYS, **settings}) as dagster:
            first = dagster.launch_run("nightly_sync")
            assert dagster.ended(first, SECONDS) == "SUCCESS", dagster.log
            assert_equal(sandbox, settings)
            assert not (tmp_path / "disk" / "raw").exists()

            shutil.rmtree(tmp_path / "disk")
            killed = dagster.launch_run("rebuild_tables")
            dagster.wait(lambda: dagster.status(killed) == "STARTED" or None, "the run to begin", SECONDS)
            os.kill(dagster.wait(lambda: dagster.pid_of(killed), "its process", SECONDS), signal.SIGKILL)
            assert dagster.ended(killed, SECONDS) == "FAILURE"
            shutil.rmtree(tmp_path / "disk", ignore_errors=True)
            assert dagster.ended(dagster.launch_run("nightly_sync"), SECONDS) == "SUCCESS", dagster.log
            assert_equal(sandbox, settings)


def assert_equal(service: SandboxServer, settings: dict[str, str]) -> None:
    fields = {name.removeprefix("WMS_").lower(): value for name, value in settings.items()}
    with target_of(Settings.load(_env_file=None, **fields)).published() as connection:
        assert differences(connection, expected_tables(service)) == []
