"""What is in `deploy/` and in a wheel: units that systemd takes, commands and settings that exist, all files."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from pipelines.cli.main import main
from wms_sync.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
INSTALLED = "/opt/wms-sync/.venv/bin/"


def test_systemd_takes_every_unit(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed here")
    for unit in UNITS:  # it looks whether the programs are there
        text = unit.read_text(encoding="utf-8").replace(INSTALLED, f"{Path(sys.executable).parent}/")
        (tmp_path / unit.name.replace("@", "@north")).write_text(text, encoding="utf-8")
    found = subprocess.run(
        [program, "verify", "--man=no", *tmp_path.iterdir()], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_name_what_there_is(unit):
    text = unit.read_text(encoding="utf-8")
    assert set(re.findall(rf"\b({PREFIX}\w+)=", text)) <= {PREFIX + name.upper() for name in Settings.model_fields}
    for command, arguments in re.findall(r"^Exec\w+=\S+/bin/(\S+) ?(.*)$", text, re.MULTILINE):
        assert (Path(sys.executable).parent / command).exists()
        if command == "wms-sync":
            name, *rest = arguments.split()
            main.commands[name].make_context(name, rest)
    started = unit.with_suffix(".service")
    assert unit.suffix != ".timer" or started.exists()


def test_the_workspace_names_the_code_server_of_the_unit():
    [location] = yaml.safe_load((DEPLOY / "workspace.yaml").read_text(encoding="utf-8"))["load_from"]
    server = location["grpc_server"]
    started = (DEPLOY / "systemd" / "wms-sync-code.service").read_text(encoding="utf-8")
    asked = (
        f"-h {server['host']} -p {server['port']} -m pipelines.definitions --location-name {server['location_name']}"
    )
    assert asked in started


def test_instances_have_the_same_unit_and_a_location_of_their_name():
    of_one, of_several = ((DEPLOY / "systemd" / f"wms-sync-code{at}.service").read_text() for at in ("", "@"))
    assert "Environment=WMS_INSTANCE=%i" in of_several
    assert "--location-name %i" in of_several
    rules = [unit.split("# what the process may do")[1] for unit in (of_one, of_several)]
    assert rules[0] == rules[1]
    locations = yaml.safe_load((DEPLOY / "workspace-of-two.yaml").read_text(encoding="utf-8"))["load_from"]
    for location in locations:
        Settings.load(_env_file=None, instance=location["grpc_server"]["location_name"])


def test_a_wheel_has_everything_that_a_clone_runs_with(tmp_path):
    """That it runs in an empty environment is tried by `tests/try_wheel.sh`."""
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        there = set(opened.namelist())
    wanted = {
        str(path.relative_to(base))
        for base, package in ((ROOT / "src", "wms_sync"), (ROOT / "src", "wms_sandbox"), (ROOT, "pipelines"))
        for path in (base / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    wanted |= {f"wms_sync/{path.relative_to(ROOT)}" for path in (ROOT / "sql").rglob("*.sql")}
    assert wanted - there == set()
    assert not [name for name in there if name.startswith(("tests/", "benchmarks/"))]
