"""Dagster's own command line finds, checks and runs what is here, by ``[tool.dg]`` of the project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipelines.dagster_ui import DagsterUi

ROOT = Path(__file__).parents[2]
DG = Path(sys.executable).with_name("dg")
COMMANDS = {
    "check": ["check", "defs"],
    "list": ["list", "defs", "--json"],
    "launch": ["launch", "--job", "load_tables"],
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Settings of a service that nothing has to answer for."""
    return {
        "PATH": f"{DG.parent}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(DG.parents[1]),
        "WMS_DATA_DIR": str(tmp_path / "data"),
        "WMS_BASE_URL": "http://127.0.0.1:9",
        "WMS_API_TOKEN": "token",
    }


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_dg_knows_the_project(tmp_path, environment, arguments):
    (tmp_path / "dagster.yaml").touch()
    environment = os.environ | environment | {"DAGSTER_HOME": str(tmp_path)}
    ended = subprocess.run([DG, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "nightly_sync" in ended.stdout or arguments[0] != "list"


def test_dg_serves_the_ui(tmp_path, environment):
    with DagsterUi(tmp_path, environment, [str(DG), "dev"], ROOT) as ui:
        assert ui.selector["repositoryLocationName"] == "wms-sync"
