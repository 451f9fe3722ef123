"""What needs an extra that is not installed says so first, whatever else is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wms_sync.errors import MODULES

pytestmark = pytest.mark.proof

LACKING = """
import sys
from wms_sync.cli.main import main
from wms_sync.errors import MODULES

sys.modules.update({name: None for names in MODULES.values() for name in names})
main(sys.argv[1:])
"""


def run(folder: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that lacks every extra, with no service and no data."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))}
    return subprocess.run(
        [sys.executable, "-c", LACKING, *command],
        env={**kept, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("extra", "setting", "value", "command"),
    [
        ("alerts", "WMS_ALERT_URLS", "no address", "sync"),
        ("files", "WMS_FILES_URL", "s3://bucket/prefix", "status"),
        ("lake", "WMS_ANALYTICS", "ducklake", "reader"),
        ("postgres", "WMS_STATE_URL", "postgresql://127.0.0.1:1/none", "rebuild"),
        ("report", "WMS_REPORT", "true", "sync"),
    ],
)
def test_a_setting_that_needs_an_extra_says_so_first(tmp_path, extra, setting, value, command):
    ended = run(tmp_path, command, **{setting: value})
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.splitlines()[1:] == [
        f"  {setting}: needs the extra `{extra}`, which is not installed: pip install 'wms-sync[{extra}]'"
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_needs_an_extra_says_so_first(tmp_path):
    ended = run(tmp_path, "report")
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == (
        "wms-sync: The report needs the extra `report`, which is not installed: pip install 'wms-sync[report]'.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_other_commands_do_without(tmp_path):
    ended = run(tmp_path, "status")
    assert ended.returncode == 3, ended.stderr
    assert "Nothing is synced yet" in ended.stdout


def test_the_demo_does_without_a_report(tmp_path):
    ended = run(tmp_path, "demo")
    assert ended.returncode == 0, ended.stderr
    assert "report     it needs the extra `report`" in ended.stdout


def test_each_extra_is_one_of_the_package():
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(MODULES) <= set(pyproject["project"]["optional-dependencies"])
