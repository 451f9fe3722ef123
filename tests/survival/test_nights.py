"""Nights with trouble, under a real `dagster dev`: what its UI shows, what alert comes, and whether it heals alone.

Only under ``--soak``, half an hour; it prints the table that the docs show.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tests.conftest import CONFIG
from tests.receiver import receiving
from tests.survival.house import HEALED, TOLERANCE, House, full, needs_small, small_disks
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.server import SandboxServer
from wms_sync.state.runs import KILLED

pytestmark = pytest.mark.filterwarnings("default")

FEW = 250
"""The service has more shipments, and fewer that changed lately."""
QUARANTINE = "nothing_was_quarantined_in_the_latest_load"
UNKNOWN_KEY = "no_unknown_key_came_in_the_latest_load"
READER = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    for _ in range(2):
        print(*connection.execute("select count(*) from shipments").fetchone(), flush=True)
        sys.stdin.readline()
"""


@dataclass(frozen=True)
class Told:
    """One line of the table."""

    trouble: str
    shown: str
    alerts: str
    healed: str


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
    sandbox = Sandbox(replace(CONFIG, now=None, shipments=300, only_known_statuses=True))
    with (
        small_disks(folder / "disk", folder / "home"),
        SandboxServer(sandbox) as server,
        receiving() as hook,
    ):
        house = House(folder, server, hook)
        with house.dagster:
            assert house.ends(house.ticks()) == "SUCCESS"
            yield house


@pytest.fixture(autouse=True)
def _begins(house: House) -> None:
    house.begins()


def refused(_: Request) -> Response:
    return Response("the service is being maintained", status_code=503)


@contextmanager
def another_token(house: House) -> Iterator[None]:
    config = house.server.sandbox.config
    object.__setattr__(config, "token", "a token that was replaced")
    yield
    object.__setattr__(config, "token", CONFIG.token)


def poison(envelope: dict[str, Any], *, until: str = "9999") -> dict[str, Any]:
    shipments = [shipment for shipment in envelope.get("collection", []) if shipment["updated_at"] < until]
    for shipment in shipments[:1]:
        shipment["created_at"] = "the day before yesterday"
    return envelope


def test_the_service_is_down(house, table):
    house.server.sandbox.intercept = refused
    shown = house.fails(house.ticks())
    assert "503" in shown
    assert "attempt 1 of this nightly sync. The next attempt begins at" in shown
    house.server.sandbox.intercept = None
    before = house.known()
    again = house.waits(lambda: house.new_run(before, "wms/attempt"), "the next attempt")
    assert house.ends(again) == "SUCCESS"
    house.waits(lambda: house.beats or None, "the heartbeat")
    assert house.told == []
    table.append(
        Told("service down", shown, "none: it is told only when the night is given up", house.equals_the_service())
    )


def test_a_page_of_html_comes_with_200(house, table):
    """What a scheduled night does then is in ``tests/pipelines/test_night_retries.py``."""
    house.server.sandbox.intercept = lambda _: HTMLResponse("<html>In maintenance</html>")
    shown = house.fails(house.syncs())
    assert "answered 200 with 27 bytes that are not a list" in shown
    house.hears("run_failed")
    house.server.sandbox.intercept = None
    healed = house.heals()
    table.append(Told("HTML with 200", shown, house.hears("run_failed", "recovered"), healed))


def test_the_token_is_wrong(house, table):
    with another_token(house):
        shown = house.fails(house.ticks())
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
    pid = house.waits(lambda: house.dagster.pid_of(run), "the run's process")
    house.waits(lambda: house.newest_record().run_id == run or None, "the run's record")
    os.kill(pid, signal.SIGKILL)
    slow.intercept = None
    shown = house.fails(run)
    house.hears("run_failed")
    assert "SIGKILL" in house.texts, house.texts
    assert "SIGKILL" in shown
    healed = house.heals()
    table.append(Told("kill of a UI run", shown, house.hears("run_failed", "recovered"), healed))


def test_a_command_is_killed(house, table):
    house.server.sandbox.intercept = lambda _: time.sleep(1)
    with house.command("sync") as process:
        house.waits(lambda: house.newest_record().outcome == "running" or None, "the command's run")
        time.sleep(2)
        process.kill()
    house.server.sandbox.intercept = None
    house.hears("run_failed")
    assert house.newest_record().error == KILLED
    shown = "no run; the check `last_sync_succeeded` fails with the next hourly upkeep"
    healed = house.heals()
    table.append(Told("kill of a command", shown, house.hears("run_failed", "recovered"), healed))


def test_the_state_is_lost(house, table):
    """Nights that failed are over, and are not told a second time."""
    for path in house.data.glob("state.db*"):
        path.unlink()
    healed = house.heals()
    [shown] = re.findall(r"restored .* in the state store from manifests and receipts.*", house.log(house.newest()))
    assert house.newest_record().counts["records"] < FEW, "nothing is read again"
    assert house.told == []
    table.append(Told("state lost", f"the log: {shown}", "none", healed))


def test_the_published_file_is_lost(house, table):
    (house.data / "analytics.duckdb").unlink()
    house.hears("tables_gone")
    healed = house.heals()
    assert house.newest_record().counts["records"] < FEW, "nothing is read again"
    shown = "nothing, until the next run: it succeeds and loads everything"
    table.append(Told("published file lost", shown, house.hears("tables_gone", "recovered"), healed))


def test_the_ui_is_stopped_over_two_ticks(house, table):
    known = house.known()
    house.schedule(on=True)
    house.dagster.terminate()
    stopped = datetime.now(UTC)
    house.changes()
    time.sleep(125)
    started = datetime.now(UTC)
    house.dagster.__enter__()
    try:
        run = house.waits(lambda: house.new_run(known, "dagster/schedule_name"), "the missed tick")
    finally:
        house.schedule(on=False)
    assert house.ends(run) == "SUCCESS"
    nights = [
        datetime.fromisoformat(run["tags"]["wms/night"])
        for run in house.dagster.runs()
        if run["runId"] not in known and "wms/night" in run["tags"]
    ]
    assert len([night for night in nights if stopped < night < started]) <= 1, "of two missed ticks, the last"
    house.waits(lambda: house.beats or None, "the heartbeat")
    assert house.told == []
    told = "none; WMS_HEARTBEAT_URL is not called meanwhile"
    table.append(Told("UI stopped over two ticks", "the last missed tick's run", told, house.equals_the_service()))


def test_a_tick_comes_during_a_run(house, table):
    goes_on = threading.Event()

    def waits(_: Request) -> None:
        goes_on.wait(100)

    house.server.sandbox.intercept = waits
    known = house.known()
    house.schedule(on=True)
    try:
        first = house.waits(lambda: house.new_run(known, "dagster/schedule_name"), "the first tick")
        second = house.waits(lambda: house.new_run({*known, first}, "dagster/schedule_name"), "the second tick")
    finally:
        house.schedule(on=False)
    shown = house.waits(
        lambda: re.search("waiting for sync.*", house.log(first) + house.log(second)), "one run to wait for the other"
    )
    goes_on.set()
    assert (house.ends(first), house.ends(second)) == ("SUCCESS", "SUCCESS")
    house.waits(lambda: house.beats or None, "the heartbeat")
    assert house.told == []
    table.append(Told("overlapping ticks", f"the log: {shown[0]}", "none", house.equals_the_service()))


def test_the_disk_is_full(house, table):
    disk = house.data.parent
    needs_small(disk)
    with full(disk, room=200_000):
        shown = house.fails(house.syncs())
        assert re.search(r"disk|space|room", shown, re.IGNORECASE), shown
    house.hears("run_failed")
    healed = house.heals()
    told = house.hears("run_failed", "recovered")
    table.append(Told("disk full", shown, told, f"{healed}, once there is room"))


def test_not_a_byte_is_left_on_the_disk(house, table):
    """The run is not recorded: it sends its alert past the state store, and so does the sensor."""
    disk = house.data.parent
    needs_small(disk)
    with full(disk):
        shown = house.fails(house.syncs())
        house.hears("run_failed", "store_refuses")
    house.hears("run_failed", "store_refuses", "recovered")
    healed = house.heals()
    told = house.hears("run_failed", "store_refuses", "recovered")
    table.append(Told("no byte left for the state store", shown, told, f"{healed}, once there is room"))


def test_the_disk_of_the_home_is_full_too(house, table):
    """No sensor starts, so the heartbeat stays out; a command says so."""
    disks = [house.data.parent, house.home]
    needs_small(*disks)
    house.schedule(on=True)
    try:
        with full(*disks):
            with house.command("sync") as process:
                said, _ = process.communicate()
            assert process.returncode, said
            house.hears("run_failed")
            beats = house.beats
            time.sleep(125)
            assert house.beats == beats, "what receives the heartbeat sees that none comes"
        known = house.known()
        run = house.waits(lambda: house.new_run(known, "dagster/schedule_name"), "a tick, once there is room")
    finally:
        house.schedule(on=False)
    assert house.ends(run) == "SUCCESS", house.shown(run)
    healed = house.heals()
    told = house.hears("run_failed")
    shown = "nothing: its daemon cannot write"
    table.append(
        Told("disk of the home full too", shown, f"{told} by a command; no heartbeat", f"{healed}, once there is room")
    )


def test_a_page_has_a_value_of_no_type(house, table):
    house.server.sandbox.rewrite = poison
    house.warns(house.syncs(), QUARANTINE, "quarantine")
    house.server.sandbox.rewrite = None
    with duckdb.connect(house.data / "analytics.duckdb", read_only=True) as connection:
        rows = connection.execute("select path, text from ops.quarantine").fetchall()
    assert rows
    healed = house.heals()  # the overlap reads the shipment again
    table.append(
        Told(
            "a value that fits no type",
            f"the run succeeds; the check {QUARANTINE} warns",
            house.hears("quarantine"),
            f"{healed}, when the shipment is read again",
        )
    )


def test_an_audit_reads_a_value_of_no_type(house, table):
    """The audit brings a shipment that the overlap does not read again, so its days are."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    house.server.sandbox.rewrite = partial(poison, until=yesterday.isoformat())
    house.audits(pages=3)
    run = house.syncs()
    house.audits(pages=0)
    house.warns(run, QUARANTINE, "quarantine")
    house.server.sandbox.rewrite = None
    names = [day.isoformat() for day in house.days]
    assert house.ends(house.dagster.launch_range(["raw", "shipment_days"], names)) == "SUCCESS"
    healed = house.heals()
    table.append(
        Told(
            "an audit reads a value that fits no type",
            f"the run succeeds; the check {QUARANTINE} warns",
            house.hears("quarantine"),
            f"{healed}, when its days are read again",
        )
    )


def test_the_service_has_a_new_key(house, table):
    def rename(envelope: dict[str, Any]) -> dict[str, Any]:
        for shipment in envelope.get("collection", []):
            shipment["colour_of_the_box"] = "blue"
        return envelope

    house.server.sandbox.rewrite = rename
    house.warns(house.syncs(), UNKNOWN_KEY, "drift")
    house.changes()
    house.succeeds()  # the key comes again, and is not told again
    house.hears("drift")
    with house.command("inbox", "list") as listing:
        listed, _ = listing.communicate()
    names = re.findall(r"^(\S+)  .*colour_of_the_box", listed, re.MULTILINE)
    with house.command("acknowledge", *names) as acknowledging:
        assert acknowledging.wait() == 0
    house.server.sandbox.rewrite = None
    healed = house.heals()
    table.append(
        Told(
            "schema change",
            f"the run succeeds; the check {UNKNOWN_KEY} warns",
            house.hears("drift"),
            f"{healed}; the key is kept in the raw pages until a type knows it, or somebody acknowledges it",
        )
    )


def test_a_reader_holds_the_file(house, table):
    command = [sys.executable, "-c", READER, str(house.data / "analytics.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        before = reader.stdout.readline()
        healed = house.heals()
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == before, "it keeps what it has opened"
        reader.stdin.write("\n")
    assert house.told == []
    table.append(
        Told("a reader holds the file", "the run succeeds", "none", f"{healed}: who connects sees the new file")
    )


def test_a_push_meets_an_outage(house, table):
    house.server.sandbox.intercept = lambda request: failed(503) if request.method == "POST" else None
    before = house.known()
    (house.files / "location-tags-nights.csv").write_text("name,color\nnight-1,red4\nnight-2,blue1\n")
    run = house.waits(lambda: house.new_run(before, "dagster/sensor_name"), "the push")
    shown = house.fails(run)
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
        shown = house.fails(house.ticks())
        time.sleep(40)
        assert house.told == []
        house.hook.status = 204
        told = house.hears("run_failed")
    healed = house.heals()
    house.hears("run_failed", "recovered")
    table.append(Told("webhook down", shown, f"{told}, late; then recovered", healed))


def test_the_clock_of_the_service_is_ahead(house, table):
    house.server.sandbox.redate = lambda right: right + timedelta(hours=1)
    shown = house.warns(house.syncs(), "clocks_agree", "finding")
    told = house.hears("finding")
    house.server.sandbox.redate = None
    house.changes()
    time.sleep(TOLERANCE)
    healed = house.heals()
    house.hears("finding")
    table.append(
        Told(
            "clock ahead",
            f"the check clocks_agree warns: {shown}",
            told,
            f"{healed}, once the clock is past WMS_CLOCK_TOLERANCE_SECONDS",
        )
    )
