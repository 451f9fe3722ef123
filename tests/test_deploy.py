"""What is in `deploy/`: units that systemd takes, commands and files that exist. `test_docs.py` reads the settings."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from wms_sync.cli.main import main
from wms_sync.settings import LOCATION, Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PODS = DEPLOY / "pods"
UNITS = sorted((DEPLOY / "systemd").iterdir())
INSTALLED = "/opt/wms-sync/.venv/bin/"
DOCKERFILE = (PODS / "Dockerfile").read_text(encoding="utf-8")
FILE, VALUES, HOME = (
    yaml.safe_load((PODS / name).read_text(encoding="utf-8"))
    for name in ("compose.yaml", "helm-values.yaml", "dagster.yaml")
)
COMPOSE = FILE["services"]
[DEPLOYMENT] = VALUES["dagster-user-deployments"]["deployments"]
SERVERS = (VALUES["dagsterWebserver"], VALUES["dagsterDaemon"], DEPLOYMENT)


def locations(*folders: Path, name: str = "workspace.yaml") -> Iterator[dict[str, Any]]:
    """The code locations of the workspaces of these folders."""
    for folder in folders:
        yield from yaml.safe_load((folder / name).read_text(encoding="utf-8"))["load_from"]


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_takes_every_unit(tmp_path):
    for unit in UNITS:  # it looks whether the programs are there
        text = unit.read_text(encoding="utf-8").replace(INSTALLED, f"{Path(sys.executable).parent}/")
        (tmp_path / unit.name.replace("@", "@north")).write_text(text, encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *tmp_path.iterdir()], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_name_commands_that_there_are(unit):
    for arguments in re.findall(r"^Exec\w+=\S+/bin/wms-sync (.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE):
        name, *rest = arguments.split()
        main.commands[name].make_context(name, rest)


def test_the_code_location_has_one_name():
    """Dagster remembers by it which schedules and sensors are on."""
    named = [next(iter(location.values())) for location in locations(DEPLOY, ROOT, PODS)]
    assert {*(found["location_name"] for found in named), DEPLOYMENT["name"]} == {LOCATION}
    module, name = "-m wms_sync_pipelines.definitions", f"--location-name {LOCATION}"
    assert f"-h {named[0]['host']} -p {named[0]['port']} {module} {name}" in (
        DEPLOY / "systemd" / "wms-sync-code.service"
    ).read_text(encoding="utf-8")
    assert json.dumps(["--location-name", LOCATION])[1:-1] in DOCKERFILE


def test_instances_have_the_same_unit():
    of_one, of_several = ((DEPLOY / "systemd" / f"wms-sync-code{at}.service").read_text() for at in ("", "@"))
    assert "Environment=WMS_INSTANCE=%i" in of_several
    assert of_several.endswith(of_one.partition("# what the process may do")[2])
    for location in locations(DEPLOY, name="workspace-of-two.yaml"):
        Settings.load(_env_file=None, instance=location["grpc_server"]["location_name"])


def test_a_typed_command_has_what_units_have():
    """The user, the folders, the settings and the token."""
    unit = (DEPLOY / "systemd" / "wms-sync.service").read_text(encoding="utf-8")
    script = (DEPLOY / "wms-sync").read_text(encoding="utf-8")
    subprocess.run(["sh", "-n", DEPLOY / "wms-sync"], check=True)
    for name in ("EnvironmentFile", "LoadCredential", "UMask", "WorkingDirectory", "User", "Group"):
        [value] = re.findall(rf"^{name}=(\S+)$", unit, re.MULTILINE)
        option = {"WorkingDirectory": "working-directory", "User": "uid", "Group": "gid"}.get(name, f"property={name}")
        assert f"--{option}={value}" in script
    assert [
        variable
        for variable in re.findall(r"^Environment=(\S+)$", unit.replace("%d", "$CREDENTIALS_DIRECTORY"), re.MULTILINE)
        if variable not in script
    ] == []
    assert f"exec {INSTALLED}wms-sync" in script


def test_the_image_copies_and_starts_what_exists():
    text = DOCKERFILE.replace("\\\n", " ")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    made = f"dist/wms_sync-{metadata.version('wms-sync')}-py3-none-any.whl"  # by `make wheel`
    for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        *sources, _ = (part for part in line.split() if not part.startswith("--"))
        for source in sources:
            assert source == made or (ROOT / source).exists()
            assert any(f"!{source.removeprefix('./')}/".startswith(f"{kept}/") for kept in ignored), source
    [begun] = re.findall(r"^CMD (.+)$", text, re.MULTILINE)
    assert (Path(sys.executable).parent / yaml.safe_load(begun)[0]).exists()


def test_containers_have_one_image_and_the_pinned_dagster():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert {found["image"] for found in COMPOSE.values() if "wms-sync" in found["image"]} == {f"wms-sync:{version}"}
    for text in (DOCKERFILE, (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")):
        assert f"docker build -f deploy/pods/Dockerfile -t wms-sync:{version} ." in text
    assert {started["image"]["tag"] for started in SERVERS} == {version}
    [dagster] = re.findall(r"^dagster==(\S+)", (ROOT / ".requirements" / "dev.txt").read_text(), re.MULTILINE)
    assert f"--version {dagster}" in (PODS / "helm-values.yaml").read_text(encoding="utf-8")
    assert DEPLOYMENT["includeConfigInLaunchedRuns"] == {"enabled": True}, "runs have the settings of the code server"


def test_every_container_is_confined():
    """As the Pod Security Standard "restricted" demands, and read-only; its own folders are writable, with a size."""
    runs = VALUES["runLauncher"]["config"]["k8sRunLauncher"]["runK8sConfig"]
    for pod in (*(server["podSecurityContext"] for server in SERVERS), runs["podSpecConfig"]["securityContext"]):
        assert pod == {
            "runAsNonRoot": True,
            **dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), 10001),
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    for container in (*(server["securityContext"] for server in SERVERS), runs["containerConfig"]["securityContext"]):
        assert container == {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    for server in SERVERS:
        assert {"cpu", "memory", "ephemeral-storage"} == server["resources"]["requests"].keys()
        assert all(volume["emptyDir"]["sizeLimit"] for volume in server["volumes"])
        assert "/tmp" in {mount["mountPath"] for mount in server["volumeMounts"]}
    confined = {"read_only": True, "privileged": False, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    for service in COMPOSE.values():
        assert service | confined == service
        assert re.fullmatch(r"(?!0)\d+:(?!0)\d+", service["user"])
        assert "/tmp" in service["tmpfs"]
    assert "USER 10001:10001" in DOCKERFILE


def test_containers_find_each_other():
    [location] = locations(PODS)
    assert location["grpc_server"]["host"] in COMPOSE
    assert f'"{location["grpc_server"]["port"]}"' in DOCKERFILE
    asked = {value["env"] for value in HOME["storage"]["postgres"]["postgres_db"].values() if isinstance(value, dict)}
    assert [
        (name, lacks)
        for name in ("code", "webserver", "daemon")
        for lacks in asked - COMPOSE[name]["environment"].keys()
    ] == []


@pytest.mark.filterwarnings("default")
def test_dagster_keeps_its_history_in_postgresql(lake_url, tmp_path, monkeypatch):
    """With the scheme that stands there; the server of the tests has no host, which only a URL can say."""
    scheme = HOME["storage"]["postgres"]["postgres_db"]["scheme"]
    stored = {"postgres": {"postgres_url": lake_url.replace("postgresql+psycopg", scheme)}}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(HOME | {"storage": stored}))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with dg.DagsterInstance.get() as instance:
        assert instance.run_monitoring_enabled
        assert list(instance.get_runs()) == []
