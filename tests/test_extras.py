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


NEEDED = {
    # extra: a command, and a setting that needs the extra
    "alerts": ("sync", {"WMS_ALERT_URLS": "no address"}),
    "files": ("status", {"WMS_FILES_URL": "s3://bucket/prefix"}),
    "lake": ("reader", {"WMS_ANALYTICS": "ducklake"}),
    "postgres": ("rebuild", {"WMS_STATE_URL": "postgresql://127.0.0.1:1/none"}),
    "report": ("sync", {"WMS_REPORT": "true"}),
}


@pytest.mark.parametrize("extra", NEEDED)
def test_a_setting_that_needs_an_extra_says_so_first(tmp_path, extra):
    command, setting = NEEDED[extra]
    ended = run(tmp_path, command, **setting)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.splitlines()[1:] == [
        f"  {next(iter(setting))}: needs the extra `{extra}`, which is not installed: pip install 'wms-sync[{extra}]'"
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("report", 2, "needs the extra `report`, which is not installed: pip install 'wms-sync[report]'.\n"),
        ("status", 3, "Nothing is synced yet"),
    ],
)
def test_commands_do_without_the_extras_that_they_do_not_need(tmp_path, command, code, said):
    ended = run(tmp_path, command)
    assert (ended.returncode, said in ended.stdout + ended.stderr) == (code, True), ended.stderr
    assert code != 2 or list(tmp_path.iterdir()) == []


def test_each_extra_is_one_of_the_package():
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(MODULES) <= set(pyproject["project"]["optional-dependencies"])
