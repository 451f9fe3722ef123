"""Nights with trouble, under a real `wms-sync ui`: what alert comes, and whether the next sync heals it.

Only under ``--soak``, since one waits for the real pause before a second attempt. What the UI shows and which other
findings are told is in ``tests/pipelines`` and ``tests/reports/alerts``.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.bench import CONFIG
from tests.oracle import differences, expected_tables
from tests.pipelines.dagster_ui import DagsterUi
from tests.processes import Command
from tests.receiver import Receiver, receiving
from tests.survival.full_disks import may_mount, needs_a_disk
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.server import SandboxServer
from wms_sync.state.run_records import KILLED, RunRecord, RunRecords
from wms_sync_pipelines.operation import NIGHTLY, SCHEDULE

pytestmark = pytest.mark.filterwarnings("default")

T = TypeVar("T")
SECONDS = 400.0
"""How long a wait lasts at most. The machine may have other work."""


class House:
    """A service, a receiver of alerts, a small disk for the data if that is permitted, and one `wms-sync ui`."""

    def __init__(self, folder: Path, server: SandboxServer, hook: Receiver) -> None:
        self.server, self.hook = server, hook
        self.files, self.home, self.disk = folder / "files", folder / "home", folder / "disk"
        self.files.mkdir()
        self.disk.mkdir()
        self.data = self.disk / "data"
        self.environment = {
            "WMS_BASE_URL": server.base_url,
            "WMS_API_TOKEN": CONFIG.token,
            "WMS_DATA_DIR": str(self.data),
            "WMS_START_DATE": (datetime.now(UTC).date() - timedelta(days=CONFIG.days + 5)).isoformat(),
            "WMS_PAGE_SIZE": "100",
            "WMS_AUDIT_PAGES": "0",
            "WMS_ALERT_WEBHOOK_URL": hook.url,
            "WMS_HEARTBEAT_URL": f"{hook.origin}/beat",
            "WMS_MASTER_DATA_DIR": str(self.files),
            "WMS_PUSH_ENABLED": "true",
        }
        self.dagster = DagsterUi(self.home, self.environment)

    def begins(self) -> None:
        """A new night: the service is well, the receiver has taken nothing yet, and something has changed."""
        self.hook.clear()
        self.server.sandbox.intercept = None
        self.changes()

    def changes(self) -> None:
        """Something happens in the service, and some time passes."""
        self.server.sandbox.advance(seconds=2, changed=20, new=5, orders=5)
        self.server.sandbox.advance(seconds=2)

    def night(self) -> str:
        """Launch a run as the schedule does; its id."""
        return self.dagster.launch_run("nightly_sync", {SCHEDULE: NIGHTLY})

    def ends(self, run_id: str) -> str:
        """Wait until a run has ended; its status."""
        return self.dagster.ended(run_id, 2 * SECONDS)

    def heals(self) -> None:
        """The next sync succeeds, sends the heartbeat after all alerts that are due, and makes every table equal."""
        beats = self.beats
        assert self.ends(self.dagster.launch_run("nightly_sync")) == "SUCCESS", self.dagster.log
        self.waits(lambda: self.beats > beats or None, "the heartbeat")
        self.assert_equal()

    def assert_equal(self) -> None:
        with duckdb.connect(self.data / "analytics.duckdb", read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            assert differences(connection, expected_tables(self.server)) == []

    def hears(self, *alerts: str) -> None:
        """Wait until these alerts have come in this order, and see that no other has."""
        self.waits(lambda: self.hook.heard == [*alerts] or None, f"the alerts {alerts}")

    @property
    def beats(self) -> int:
        """How often the heartbeat was called since the night began."""
        return self.hook.asked.count("GET /beat")

    def newest_record(self) -> RunRecord:
        """What the state store has of the newest run."""
        with RunRecords.opened(f"sqlite:///{self.data / 'state.db'}") as records:
            [newest] = records.newest(1)
        return newest

    def waits(self, look: Callable[[], T | None], what: str) -> T:
        """Look again and again until something is there."""
        return self.dagster.wait(look, what, SECONDS)


@pytest.fixture(scope="module")
def first_night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if not request.config.getoption("--soak"):
        pytest.skip("only under --soak: it waits for a second attempt")
    sandbox = Sandbox(replace(CONFIG, now=None, shipments=300, odd_values=False))
    with SandboxServer(sandbox) as server, receiving() as hook:
        house = House(tmp_path_factory.mktemp("house"), server, hook)
        if may_mount():
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", house.disk], check=True)
        with house.dagster:
            assert house.ends(house.night()) == "SUCCESS"
            yield house
        if may_mount():
            subprocess.run(["umount", "--lazy", house.disk], check=True)


@pytest.fixture
def house(first_night: House) -> House:
    first_night.begins()
    return first_night


def test_the_service_is_down(house):
    house.server.sandbox.intercept = lambda _: Response("the service is being maintained", status_code=503)
    run = house.night()
    house.waits(lambda: "requested a retry" in " ".join(house.dagster.messages(run)) or None, "the first pause")
    assert house.newest_record().outcome == "waiting"
    house.server.sandbox.intercept = None
    assert house.ends(run) == "SUCCESS"
    house.waits(lambda: house.beats or None, "the heartbeat")
    assert house.hook.heard == [], "it is told only when the night is given up"
    house.assert_equal()


def test_a_command_is_killed(house):
    def slow(_: Request) -> None:
        time.sleep(1)

    house.server.sandbox.intercept = slow
    with Command(["sync"], {**house.environment, "DAGSTER_HOME": str(house.home)}, house.home):
        house.waits(lambda: house.newest_record().outcome == "running" or None, "the command's run")
    house.server.sandbox.intercept = None
    house.hears("new:run-sync")
    assert house.newest_record().error == KILLED
    house.heals()
    house.hears("new:run-sync", "ended:run-sync")


@needs_a_disk
def test_not_a_byte_is_left_on_the_disk(house):
    """The run is not recorded: it sends its alert past the state store."""

    def resize(size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", house.disk], check=True)

    resize(str(shutil.disk_usage(house.disk).used))
    try:
        assert house.ends(house.dagster.launch_run("nightly_sync")) == "FAILURE"
        house.hears("new:run-sync")
    finally:
        resize("4g")
    house.heals()
    house.hears("new:run-sync")


def test_a_push_meets_an_outage(house):
    house.server.sandbox.intercept = lambda request: failed(503) if request.method == "POST" else None
    before = {run["runId"] for run in house.dagster.runs()}

    def pushes() -> str | None:
        new = (run for run in house.dagster.runs() if run["runId"] not in before)
        return next((run["runId"] for run in new if "dagster/sensor_name" in run["tags"]), None)

    (house.files / "location-tags-nights.csv").write_text("name,color\nnight-1,red4\nnight-2,blue1\n")
    assert house.ends(house.waits(pushes, "a run of the sensor")) == "FAILURE"
    house.hears("new:run-push_location_tags")
    house.server.sandbox.intercept = None
    house.hears("new:run-push_location_tags", "ended:run-push_location_tags")
    names = [tag["name"] for tag in house.server.sandbox.location_tags()]
    assert sorted(names) == ["night-1", "night-2"], "each is created once"
