"""An operator chooses days in Dagster's UI: the same calls, against a real `wms-sync ui` and a sandbox on a socket."""

import grp
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.pipelines.dagster_ui import RANGE_END, RANGE_START, DagsterUi, free_port
from tests.pipelines.operator import at_the_ui
from tests.receiver import Receiver, receiving
from tests.test_tutorial import UI, missing, steps
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.cli.ui import serve
from wms_sync.errors import SettingsError
from wms_sync.settings import Settings
from wms_sync.state.lock import FileLock

TOKEN = "sandbox-token"
CHECKS = """
query Checks { assetNodes { assetChecksOrError { ... on AssetChecks { checks { name canExecuteIndividually } } } } }
"""
"""Every check, and whether *Execute* can be clicked."""

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, service: SandboxServer) -> Settings:
    return Settings.load(
        base_url=service.base_url,
        api_token=TOKEN,
        data_dir=tmp_path_factory.mktemp("dev") / "data",
        start_date="2026-02-20",
        page_size=100,
        _env_file=None,
    )


@pytest.fixture(scope="module")
def webhook() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of files of master data, which has none yet."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def dagster(
    settings: Settings, webhook: Receiver, files: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DagsterUi]:
    environment = {
        "WMS_BASE_URL": str(settings.base_url),
        "WMS_API_TOKEN": TOKEN,
        "WMS_DATA_DIR": str(settings.data_dir),
        "WMS_START_DATE": settings.start_date.isoformat(),
        "WMS_ALERT_WEBHOOK_URL": webhook.url,
        "WMS_MASTER_DATA_DIR": str(files),
    }
    home = tmp_path_factory.mktemp("home")
    (home / ".env").write_text(f"WMS_PAGE_SIZE={settings.page_size}\n")
    for name in ("pipelines", "dagster", "wms_sync"):  # what lies in the folder is the operator's own
        (home / name).mkdir()
        (home / name / "__init__.py").write_text("raise RuntimeError('the package of somebody else')\n")
    with DagsterUi(home, environment) as running:
        yield running


def test_the_tutorial_shows_what_it_prints(dagster: DagsterUi):
    [shown] = [shown for _, text, shown in steps() if text.strip() == UI]
    assert missing(shown, dagster.log) == []
    assert len(dagster.log.splitlines()) == 2, "what Dagster writes is in a file"


def test_days_of_a_job_are_one_run(dagster: DagsterUi, service: SandboxServer):
    """The tables follow, and nothing runs that was not asked for."""
    days = ["2026-03-03", "2026-03-04", "2026-03-05"]
    (dagster.home / ".env").write_text("WMS_PAGE_SIZE=60\n")  # nobody reloads definitions
    dagster.launch_job("backfill_days", days)
    run, follows = dagster.finished_runs(2)
    assert (run["tags"][RANGE_START], run["tags"][RANGE_END]) == (days[0], days[-1])
    assert (run["status"], follows["status"]) == ("SUCCESS", "SUCCESS")
    assert (follows["jobName"], follows["tags"]["dagster/sensor_name"]) == ("load_tables", "tables_follow")
    assert {size for request in service.sandbox.requests for size in re.findall(r"limit=(\d+)&", request.query)} == {
        "1",
        "60",
    }


def test_every_check_can_be_executed_alone(dagster: DagsterUi):
    found = [node["assetChecksOrError"].get("checks", []) for node in dagster.query(CHECKS)["assetNodes"]]
    checks = {check["name"]: check["canExecuteIndividually"] for of_asset in found for check in of_asset}
    assert {name for name, can_execute in checks.items() if can_execute != "CAN_EXECUTE"} == set()
    assert checks.keys() >= {"coverage_has_no_gap", "shipments_have_unique_keys", "no_row_is_rejected"}
    check = {"assetKey": {"path": ["main", "shipments"]}, "name": "shipments_have_unique_keys"}
    run_id = dagster.launch_run("__ASSET_JOB", assetSelection=[], assetCheckSelection=[check])  # as *Execute* does
    assert dagster.ended(run_id) == "SUCCESS"
    assert "Asset check 'shipments_have_unique_keys' on 'main/shipments' passed." in dagster.messages(run_id)


def test_an_operator_clicks_a_backfill_and_sees_failures(
    dagster: DagsterUi, service: SandboxServer, pytestconfig: pytest.Config
):
    days, before = ["2026-03-18", "2026-03-20"], len(dagster.runs())
    with at_the_ui(dagster.url, pytestconfig.getoption("--pictures")) as operator:
        operator.opens("/assets/raw/shipment_days")
        operator.clicks("Materialize", "Partition selection")
        operator.chooses_days(days[0], days[-1])
        operator.keeps_picture("dagster-backfill")
        operator.clicks("Launch backfill", "Created backfill")

        dagster.finished_runs(before + 2)
        operator.opens("/assets/main/shipments", "target_ship_date", "data_as_of", "At 02:00 AM UTC")
        operator.keeps_picture("dagster-table")

        operator.opens("/asset-groups", "Global asset lineage", "marts")
        operator.keeps_picture("dagster-lineage")

        # a log is live: the page is open while the run waits for the service, and shows the rest by itself; it has
        # only the rows in view, so the row is filtered for
        goes_on = threading.Event()

        def waits(_: object) -> None:
            goes_on.wait(60)

        service.sandbox.intercept = waits
        run_id = dagster.launch_run("nightly_sync")
        operator.opens(f"/runs/{run_id}?logs=sync%20succeeded", "Events")
        operator.misses("sync succeeded")
        goes_on.set()
        operator.sees("sync succeeded")
        operator.opens(f"/runs/{run_id}")
        operator.keeps_picture("dagster-log")

        service.sandbox = Sandbox(replace(service.sandbox.config, token="a token that was replaced"))
        dagster.finished_runs(before + 3)
        run_id = dagster.launch_run("nightly_sync")
        assert dagster.ended(run_id) == "FAILURE"
        operator.opens(f"/runs/{run_id}", "check WMS_API_TOKEN")
        operator.keeps_picture("dagster-failed-run")


def test_an_operator_clicks_a_plan_which_is_sent(
    dagster: DagsterUi, files: Path, service: SandboxServer, pytestconfig: pytest.Config
):
    service.sandbox, before = Sandbox(replace(service.sandbox.config, token=TOKEN)), len(dagster.runs())
    (files / "location-tags-new.csv").write_text("name,color\nfragile,red1\ncold,blue2\n")
    with at_the_ui(dagster.url, pytestconfig.getoption("--pictures")) as operator:
        operator.opens("/assets/master_data/location_tags")
        operator.clicks("Materialize", "Launched run")
        dagster.finished_runs(before + 1)
        operator.opens("/assets/master_data/location_tags", "To send exactly this plan")
        approval = operator.copies()
        assert service.sandbox.location_tags() == [], "a plan sends nothing"

        operator.opens(f"/locations/{dagster.selector['repositoryLocationName']}/jobs/push_location_tags")
        operator.configures(approval)
        operator.sees("No errors")
        operator.clicks("Materialize", "RUN_SUCCESS")
    assert {tag["name"] for tag in service.sandbox.location_tags()} == {"fragile", "cold"}


CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx" / "wms-sync.conf"
WHOLE = """
daemon off;
user {user} {group};
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {configuration}
}}
"""


@contextmanager
def proxy_where_installed(folder: Path, upstream: int) -> Iterator[httpx.Client]:
    """Run nginx while the block lasts, and yield a client of it; its test is skipped where it is absent."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("nginx is not installed here; .ci/run installs it")
    port = free_port()
    (folder / "users").write_text("anna:{PLAIN}secret\n")
    text = CONFIGURATION.read_text(encoding="utf-8")
    given = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port};",
        "ssl_certificate /etc/nginx/tls/wms-sync.pem;": "",
        "ssl_certificate_key /etc/nginx/tls/wms-sync.key;": "",
        "/etc/nginx/wms-sync.htpasswd;": f"{folder}/users;",
        "http://127.0.0.1:3000;": f"http://127.0.0.1:{upstream};",
    }
    for ours, tests in given.items():
        assert ours in text
        text = text.replace(ours, tests)
    path = folder / "nginx.conf"
    owner = folder.stat()  # as root, nginx would read the file of users as another user
    user, group = pwd.getpwuid(owner.st_uid).pw_name, grp.getgrgid(owner.st_gid).gr_name
    path.write_text(WHOLE.format(folder=folder, configuration=text, user=user, group=group))
    with subprocess.Popen([program, "-c", path, "-p", folder, "-e", folder / "error.log"]) as nginx:
        try:
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}",
                headers={"Host": "wms-sync.example.com"},
                transport=httpx.HTTPTransport(retries=8),
                timeout=30,
                trust_env=False,
            ) as http:
                yield http
        finally:
            nginx.terminate()


def handshake(http: httpx.Client, origin: str) -> int:
    """The status of a handshake for the websocket that the UI opens; 101 is what it wants."""
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "graphql-ws",
        "Origin": origin,
    }
    with http.stream("GET", "/graphql", headers=asked) as answer:
        return answer.status_code


OURS, FOREIGN = "https://wms-sync.example.com", "https://evil.example"
LAUNCH = """mutation { launchRun(executionParams: {mode: "default", selector: {repositoryName: "__repository__",
repositoryLocationName: "wms-sync", pipelineName: "load_tables"}}) { __typename } }"""
CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
JSON = {"content": json.dumps({"query": LAUNCH})}
VERSION = {"query": "{ version }"}
REQUESTS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    # what another site makes a browser send with the login that it remembers, and what the UI sends
    "an image": ("GET", "/graphql", {"params": {"query": LAUNCH}, "headers": CROSS}, 403),
    "an image, in a browser that does not say whose it is": ("GET", "/graphql", {"params": {"query": LAUNCH}}, 403),
    "an image, with the path escaped": ("GET", "/%67raphql", {"params": {"query": LAUNCH}}, 403),
    "a link that is clicked": (
        "GET",
        "/graphql",
        {"params": {"query": LAUNCH}, "headers": CROSS | {"Sec-Fetch-Mode": "navigate"}},
        403,
    ),
    "a form": ("POST", "/graphql", {"params": {"query": LAUNCH}, "data": {"a": "b"}}, 403),
    "a text that calls itself JSON": (
        "POST",
        "/graphql",
        JSON | {"headers": {"Content-Type": "text/plain; application/json"}},
        403,
    ),
    "a query that is not JSON": (
        "POST",
        "/graphql",
        {"content": LAUNCH, "headers": {"Content-Type": "application/graphql"}},
        403,
    ),
    "a script of another site": (
        "POST",
        "/graphql",
        JSON | {"headers": CROSS | {"Content-Type": "application/json"}},
        403,
    ),
    "a query of another site": ("POST", "/graphql", {"json": VERSION, "headers": {"Origin": FOREIGN}}, 403),
    "a site below the same domain": (
        "POST",
        "/graphql",
        JSON | {"headers": {"Sec-Fetch-Site": "same-site", "Content-Type": "application/json"}},
        403,
    ),
    "a name that was pointed here": ("GET", "/runs", {"headers": {"Host": "evil.example"}}, 421),
    "an event, by a form": ("POST", "/report_asset_materialization/main/shipments", {"headers": CROSS}, 403),
    "a link to a run, in a mail": ("GET", "/runs", {"headers": CROSS | {"Sec-Fetch-Mode": "navigate"}}, 200),
    "the UI": (
        "POST",
        "/graphql",
        {
            "json": VERSION,
            "headers": {"Origin": OURS, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
        },
        200,
    ),
}


def test_the_proxy_of_deploy_asks_for_a_login_and_refuses_other_sites(dagster, tmp_path):
    before = len(dagster.runs())
    with proxy_where_installed(tmp_path, dagster.port) as http:
        page, query = http.get("/server_info"), http.post("/graphql", json=VERSION)
        assert (page.status_code, query.status_code, handshake(http, OURS)) == (401, 401, 401)
        http.auth = ("anna", "secret")
        page = http.get("/server_info")
        assert (page.status_code, handshake(http, OURS), handshake(http, FOREIGN)) == (200, 101, 403)
        answers = {
            name: http.request(method, path, **asked).status_code for name, (method, path, asked, _) in REQUESTS.items()
        }
    assert answers == {name: expected for name, (*_, expected) in REQUESTS.items()}
    assert len(dagster.runs()) == before


def test_a_port_that_is_taken_is_named(dagster, capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=rf"127.0.0.1:{dagster.port}, .*--port {dagster.port + 1}"):
        serve(Settings.load(_env_file=None, base_url=None), dagster.port)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_is_reported_with_its_cause(dagster: DagsterUi, settings: Settings, webhook: Receiver):
    with FileLock(settings.layout).hold("what it waits for"):
        run_id = dagster.launch_run("rebuild_tables")
        dagster.wait(
            lambda: "waiting for what it waits for" in " ".join(dagster.messages(run_id)) or None,
            "the run to wait for the lock",
        )
        os.kill(dagster.wait(lambda: dagster.pid_of(run_id), "its process"), signal.SIGKILL)
        alerts = dagster.wait(lambda: [body for body in webhook.taken if body["run_id"] == run_id] or None, "the alert")
    assert (alerts[0]["status"], alerts[0]["finding"]) == ("new", "run-rebuild")
    assert "rebuild failed: The process of this run was ended by signal 9 (SIGKILL)." in alerts[0]["text"]
    assert "the next run continues where it stopped" in alerts[0]["text"]


def test_a_polite_kill_leaves_no_process(dagster: DagsterUi, settings: Settings):
    """A run that is under way ends too."""
    with FileLock(settings.layout).hold("what it waits for"):
        run_id = dagster.launch_run("rebuild_tables")
        dagster.wait(lambda: dagster.pid_of(run_id), "its process")
        dagster.terminate()


def test_the_ui_ends_when_a_process_of_it_is_gone(settings: Settings, tmp_path: Path):
    environment = {"WMS_BASE_URL": str(settings.base_url), "WMS_API_TOKEN": TOKEN, "WMS_INSTANCE": "north"}
    with DagsterUi(tmp_path / "home", environment | {"WMS_PUSH_ENABLED": "true"}) as running:
        assert running.selector["repositoryLocationName"] == "north"
        assert "WMS_PUSH_ENABLED is on" in running.log
        assert running.end("dagster-daemon") == 1
        assert "Dagster's daemon ended by itself (exit code -9)" in running.log
