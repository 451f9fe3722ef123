"""What commands log on standard error: a bar or lines for people, JSON for pods, and each request if asked for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.responses import Response

from tests.cli.conftest import TOKEN
from tests.master_data.files import write
from wms_sandbox.faults import Disconnect
from wms_sync.state.store import StateStore

COMMANDS: dict[str, tuple[str, dict[str, str], int, str]] = {
    # a command, other settings, its exit code, and the level of its last record
    "sync": ("sync", {}, 0, "info"),
    "a terminal": ("sync", {"FORCE_COLOR": "1"}, 0, "info"),
    "rebuild": ("rebuild", {}, 0, "info"),
    "a push": ("push retailers given.csv", {}, 3, "info"),
    "each request": ("--log-level debug sync", {}, 0, "info"),
    "a wrong token": ("sync", {"WMS_API_TOKEN": "wr0ng"}, 2, "error"),
    "a wrong setting": ("sync", {"WMS_PAGE_SIZE": "none"}, 2, "error"),
}


@pytest.mark.parametrize(("command", "changes", "code", "last"), COMMANDS.values(), ids=COMMANDS)
def test_a_pod_logs_json(type_in, settings, command, changes, code, last):
    write(Path("given.csv"), "code,name,status", "a,A,", "b,B,none")
    type_in("sync")
    ended = type_in(*command.split(), **{"WMS_LOG_FORMAT": "json"} | changes)
    records = [json.loads(line) for line in ended.stderr.splitlines()]
    assert (ended.exit_code, records[-1]["level"]) == (code, last), ended.stderr
    assert {tuple(record) for record in records} == {("time", "level", "message", "run")}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record["time"]) for record in records)
    if code != 2:
        with StateStore.opened(settings.database_url) as store:
            newest = store.runs.newest(1)[0].run_id
        assert {record["run"] for record in records} - {None} == {records[-1]["run"]} == {newest}


def test_a_file_of_settings_may_ask_for_json(type_in):
    Path(".env").write_text("WMS_LOG_FORMAT=json\nWMS_OVERLAP_SECONDS=none\n")
    [refused] = type_in("sync").stderr.splitlines()
    assert "WMS_OVERLAP_SECONDS" in json.loads(refused)["message"]


BROKEN = """
import click
from wms_sync.cli.commands import exits_with_code
from wms_sync.cli.main import main
main.add_command(click.Command("broken", callback=exits_with_code(lambda: {}["of a defect"])))
main(["broken"])
"""


def test_a_defect_keeps_its_traceback(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN], env={}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, "KeyError: 'of a defect'")


@pytest.mark.parametrize(("level", "shown"), [("debug", True), ("info", False), ("warning", False)])
def test_each_request_is_logged_for_who_asks(type_in, service_of_today, level, shown):
    """Those that are sent again too, and those without an answer."""
    answers = [Disconnect(), Response("<html>down</html>", 503)]
    service_of_today.sandbox.intercept = lambda _: answers.pop(0) if answers else None
    ended = type_in("--log-level", level, "sync", WMS_WAREHOUSE_TIMEZONES="*=UTC")
    lines = re.findall(r"GET \S+ (got no answer|answered \d+) after ", ended.stderr)
    statuses = [f"answered {request.status}" for request in service_of_today.sandbox.requests]
    assert lines == (["got no answer", "answered 503", *statuses[2:]] if shown else [])
    assert (TOKEN in ended.stderr, "of 300 shipments" in ended.stderr) == (False, level != "warning"), ended.stderr


def test_a_terminal_has_a_bar_others_have_lines(type_in, monkeypatch):
    done = type_in("sync")
    lines = done.stderr.splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d UTC  ", line)] == []
    assert "0 of 300 shipments (0%), 0 pages, 0 of 1 window" in lines[0]
    assert "merged 1 of 1 window\n" in done.stderr
    phases = "  ".join(rf"{phase} [\d.]+ s" for phase in ("read", "flatten", "merge", "check", "publish", "other"))
    assert re.search(f"^took      {phases}$", done.stdout, re.MULTILINE), done.stdout

    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = type_in("sync").stderr
    assert ("reading" in bar, "0 of 300 shipments" in bar) == (True, False), "the bar shows it"
    lines = [line for line in bar.splitlines() if "refreshing" in line or "merged 1 of 1 window" in line]
    assert (len(lines), [line for line in lines if "reading" in line]) == (2, []), "each has its line"
