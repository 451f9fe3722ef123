"""A real `wms-sync ui` with Dagster's processes (code server, daemon, webserver), in a session of its own.

Spoken to as the UI does.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from wms_sync_pipelines.home import prepare_home

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
ENDED = {"SUCCESS", "FAILURE", "CANCELED"}
T = TypeVar("T")

LAUNCH = """
mutation LaunchPartitionBackfill($backfillParams: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $backfillParams) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message stack }
    ... on UnauthorizedError { message }
  }
}
"""
EXECUTE = """
mutation LaunchPipelineExecution($executionParams: ExecutionParams!) {
  launchPipelineExecution(executionParams: $executionParams) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message stack }
  }
}
"""
RUNS = """
query Runs { runsOrError(limit: 100) { ... on Runs { results {
  runId status jobName tags { key value } assetSelection { path }
} } } }
"""
LOG = """
query Log($id: ID!) { logsForRun(runId: $id) {
  ... on EventConnection { events { ... on MessageEvent { message } } }
} }
"""
LOCATION = """
query Location { workspaceOrError { ... on Workspace { locationEntries { locationOrLoadError {
  __typename
  ... on RepositoryLocation { name repositories { name partitionSets { name pipelineName } } }
  ... on PythonError { message }
} } } } }
"""


class DagsterUi:
    """The context is the life of the processes; `home` is its DAGSTER_HOME, and where it starts unless in `folder`."""

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        command: Sequence[str] = (str(Path(sys.executable).with_name("wms-sync")), "ui"),
        folder: Path | None = None,
    ) -> None:
        self.home = prepare_home(home)
        self._command, self._folder = command, folder or home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)
        self._log = home / "ui.log"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))},
            **environment,
            "DAGSTER_HOME": str(self.home),
        }

    def __enter__(self) -> Self:
        command = [*self._command, "--port", str(self.port)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self.wait(self._has_loaded, "the UI to load the code location")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._session():
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._http.close()

    def terminate(self) -> None:
        """A polite kill of the one process that was started; raises unless all that it has started end."""
        self._process.terminate()
        self._exit_code()

    def end(self, program: str) -> int:
        """Kill one of Dagster's processes; return the exit code of the UI, which must end by itself."""
        [pid] = [pid for pid in self._session() if program in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(pid, signal.SIGKILL)
        return self._exit_code()

    def _exit_code(self) -> int:
        code = self._process.wait(120)
        assert self._session() == [], f"processes are left:\n{self.log}"
        return code

    def _session(self) -> list[int]:
        """The processes that were started, and those that they have started."""
        found = []
        for pid in [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]:
            with contextlib.suppress(ProcessLookupError):
                found += [pid] if os.getsid(pid) == self._process.pid else []
        return found

    def launch_run(self, job: str, **selected: object) -> str:
        """What the UI does when a job without days is launched; returns the id of the run."""
        parameters = {
            "mode": "default",
            "runConfigData": {},
            "executionMetadata": {"tags": []},
            "selector": {**self.selector, "pipelineName": job, **selected},
        }
        answer = self.query(EXECUTE, executionParams=parameters)["launchPipelineExecution"]
        assert "run" in answer, answer
        return str(answer["run"]["runId"])

    def launch_job(self, job: str, days: Sequence[str]) -> None:
        """What the UI does when days are chosen for a job."""
        [name] = [one["name"] for one in self._repository["partitionSets"] if one["pipelineName"] == job]
        parameters = {
            "selector": {"partitionSetName": name, "repositorySelector": self.selector},
            "partitionNames": list(days),
            "tags": [],
            "fromFailure": False,
        }
        answer = self.query(LAUNCH, backfillParams=parameters)["launchPartitionBackfill"]
        assert answer["__typename"] == "LaunchBackfillSuccess", answer

    def finished_runs(self, count: int) -> list[dict[str, Any]]:
        """Wait until there are this many runs and all have ended; return all, the oldest first."""

        def found() -> list[dict[str, Any]] | None:
            runs = self.runs()
            return runs if len(runs) >= count and all(run["status"] in ENDED for run in runs) else None

        return self.wait(found, f"{count} runs to end")

    def runs(self) -> list[dict[str, Any]]:
        """Every run, the oldest first; `tags` as a dictionary."""
        return [
            {**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}}
            for run in reversed(self.query(RUNS)["runsOrError"]["results"])
        ]

    def ended(self, run_id: str) -> str:
        """Waits until a run has ended; its status."""

        def look() -> str | None:
            [status] = [str(run["status"]) for run in self.runs() if run["runId"] == run_id]
            return status if status in ENDED else None

        return self.wait(look, f"the run {run_id} to end")

    def pid_of(self, run_id: str) -> int | None:
        """The process of a run, if it has begun."""
        found = re.search(r"\(pid: (\d+)\)", "\n".join(self.messages(run_id)))
        return int(found[1]) if found else None

    def messages(self, run_id: str) -> list[str]:
        """The log of a run."""
        return [event["message"] for event in self.query(LOG, id=run_id)["logsForRun"]["events"] if event]

    def query(self, text: str, **variables: object) -> Any:
        """One GraphQL request."""
        body = self._http.post("/graphql", json={"query": text, "variables": variables}).json()
        assert "errors" not in body, body["errors"]
        return body["data"]

    def wait(self, look: Callable[[], T | None], what: str, seconds: float = 300) -> T:
        """Look again and again until something is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise AssertionError(f"the UI ended while waiting for {what}:\n{self.log}")
            if (found := look()) is not None:
                return found
            time.sleep(0.25)
        raise AssertionError(f"waited {seconds} s for {what} in vain:\n{self.log}")

    @property
    def log(self) -> str:
        """The end of what the processes wrote."""
        return self._log.read_text(errors="replace")[-8000:]

    def _has_loaded(self) -> bool | None:
        if self.url not in self.log:  # the terminal shows it a moment after the webserver answers
            return None
        try:
            [entry] = self.query(LOCATION)["workspaceOrError"]["locationEntries"]
        except (httpx.HTTPError, ValueError):
            return None
        location = entry["locationOrLoadError"]
        if location is None:
            return None
        assert location["__typename"] == "RepositoryLocation", location
        [self._repository] = location["repositories"]
        self.selector = {
            "repositoryName": self._repository["name"],
            "repositoryLocationName": location["name"],
        }
        return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
