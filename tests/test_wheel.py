"""The wheel in empty environments: of each Python that is here, with the newest and the lowest versions that it takes.

Each downloads every dependency of its own.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.pipelines.dagster_ui import DagsterUi

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
PYTHONS = [
    version
    for version in ("3.11", "3.12", "3.13", "3.14")
    if subprocess.run([UV, "python", "find", "--no-python-downloads", version], capture_output=True).returncode == 0
]
ENVIRONMENTS = {
    **{f"the lowest versions, Python {version}": (version, ["--resolution", "lowest-direct"]) for version in PYTHONS},
    **{f"the newest versions, Python {version}": (version, []) for version in PYTHONS},
    "beside dlt and dbt": (PYTHONS[0], ("dlt[duckdb]", "dbt-duckdb")),
}

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ``make wheel`` makes it, of the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [UV, "build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", folder],
        cwd=ROOT,
        check=True,
    )
    [made] = folder.glob("*.whl")
    return made


def test_a_wheel_has_everything_that_runs(wheel):
    with zipfile.ZipFile(wheel) as opened:
        there = set(opened.namelist())
    wanted = {
        str(path.relative_to(ROOT / "src"))
        for package in ("wms_sync", "wms_sandbox", "wms_sync_pipelines")
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    wanted |= {f"wms_sync/{path.relative_to(ROOT)}" for path in (ROOT / "sql").rglob("*.sql")}
    assert wanted - there == set()
    assert not [name for name in there if name.startswith(("tests/", "benchmarks/", "pipelines/"))]


@pytest.mark.parametrize(("python", "beside"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_a_newcomer_sees_the_demo_and_the_ui(wheel, tmp_path, python, beside):
    """In a folder that has a package with the name of one of ours."""
    environment, here = tmp_path / "env", tmp_path / "here"
    subprocess.run([UV, "venv", "--quiet", "--python", python, environment], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", environment / "bin" / "python", f"{wheel}[postgres,report]"]
    subprocess.run([*install, *beside], check=True)
    (here / "pipelines").mkdir(parents=True)
    (here / "pipelines" / "__init__.py").write_text("raise RuntimeError('the package of somebody else')")
    program = environment / "bin" / "wms-sync"
    ended = subprocess.run([program, "demo"], cwd=here, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (here / "data" / "demo" / "report.html").exists()
    nobody = {"WMS_BASE_URL": "http://127.0.0.1:9", "WMS_API_TOKEN": "none"}
    with DagsterUi(tmp_path / "home", nobody, [str(program), "ui"], here):
        pass  # it has loaded the code location


def test_what_the_demo_prints_under_uvx_can_be_typed(wheel, tmp_path):
    """The first command of the README, and the last ones of what it prints."""
    settings = {"UV_FIND_LINKS": str(wheel.parent), "PATH": f"{UV.parent}:{os.environ['PATH']}", "BROWSER": "echo %s"}

    def typed(line: str) -> str:
        return subprocess.check_output(
            ["bash", "-c", line], cwd=tmp_path, env=os.environ | settings, stdin=subprocess.DEVNULL, text=True
        )

    report, tables, ui, doctor = re.findall(r"uvx .*", typed('uvx "wms-sync[report]" demo'))
    shows = {
        report: (tmp_path / "data" / "demo" / "report.html").as_uri(),
        tables: "shipment_id",
        f"{ui} --help": "--port",
        f"{doctor} --help": "Check",
    }
    for line, shown in shows.items():
        assert shown in typed(line)
