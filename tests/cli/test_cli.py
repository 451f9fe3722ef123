"""The command line as processes: what it prints, how it ends, what it leaves behind.

The first sync is the installed program; the other commands are forked (``tests/processes.py``).
"""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest

from tests import processes
from tests.bench import CONFIG, FEWER, let_pass, queried
from tests.processes import Command
from tests.without_locks import refuse_locks
from wms_sandbox.app import Sandbox
from wms_sync.cli import demo, ui
from wms_sync.cli.main import main
from wms_sync.cli.operations import DAGSTER_HOME
from wms_sync.settings import Settings


@pytest.fixture(scope="module")
def environment(server) -> dict[str, str]:
    return {
        "WMS_BASE_URL": server.base_url,
        "WMS_API_TOKEN": CONFIG.token,
        "WMS_DATA_DIR": "data",
        "WMS_START_DATE": "2026-03-01",
        "WMS_PAGE_SIZE": "100",
    }


@pytest.fixture(scope="module")
def first(server, environment, tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What the installed program did from nothing, and the data folder that it left."""
    server.sandbox = Sandbox(FEWER)
    folder = tmp_path_factory.mktemp("first")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))}
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("wms-sync")), "sync"],
        env=inherited | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ended, folder / "data"


@pytest.fixture
def sandbox(server):
    server.sandbox = Sandbox(FEWER)
    return server


@pytest.fixture
def run(environment, sandbox, tmp_path):
    """A command at a service of the test's own."""
    return lambda *arguments, **changes: processes.run(arguments, environment | changes, tmp_path)


def shipments(tmp_path: Path) -> int:
    return int(queried(tmp_path / "data" / "analytics.duckdb", "select count(*) from shipments")[0][0])


def does_then_syncs(does: Callable[..., object], *arguments: object) -> None:
    does(*arguments)
    main(["sync"])


def test_sync_status_backfill_and_rebuild(first, run, sandbox, tmp_path):
    ended, data = first
    assert ended.returncode == 0, ended.stderr
    assert [words for words in ("240 shipments in", "published") if words not in ended.stdout] == []
    copytree(data, tmp_path / "data")

    again = run("backfill", "--from", "2026-03-20", "--to", "2026-03-22")
    assert again.returncode == 0, again.stderr
    assert "2026-03-20 00:00:00 UTC to 2026-03-22 00:00:00 UTC" in again.stdout
    served = len(sandbox.sandbox.requests)
    assert (run("rebuild").returncode, len(sandbox.sandbox.requests)) == (0, served)

    status = json.loads(run("status", "--json").stdout)
    assert (status["rows"]["shipments"], status["gaps"]) == (FEWER.shipments, [])
    found = {"check-statuses_are_known", "check-shipped_shipments_say_when"}
    assert {finding["name"] for finding in status["findings"]} == {"stale", "clocks", *found}


def test_doctor_finds_nothing_wrong_and_names_what_is(run):
    well = run("doctor")
    bad = [" ".join(line.split()[:2]) for line in well.stdout.splitlines() if line.startswith(("warn", "fail"))]
    assert (well.returncode, sorted(bad)) == (0, ["warn alerts", "warn clock", "warn nothing-synced"]), well.stdout
    probed = run("probe", "--json")
    worst, *others = json.loads(probed.stdout)
    assert (probed.returncode, worst["name"], worst["verdict"]) == (0, "clock", "warns")
    assert {habit["verdict"] for habit in others} == {"as specified"}
    assert run("probe").stdout.startswith("warns         clock: the service's clock is ")
    ill = run("doctor", WMS_API_TOKEN="wr0ng-t0ken")
    assert (ill.returncode, "WMS_API_TOKEN" in ill.stdout) == (1, True)


BACKFILL = "backfill --from {} --to 2026-03-05"
WRONG: dict[str, tuple[str, dict[str, str], str]] = {
    # a command, other settings, and what its one message names
    "a wrong token": ("sync", {"WMS_API_TOKEN": "wr0ng-t0ken"}, "WMS_API_TOKEN"),
    "no token": ("sync", {"WMS_API_TOKEN": ""}, "WMS_API_TOKEN"),
    "no service": ("sync", {"WMS_BASE_URL": ""}, "WMS_BASE_URL"),
    "plain http": ("sync", {"WMS_BASE_URL": "http://example.com"}, "WMS_BASE_URL"),
    "a page size": ("sync", {"WMS_PAGE_SIZE": "5000"}, "WMS_PAGE_SIZE"),
    "a bucket": ("sync", {"WMS_FILES_URL": "file:///proc/nothing"}, "WMS_FILES_URL"),
    "a state store": ("sync", {"WMS_STATE_URL": "nonsense"}, "WMS_STATE_URL"),
    "no days": (BACKFILL.format("2026-03-05"), {}, "2026-03-05"),
    "days before the first": (BACKFILL.format("2025-01-01"), {}, "WMS_START_DATE"),
    "no day": (BACKFILL.format("yesterday"), {}, "yesterday"),
    "days to come": ("backfill --from 2999-03-04 --to 2999-03-05", {}, "2999-03-0"),
    "a finding that lasts": ("acknowledge nothing-synced", {}, "stays until the problem is fixed"),
    "no command": ("nonsense", {}, "nonsense"),
    "no port": ("ui --port 65536", {}, "--port"),
    "no port of a UI": ("ui --port 0", {}, "--port"),
    "a home that Dagster misreads": (
        "ui --port 1",
        {DAGSTER_HOME: "~/100%", "HOME": "/nowhere"},
        "DAGSTER_HOME is /nowhere/100%",
    ),
    "a port below all": ("sandbox --port -1", {}, "--port"),
    "shipments without end": (f"sandbox --shipments {10**23}", {}, "--shipments"),
    "no recording": ("sandbox --port 0 --replay .", {}, "has no recording"),
    "a circle of links": ("backup circle", {}, "'circle': the name is not UTF-8, or its links lead in a circle"),
    "a name that is not UTF-8": ("verify name\udcff", {}, "'name\\udcff': the name is not UTF-8"),
}


@pytest.mark.parametrize(("command", "changes", "named"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_clear_message(run, tmp_path, command, changes, named):
    (tmp_path / "circle").symlink_to("circle")
    ended = run(*command.split(), **changes)
    said = [line for line in ended.stderr.splitlines() if line.startswith(("wms-sync:", "wms-sync sandbox:", "Error:"))]
    assert (ended.returncode, len(said), named in ended.stderr) == (2, 1, True), ended.stderr
    assert [words for words in ("Traceback", "wr0ng-t0ken") if words in ended.said] == []
    assert not (tmp_path / "data" / "analytics.duckdb").exists()


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing(environment, sandbox, tmp_path, closed):
    """It ended with 1, without a text and without a record."""
    program = Path(sys.executable).with_name("wms-sync")
    ended = subprocess.run(["bash", "-c", f"{program} sync {closed}"], cwd=tmp_path, env=environment, check=False)
    assert (ended.returncode, shipments(tmp_path)) == (0, FEWER.shipments)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_named(environment, tmp_path, number):
    with Command(partial(does_then_syncs, refuse_locks, number), environment, tmp_path) as command:
        ended = command.ended()
    refused = f"wms-sync: {tmp_path / 'data/work/writer.lock'} cannot be used ({os.strerror(number)})."
    assert (ended.returncode, ended.stderr.splitlines()[-1].startswith(refused)) == (1, True), ended.stderr


def test_explain_traces_a_shipment_to_its_page(first, run, tmp_path):
    copytree(first[1], tmp_path / "data", dirs_exist_ok=True)
    query = "select id::varchar, order_id from shipments order by id limit 1"
    [(shipment, order)] = queried(tmp_path / "data" / "analytics.duckdb", query)
    explained = run("explain", "shipment", shipment)
    assert (explained.returncode, f"order {order}" in explained.stdout) == (0, True), explained.said
    [found] = json.loads(run("explain", "shipment", shipment, "--json").stdout)
    assert (tmp_path / "data" / found["versions"][0]["origin"]["file"]).is_file()
    unknown = run("explain", "shipment", "nowhere")
    assert (unknown.returncode, "The tables cover" in unknown.stderr) == (1, True)


def fill_the_log() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(full, stream)


def test_an_interrupted_sync_continues_though_its_log_is_full(first, environment, sandbox, tmp_path):
    def pages() -> set[Path]:
        return set((tmp_path / "data").glob("raw/shipments/*/page-*"))

    copytree(first[1], tmp_path / "data")
    let_pass(sandbox.sandbox, seconds=3600, new=25)
    sandbox.sandbox.intercept = lambda _: time.sleep(0.3)
    in_small_pages = environment | {"WMS_PAGE_SIZE": "5"}
    for stop in (signal.SIGINT, signal.SIGTERM):
        before = pages()
        with Command(["sync"], in_small_pages, tmp_path) as command:
            while pages() == before:
                assert command.is_running, command.stderr
                time.sleep(0.05)
            command.send_signal(stop)
            ended = command.ended()
        assert (ended.returncode, "interrupted" in ended.stderr, "Traceback" in ended.stderr) == (130, True, False)
    sandbox.sandbox.intercept = None
    assert shipments(tmp_path) == FEWER.shipments
    with Command(partial(does_then_syncs, fill_the_log), in_small_pages, tmp_path) as command:
        assert command.ended().returncode == 1
    assert shipments(tmp_path) == FEWER.shipments + 25


@pytest.mark.parametrize(
    ("output", "code", "says"),
    [("| true", 0, r""), ("> /dev/full", 1, r"wms-sync: The output of this command could not be written .*\n")],
)
def test_output_that_nobody_takes_has_at_most_a_message(first, environment, output, code, says):
    """The pipe broke while the data folder was read, and the folder was blamed; a full disk had a traceback too."""
    status = f"{Path(sys.executable).with_name('wms-sync')} status --json {output}"
    folder = first[1].parent
    ended = subprocess.run(
        ["sh", "-c", status], env=os.environ | environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, bool(re.fullmatch(says, ended.stderr))) == (code, True), ended.stderr


READ = """
import json
from wms_sync.settings import Settings
read = Settings.load()
print(json.dumps([read.database_url, read.alert_webhook_url, read.page_size, read.push_enabled]))
"""


def test_a_sandbox_takes_nothing_of_a_production(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("WMS_STATE_URL=sqlite:///production.db\nWMS_ALERT_WEBHOOK_URL=https://hooks.example.com\n")
    monkeypatch.setenv("WMS_PAGE_SIZE", "7")
    monkeypatch.setenv("WMS_PUSH_ENABLED", "true")
    monkeypatch.setenv(DAGSTER_HOME, "production")
    with ui.on_sandbox(3000) as (environment, folder), ui.on_sandbox(3001):
        read = subprocess.run([sys.executable, "-c", READ], env=environment, cwd=folder, stdout=subprocess.PIPE)
    own = tmp_path / ui.SANDBOX_FOLDER / "3000" / "data"
    assert json.loads(read.stdout) == [f"sqlite:///{own / 'state.db'}", None, 1000, True]
    assert environment[DAGSTER_HOME] == f"{own}-dagster"

    production = {"FILES_URL": "s3://a", "METRICS_URL": "https://b.example.com", "STATE_URL_FILE": "production.url"}
    for name, value in {**production, "ON_TIME_TARGET": "95"}.items():
        monkeypatch.setenv(f"WMS_{name}", value)
    taken = demo.own_settings(tmp_path, "http://127.0.0.1:8808")
    others = {name for name, field in Settings.model_fields.items() if getattr(taken, name) != field.default}
    its_own = {"base_url", "api_token", "merchant_username", "merchant_api_key", "data_dir", "report", "start_date"}
    assert others == its_own | {"clock_tolerance_seconds", "on_time_target"}
