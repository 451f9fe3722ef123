"""What the nights with trouble share: a service, a receiver of alerts, small disks, and one `dagster dev`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pytest

from tests.conftest import CONFIG
from tests.oracle import differences, expected_tables
from tests.pipelines.dagster_dev import DagsterDev
from tests.receiver import Receiver
from wms_sandbox.server import SandboxServer
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecord, RunRecords

T = TypeVar("T")
SECONDS = 300.0
"""How long a wait lasts at most. The machine may have other work."""
TOLERANCE = 120
"""Of clocks, in seconds. Each night moves the service's clock ahead by four."""

SCHEDULE = """
query Schedule($selector: ScheduleSelector!) { scheduleOrError(scheduleSelector: $selector) {
  ... on Schedule { scheduleState { id status } }
} }
"""
START = """
mutation Start($selector: ScheduleSelector!) { startSchedule(scheduleSelector: $selector) { __typename } }
"""
STOP = """
mutation Stop($id: String!) { stopRunningSchedule(id: $id) { __typename } }
"""
LOGS = """
query Logs($run: ID!) { logsForRun(runId: $run) { ... on EventConnection { events {
  __typename
  ... on MessageEvent { message }
  ... on ExecutionStepFailureEvent { failureMetadata { description } error { message cause { message } } }
  ... on RunFailureEvent { error { message } }
  ... on AssetCheckEvaluationEvent { evaluation { checkName success description } }
} } } }
"""
HEALED = "yes"


class House:
    """The context is the life of `dagster dev`; `data` and `home` are on a small disk each, if that is permitted."""

    def __init__(self, folder: Path, server: SandboxServer, hook: Receiver) -> None:
        self.server, self.hook = server, hook
        self.files, self.home, self.data = folder / "files", folder / "home", folder / "disk" / "data"
        self.files.mkdir()
        self.start = datetime.now(UTC).date() - timedelta(days=CONFIG.days + 5)
        self.environment = {
            "WMS_BASE_URL": server.base_url,
            "WMS_API_TOKEN": CONFIG.token,
            "WMS_DATA_DIR": str(self.data),
            "WMS_START_DATE": self.start.isoformat(),
            "WMS_PAGE_SIZE": "100",
            "WMS_SCHEDULE_CRON": "* * * * *",
            "WMS_ALERT_WEBHOOK_URL": hook.url,
            "WMS_HEARTBEAT_URL": f"{hook.origin}/beat",
            "WMS_MASTER_DATA_DIR": str(self.files),
            "WMS_PUSH_ENABLED": "true",
            "WMS_CLOCK_TOLERANCE_SECONDS": str(TOLERANCE),
        }
        self.audits(pages=0)
        self.settings = Settings.load(
            base_url=server.base_url, data_dir=self.data, start_date=self.start, _env_file=None
        )
        self.dagster = DagsterDev(self.home, self.environment)

    def audits(self, *, pages: int) -> None:
        """Let the next runs read a slice of so many pages. What an audit finds would be an alert in any night."""
        (self.home / ".env").write_text(f"WMS_AUDIT_PAGES={pages}\n")

    def changes(self) -> None:
        """Something happens in the service, and some time passes."""
        self.server.sandbox.advance(seconds=2, changed=20, new=5, orders=5)
        self.server.sandbox.advance(seconds=2)

    def begins(self) -> None:
        """A new night: the service is well, the receiver has taken nothing yet, and something has changed."""
        self.hook.clear()
        sandbox = self.server.sandbox
        sandbox.intercept = sandbox.rewrite = sandbox.redate = None
        self.changes()

    def ticks(self) -> str:
        """Switch the schedule on until it has started a run; its id."""
        before = self.known()
        self.schedule(on=True)
        try:
            return self.waits(lambda: self.new_run(before, "dagster/schedule_name"), "the schedule to start a run")
        finally:
            self.schedule(on=False)

    def schedule(self, *, on: bool) -> None:
        """Switch the schedule on or off, as the UI does.

        A tick that is under way writes the state that it found, so a schedule may be on again after it was stopped.
        """
        selector = {**self.dagster.selector, "scheduleName": "nightly"}
        if on:
            self.dagster.query(START, selector=selector)
            return

        def is_off() -> bool | None:
            state = self.dagster.query(SCHEDULE, selector=selector)["scheduleOrError"]["scheduleState"]
            if state["status"] == "RUNNING":
                self.dagster.query(STOP, id=state["id"])
            time.sleep(3)
            state = self.dagster.query(SCHEDULE, selector=selector)["scheduleOrError"]["scheduleState"]
            return state["status"] == "STOPPED" or None

        self.waits(is_off, "the schedule to be off")

    def syncs(self) -> str:
        """Launch the nightly job as the UI does, and wait until it has ended; its id."""
        run = self.dagster.launch_run("nightly_sync")
        self.ends(run)
        return run

    def newest(self) -> str:
        """The id of the newest run."""
        return str(self.dagster.runs()[-1]["runId"])

    def known(self) -> set[str]:
        """The ids of all runs so far."""
        return {run["runId"] for run in self.dagster.runs()}

    def new_run(self, before: set[str], tag: str) -> str | None:
        """The id of a run with this tag that was not there before."""
        return next(
            (run["runId"] for run in self.dagster.runs() if run["runId"] not in before and tag in run["tags"]), None
        )

    def ends(self, run_id: str) -> str:
        """Wait until a run has ended; its status."""
        return self.dagster.ended(run_id, 2 * SECONDS)

    def status(self, run_id: str) -> str:
        """The status of a run."""
        return self.dagster.status(run_id)

    def fails(self, run_id: str) -> str:
        """Wait until a run has failed; what the UI shows of it."""
        assert self.ends(run_id) == "FAILURE"
        return self.shown(run_id)

    def warns(self, run_id: str, check: str, event: str) -> str:
        """See that a run has succeeded with this check failed, and wait for its alert; the UI's description."""
        assert self.status(run_id) == "SUCCESS"
        found = self.failed_checks(run_id)
        assert list(found) == [check]
        self.hears(event)
        return found[check]

    def shown(self, run_id: str) -> str:
        """What the UI shows of why a run failed: the first line of it."""
        events = self.events(run_id)
        texts = [event["failureMetadata"]["description"] for event in events if event.get("failureMetadata")]
        texts += [
            text for event in events if (text := event.get("message") or "").startswith("The process of this run")
        ]
        texts += [event["message"] for event in events if event["__typename"] == "RunFailureEvent"]
        return next((text for text in texts if text), "nothing")

    def log(self, run_id: str) -> str:
        """The log of a run."""
        return "\n".join(self.dagster.messages(run_id))

    def failed_checks(self, run_id: str) -> dict[str, str]:
        """The checks that failed in a run with the UI's description, without the one on every other finding."""
        evaluations = [event["evaluation"] for event in self.events(run_id) if event.get("evaluation")]
        failed = {found["checkName"]: found["description"] for found in evaluations if not found["success"]}
        return {name: description for name, description in failed.items() if name != "no_other_finding_is_open"}

    def events(self, run_id: str) -> list[dict[str, Any]]:
        """The events of a run."""
        events: list[dict[str, Any]] = self.dagster.query(LOGS, run=run_id)["logsForRun"]["events"]
        return events

    def heals(self) -> str:
        """The next sync: whether it succeeds, and every table then equals the service."""
        self.succeeds()
        return self.equals_the_service()

    def succeeds(self) -> None:
        """Sync, and wait for the heartbeat, which is sent after all alerts that are due: none comes later."""
        beats = self.beats
        run = self.syncs()
        assert self.status(run) == "SUCCESS", self.shown(run)
        self.waits(lambda: self.beats > beats or None, "the heartbeat")

    def equals_the_service(self) -> str:
        """Compare every table with what the service holds."""
        with duckdb.connect(self.data / "analytics.duckdb", read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            found = differences(connection, expected_tables(self.server))
        assert not found, found[:10]
        return HEALED

    def hears(self, *events: str) -> str:
        """Wait until these alerts have come, and see that no other has; what they are."""
        wanted = sorted(events)
        try:
            self.waits(lambda: sorted(self.told) == wanted or None, f"{wanted}")
        except AssertionError:
            raise AssertionError(f"waited for the alerts {wanted}, and had {self.told}") from None
        return ", ".join(events)

    @property
    def beats(self) -> int:
        """How often the heartbeat was called since the night began."""
        return self.hook.asked.count("GET /beat")

    @property
    def told(self) -> list[str]:
        """The alerts since the night began, without heartbeats."""
        return [event for event in self.hook.events if event != "heartbeat"]

    @property
    def texts(self) -> str:
        """What they said."""
        return "\n".join(str(body["text"]) for body in self.hook.taken)

    def newest_record(self) -> RunRecord:
        """What the state store has of the newest run."""
        with RunRecords(self.settings.database_url) as records:
            [newest] = records.newest(1)
        return newest

    def waits(self, look: Callable[[], T | None], what: str, seconds: float = SECONDS) -> T:
        """Look again and again until something is there."""
        return self.dagster.wait(look, what, seconds)

    @contextmanager
    def command(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A command of the same installation."""
        code = f"from wms_sync.cli.main import main; main({list(arguments)})"
        environment = {**os.environ, **self.environment, "DAGSTER_HOME": str(self.home)}
        with subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=self.home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            yield process

    @property
    def days(self) -> Sequence[date]:
        """Every day that can be read again."""
        today = datetime.now(UTC).date()
        return [self.start + timedelta(days=number) for number in range((today - self.start).days + 1)]


def needs_small(*disks: Path) -> None:
    """Skip the test unless these folders are disks whose size may be changed."""
    if not all(os.path.ismount(disk) for disk in disks):
        pytest.skip("mounting a small disk is not permitted here")


@contextmanager
def small_disks(*folders: Path) -> Iterator[None]:
    """Mount a file system in memory at each folder; where that is not permitted they stay folders."""
    mounted = []
    for folder in folders:
        folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=False).returncode == 0:
            mounted.append(folder)
    yield
    for folder in mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def full(*disks: Path, room: int = 0) -> Iterator[None]:
    """Each disk has so many bytes left while the block lasts."""
    for disk in disks:
        resize(disk, str(shutil.disk_usage(disk).used + room))
    try:
        yield
    finally:
        for disk in disks:
            resize(disk, "4g")


def resize(disk: Path, size: str) -> None:
    """Give a disk another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
