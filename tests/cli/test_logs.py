"""What commands log on standard error: lines for people, JSON for pods, and each request where that is asked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import TOKEN
from tests.master_data.files import write
from wms_sync.state.store import StateStore

JSON = {"WMS_LOG_FORMAT": "json"}
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
    ended = type_in(*command.split(), **JSON | changes)
    records = [json.loads(line) for line in ended.stderr.splitlines()]
    assert (ended.exit_code, records[-1]["level"]) == (code, last), ended.stderr
    assert {tuple(record) for record in records} == {("time", "level", "message", "run")}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record["time"]) for record in records)
    with StateStore.opened(settings.database_url) as store:
        newest = store.runs.newest(1)[0].run_id
    assert code == 2 or {record["run"] for record in records} <= {newest, None}
    assert code == 2 or records[-1]["run"] == newest


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
    command = [sys.executable, "-c", BROKEN]
    ended = subprocess.run(command, env={}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, "KeyError: 'of a defect'")


@pytest.mark.parametrize(("level", "shown"), [("debug", True), ("info", False), ("warning", False)])
def test_each_request_is_logged_for_who_asks(type_in, service_of_today, level, shown):
    served = service_of_today.sandbox.requests
    ended = type_in("--log-level", level, "sync", WMS_WAREHOUSE_TIMEZONES="*=UTC")
    lines = [line for line in ended.stderr.splitlines() if " answered " in line]
    assert len(lines) == (len(served) if shown else 0)
    assert all(f" answered {request.status} " in line for request, line in zip(served, lines, strict=False))
    assert bool(ended.stderr) == (level != "warning"), ended.stderr
    assert TOKEN not in ended.stderr
