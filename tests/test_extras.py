"""What needs an extra that is not installed says so first, whatever else is wrong."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from wms_sync.errors import MODULES

LACKING = """
import sys
from wms_sync.cli.main import main
from wms_sync.errors import MODULES

sys.modules.update({name: None for names in MODULES.values() for name in names})
"""
EACH = """
import json
import os
from click.testing import CliRunner

for command, settings in json.loads(sys.argv[1]):
    ended = CliRunner().invoke(main, [command], env=settings)
    print(json.dumps([ended.exit_code, ended.output, os.listdir()]))
"""
CASES = [
    # a command, its settings, and the extra that one of them needs
    ("sync", {"WMS_ALERT_URLS": "no address"}, "alerts"),
    ("status", {"WMS_FILES_URL": "s3://bucket/prefix"}, "files"),
    ("reader", {"WMS_ANALYTICS": "ducklake"}, "lake"),
    ("rebuild", {"WMS_STATE_URL": "postgresql://127.0.0.1:1/none"}, "postgres"),
    ("sync", {"WMS_REPORT": "true"}, "report"),
    ("report", {}, "report"),
]


def run(folder: Path, *command: str, code: str = "main(sys.argv[1:])", **settings: str) -> CompletedProcess[str]:
    """Run a command in a process that lacks every extra, with no service and no data."""
    return subprocess.run(
        [sys.executable, "-c", LACKING + code, *command],
        env={name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))} | settings,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.proof
def test_what_needs_an_extra_says_so_first(tmp_path):
    """And nothing else does: a status needs none."""
    ended = run(tmp_path, json.dumps([*(case[:2] for case in CASES), ("status", {})]), code=EACH)
    *refused, (code, said, _) = map(json.loads, ended.stdout.splitlines())
    for (_, settings, extra), (exit_code, output, files) in zip(CASES, refused, strict=True):
        needed = "".join(f"  {name}: " for name in settings)
        needed += f"needs the extra `{extra}`, which is not installed: pip install 'wms-sync[{extra}]'"
        assert (exit_code, output.count("needs the extra"), needed in output, files) == (2, 1, True, []), output
    assert (code, "Nothing has been synced yet" in said) == (0, True), said


def test_each_extra_is_one_of_the_package():
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {extra for *_, extra in CASES} == set(MODULES) <= set(pyproject["project"]["optional-dependencies"])
