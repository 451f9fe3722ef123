"""Nights with trouble, under a real `dagster dev`: what its UI shows, what alert comes, and whether it heals alone.

Only under ``--soak``, some twenty minutes; it prints the table that the docs show.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import CONFIG
from tests.oracle import differences, expected_tables
from tests.pipelines.dagster_dev import DagsterDev
from tests.receiver import Receiver, receiving
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.server import SandboxServer
from wms_sync.settings import Settings
from wms_sync.state.runs import KILLED, RunRecord, RunRecords

pytestmark = pytest.mark.filterwarnings("default")
T = TypeVar("T")

SCHEDULE = """
query Schedule($selector: ScheduleSelector!) { scheduleOrError(scheduleSelector: $selector) {
  ... on Schedule { scheduleState { id selectorId } }
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
} } } }
"""
HEALED = "yes"


@dataclass(frozen=True)
class Told:
    """One line of the table."""

    trouble: str
    shown: str
    alerts: str
    healed: str


class House:
    """A service, a receiver of alerts, a data folder on a small disk, and `dagster dev`."""

    def __init__(self, folder: Path, server: SandboxServer, hook: Receiver) -> None:
        self.server, self.hook = server, hook
        self.data, self.files = folder / "disk" / "data", folder / "files"
        self.files.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        start = datetime.now(UTC).date() - timedelta(days=CONFIG.days + 5)
        self.environment = {
            "WMS_BASE_URL": server.base_url,
            "WMS_API_TOKEN": CONFIG.token,
            "WMS_DATA_DIR": str(self.data),
            "WMS_START_DATE": start.isoformat(),
            "WMS_PAGE_SIZE": "100",
            "WMS_SCHEDULE_CRON": "* * * * *",
            "WMS_ALERT_WEBHOOK_URL": hook.url,
            "WMS_HEARTBEAT_URL": f"{hook.origin}/beat",
            "WMS_MASTER_DATA_DIR": str(self.files),
            "WMS_PUSH_ENABLED": "true",
            "WMS_AUDIT_PAGES": "0",  # what an audit finds is told as well
        }
        self.settings = Settings.load(base_url=server.base_url, data_dir=self.data, start_date=start, _env_file=None)
        self.dagster = DagsterDev(self.home, self.environment)

    def changes(self) -> None:
        """Something happens in the service, and some time passes."""
        self.server.sandbox.advance(seconds=2, changed=20, new=5, orders=5)
        self.server.sandbox.advance(seconds=2)

    def ticks(self) -> str:
        """Switch the schedule on until it has started a run; its id."""
        before = self.known()
        self.schedule(on=True)
        try:
            return self.waits(lambda: self.new_run(before, "dagster/schedule_name"), "the schedule to start a run")
        finally:
            self.schedule(on=False)

    def schedule(self, *, on: bool) -> None:
        """Switch the schedule on or off, as the UI does."""
        selector = {**self.dagster.selector, "scheduleName": "nightly"}
        if on:
            self.dagster.query(START, selector=selector)
        else:
            state = self.dagster.query(SCHEDULE, selector=selector)["scheduleOrError"]["scheduleState"]
            self.dagster.query(STOP, id=state["id"])

    def known(self) -> set[str]:
        """The ids of all runs so far."""
        return {run["runId"] for run in self.dagster.runs()}

    def new_run(self, before: set[str], tag: str) -> str | None:
        """The id of a run with this tag that was not there before."""
        return next(
            (run["runId"] for run in self.dagster.runs() if run["runId"] not in before and tag in run["tags"]), None
        )

    def ends(self, run_id: str, seconds: float = 300) -> str:
        """Wait until a run has ended; its status."""

        def ended() -> str | None:
            [status] = [run["status"] for run in self.dagster.runs() if run["runId"] == run_id]
            return status if status in {"SUCCESS", "FAILURE", "CANCELED"} else None

        return self.waits(ended, f"the run {run_id} to end", seconds)

    def shown(self, run_id: str) -> str:
        """What the UI shows of why a run failed: the first line of it."""
        events = self.dagster.query(LOGS, run=run_id)["logsForRun"]["events"]
        texts = [event["failureMetadata"]["description"] for event in events if event.get("failureMetadata")]
        texts += [
            text for event in events if (text := event.get("message") or "").startswith("The process of this run")
        ]
        texts += [event["message"] for event in events if event["__typename"] == "RunFailureEvent"]
        return next((text for text in texts if text), "nothing")

    def pid_of(self, run_id: str) -> int | None:
        """The process of a run that Dagster launched."""
        events = self.dagster.query(LOGS, run=run_id)["logsForRun"]["events"]
        found = re.search(r"\(pid: (\d+)\)", " ".join(event.get("message") or "" for event in events))
        return int(found[1]) if found else None

    def heals(self) -> str:
        """The next tick: whether its run succeeds, and every table then equals the service."""
        run = self.ticks()
        assert self.ends(run) == "SUCCESS", self.shown(run)
        return self.equals_the_service()

    def equals_the_service(self) -> str:
        """Compare every table with what the service holds."""
        with duckdb.connect(self.data / "analytics.duckdb", read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            found = differences(connection, expected_tables(self.server))
        assert not found, found[:10]
        return HEALED

    def hears(self, *events: str, seconds: float = 150) -> str:
        """Wait until these alerts have come, and see that no other has; what they are."""
        wanted = sorted(events)
        try:
            self.waits(lambda: sorted(self.told) == wanted or None, f"{wanted}", seconds)
        except AssertionError:
            raise AssertionError(f"waited for the alerts {wanted}, and had {self.told}") from None
        return ", ".join(events)

    def newest_record(self) -> RunRecord:
        """What the state store has of the newest run."""
        with RunRecords(self.settings.database_url) as records:
            [newest] = records.newest(1)
        return newest

    @property
    def told(self) -> list[str]:
        """The alerts since the last `forgets`, without heartbeats."""
        return [event for event in self.hook.events if event != "heartbeat"]

    @property
    def texts(self) -> str:
        """What they said."""
        return "\n".join(str(body["text"]) for body in self.hook.taken)

    def waits(self, look: Callable[[], T | None], what: str, seconds: float = 150) -> T:
        """Look again and again until something is there."""
        return self.dagster.wait(look, what, seconds)


@pytest.fixture(scope="module")
def table() -> Iterator[list[Told]]:
    lines: list[Told] = []
    yield lines
    print("\n| trouble | the UI shows | alerts | heals alone |\n| --- | --- | --- | --- |")
    for line in lines:
        print(f"| {line.trouble} | {line.shown} | {line.alerts} | {line.healed} |")


@pytest.fixture(scope="module")
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak: it waits for ticks of a schedule")
    folder = tmp_path_factory.mktemp("house")
    (folder / "disk").mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder / "disk"], check=False).returncode == 0
    sandbox = Sandbox(replace(CONFIG, now=None, shipments=300))
    with SandboxServer(sandbox) as server, receiving() as hook:
        house = House(folder, server, hook)
        with house.dagster:
            assert house.ends(house.ticks()) == "SUCCESS"
            yield house
    if mounted:
        subprocess.run(["umount", "--lazy", folder / "disk"], check=True)


@pytest.fixture(autouse=True)
def _forgets(house: House) -> None:
    house.hook.clear()
    house.server.sandbox.intercept = house.server.sandbox.rewrite = None
    house.changes()


def refused(_: Request) -> Response:
    return Response("the service is being maintained", status_code=503)


@contextmanager
def another_token(house: House) -> Iterator[None]:
    config = house.server.sandbox.config
    object.__setattr__(config, "token", "a token that was replaced")
    yield
    object.__setattr__(config, "token", CONFIG.token)


def test_the_service_is_down(house, table):
    house.server.sandbox.intercept = refused
    run = house.ticks()
    assert house.ends(run) == "FAILURE"
    shown = house.shown(run)
    assert "503" in shown
    assert "attempt 1 of this night; the next begins at" in shown
    house.server.sandbox.intercept = None
    before = house.known()
    again = house.waits(lambda: house.new_run(before, "wms/attempt"), "the next attempt", 240)
    assert house.ends(again) == "SUCCESS"
    assert house.told == []
    table.append(
        Told("service down", shown, "none: it is told only when the night is given up", house.equals_the_service())
    )


def test_the_token_is_wrong(house, table):
    with another_token(house):
        run = house.ticks()
        assert house.ends(run) == "FAILURE"
        shown = house.shown(run)
        assert "WMS_API_TOKEN" in shown
        house.hears("run_failed")
        assert "WMS_API_TOKEN" in house.texts
    healed = house.heals()
    table.append(
        Told("wrong token", shown, house.hears("run_failed", "recovered"), f"{healed}, once the token is right")
    )


def test_a_run_of_the_ui_is_killed(house, table):
    slow = house.server.sandbox
    slow.intercept = lambda _: time.sleep(1)
    run = house.dagster.launch_run("nightly_sync")
    pid = house.waits(lambda: house.pid_of(run), "the run's process")
    time.sleep(4)
    os.kill(pid, signal.SIGKILL)
    slow.intercept = None
    assert house.ends(run) == "FAILURE"
    house.hears("run_failed")
    assert "SIGKILL" in house.texts, house.texts
    shown = house.shown(run)
    assert "SIGKILL" in shown
    healed = house.heals()
    table.append(Told("kill of a UI run", shown, house.hears("run_failed", "recovered"), healed))


def test_a_command_is_killed(house, table):
    house.server.sandbox.intercept = lambda _: time.sleep(1)
    environment = {**os.environ, **house.environment, "DAGSTER_HOME": str(house.home)}
    command = [sys.executable, "-c", "from wms_sync.cli.main import main; main(['sync'])"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        house.waits(lambda: house.newest_record().outcome == "running" or None, "the command's run")
        time.sleep(2)
        process.kill()
    house.server.sandbox.intercept = None
    house.hears("run_failed")
    assert house.newest_record().error == KILLED
    shown = "no run; the check `last_sync_succeeded` fails with the next hourly upkeep"
    healed = house.heals()
    table.append(Told("kill of a command", shown, house.hears("run_failed", "recovered"), healed))


def test_the_ui_is_stopped_over_a_tick(house, table):
    known = house.known()
    house.schedule(on=True)
    house.dagster.terminate()
    house.changes()
    time.sleep(75)
    house.dagster.__enter__()
    try:
        run = house.waits(lambda: house.new_run(known, "dagster/schedule_name"), "the missed tick")
    finally:
        house.schedule(on=False)
    assert house.ends(run) == "SUCCESS"
    assert house.told == []
    told = "none; WMS_HEARTBEAT_URL is not called meanwhile"
    table.append(
        Told("UI stopped over a tick", "the missed tick's run, after the start", told, house.equals_the_service())
    )


def test_the_disk_is_full(house, table):
    disk = house.data.parent
    if not os.path.ismount(disk):
        pytest.skip("mounting a small disk is not permitted here")
    used = shutil.disk_usage(disk).used
    subprocess.run(["mount", "-o", f"remount,size={used + 200_000}", disk], check=True)
    run = house.ticks()
    status, shown = house.ends(run), house.shown(run)
    assert status == "FAILURE"
    assert re.search(r"disk|space|room", shown, re.IGNORECASE), shown
    subprocess.run(["mount", "-o", "remount,size=4g", disk], check=True)
    house.hears("run_failed")
    healed = house.heals()
    told = house.hears("run_failed", "recovered")
    table.append(Told("disk full", shown, told, f"{healed}, once there is room"))


def test_a_page_has_a_value_that_fits_no_type(house, table):
    def poison(envelope: dict[str, Any]) -> dict[str, Any]:
        for shipment in envelope.get("collection", [])[:1]:
            shipment["created_at"] = "the day before yesterday"
        return envelope

    house.server.sandbox.rewrite = poison
    run = house.ticks()
    assert house.ends(run) == "SUCCESS"
    house.hears("quarantine")
    house.server.sandbox.rewrite = None
    with duckdb.connect(house.data / "analytics.duckdb", read_only=True) as connection:
        rows = connection.execute("select path, text from ops.quarantine").fetchall()
    assert rows
    healed = house.heals()  # the overlap reads the shipment again
    table.append(
        Told(
            "a value that fits no type",
            "the run succeeds; the check nothing_was_quarantined_in_the_latest_load warns",
            "quarantine",
            f"{healed}, when the shipment is read again",
        )
    )


def test_a_push_meets_an_outage(house, table):
    house.server.sandbox.intercept = lambda request: failed(503) if request.method == "POST" else None
    before = house.known()
    (house.files / "location-tags-nights.csv").write_text("name,color\nnight-1,red4\nnight-2,blue1\n")
    run = house.waits(lambda: house.new_run(before, "dagster/sensor_name"), "the push")
    assert house.ends(run) == "FAILURE"
    shown = house.shown(run)
    house.hears("run_failed")
    house.server.sandbox.intercept = None
    tags = house.waits(lambda: len(house.server.sandbox.location_tags()) == 2 or None, "both tags", 400)
    assert tags
    told = house.hears("run_failed", "recovered")
    names = [tag["name"] for tag in house.server.sandbox.location_tags()]
    assert sorted(names) == ["night-1", "night-2"]
    table.append(Told("push in an outage", shown, told, f"{HEALED}: created once"))


def test_the_webhook_is_down(house, table):
    house.hook.status = 500
    with another_token(house):
        run = house.ticks()
        assert house.ends(run) == "FAILURE"
        shown = house.shown(run)
        time.sleep(40)
        assert house.told == []
        house.hook.status = 204
        told = house.hears("run_failed", seconds=240)
    healed = house.heals()
    house.hears("run_failed", "recovered")
    table.append(Told("webhook down", shown, f"{told}, late; then recovered", healed))
