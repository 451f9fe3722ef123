"""An operator chooses days in Dagster's UI: the same calls, against a real `dagster dev` and a sandbox on a socket."""

import os
import re
import signal
import threading
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest

from tests.pipelines.dagster_dev import RANGE_END, RANGE_START, DagsterDev, free_port
from tests.pipelines.operator import at_the_ui
from tests.pipelines.proxy import proxy_where_installed, websocket
from tests.receiver import Receiver, receiving
from tests.test_tutorial import UI, missing, steps
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.cli.ui import PortTaken, serve
from wms_sync.settings import Settings
from wms_sync.state.lock import FileLock
from wms_sync.state.store import StateStore

BACKFILL_TAG = "dagster/backfill"
TOKEN = "sandbox-token"

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
) -> Iterator[DagsterDev]:
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
    with DagsterDev(home, environment) as running:
        yield running


class Days:
    """Three days that no other test has read."""

    def __init__(self, first: str) -> None:
        self.start = datetime.fromisoformat(first).replace(tzinfo=UTC)
        self.end = self.start + timedelta(days=3)
        self.names = [f"{self.start + timedelta(days=day):%Y-%m-%d}" for day in range(3)]

        self.range = self.names[0], self.names[-1]

    def served(self, settings: Settings) -> int:
        """How many shipments the service counts in these days."""
        low, high = (f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}" for moment in (self.start - timedelta(milliseconds=1), self.end))
        answer = httpx.get(
            f"{settings.base_url}/api/global/v1/shipping/shipments",
            params={
                "filter": f'updated_at{{gt:"{low}",lt:"{high}"}}',
                "count": 1,
                "limit": 1,
            },
            headers={"Authorization": f"Bearer {TOKEN}"},
            trust_env=False,
        )
        count: int = answer.json()["meta"]["count"]
        assert count > 0
        return count

    def published(self, settings: Settings) -> int:
        """How many shipments of these days an analyst sees."""
        if not settings.layout.published.exists():
            return 0
        with duckdb.connect(settings.layout.published, read_only=True) as connection:
            query = "select count(*) from shipments where updated_at >= ? and updated_at < ?"
            row = connection.execute(query, [self.start, self.end]).fetchone()
        assert row is not None
        return int(row[0])

    def windows_cover_them_exactly(self, settings: Settings, run_id: str) -> bool:
        """The windows of the run are these days, without a gap and without a moment more."""
        store = StateStore(settings.database_url)
        windows = sorted((one.from_at, one.to_at) for one in store.windows() if one.run_id == run_id)
        store.close()
        ends = [end for _, end in windows]
        starts = [start for start, _ in windows]
        return starts[0] == self.start and ends[-1] == self.end and starts[1:] == ends[:-1]


def test_the_tutorial_shows_what_it_prints(dagster: DagsterDev):
    [shown] = [shown for _, text, shown in steps() if text.strip() == UI]
    assert missing(shown, dagster.log) == []


def test_days_of_a_job_are_one_run(dagster: DagsterDev, settings: Settings, service: SandboxServer):
    """It reads exactly them, the tables follow, and nothing runs that was not asked for."""
    days = Days("2026-03-03")
    (dagster.home / ".env").write_text("WMS_PAGE_SIZE=60\n")  # nobody reloads definitions
    backfill = dagster.launch_job("backfill_days", days.names)
    [run] = dagster.finished_runs(1, (BACKFILL_TAG, backfill))
    assert (run["tags"][RANGE_START], run["tags"][RANGE_END]) == days.range
    assert days.windows_cover_them_exactly(settings, run["runId"])
    dagster.wait(lambda: days.published(settings) == days.served(settings) or None, "the tables to follow")
    sizes = {size for request in service.sandbox.requests for size in re.findall(r"limit=(\d+)&", request.query)}
    assert sizes == {"1", "60"}
    assert dagster.ended_backfill(backfill) == "COMPLETED_SUCCESS", dagster.log
    runs = dagster.finished_runs(2)
    assert [run["status"] for run in runs] == ["SUCCESS", "SUCCESS"]
    assert ["dagster/from_automation_condition" in run["tags"] for run in runs] == [False, True]


def test_an_operator_clicks_a_backfill_and_sees_failures(
    dagster: DagsterDev, settings: Settings, service: SandboxServer, pytestconfig: pytest.Config
):
    days, before = Days("2026-03-18"), len(dagster.runs())
    with at_the_ui(dagster.url, pytestconfig.getoption("--pictures")) as operator:
        operator.opens("/assets/raw/shipment_days")
        operator.clicks("Materialize")
        operator.sees("Partition selection")
        operator.chooses_days(*days.range)
        operator.keeps_picture("dagster-backfill")
        operator.clicks("Launch backfill")
        operator.sees("Created backfill")

        # until the daemon starts it
        operator.opens("/asset-groups")
        operator.sees("Global asset lineage")
        operator.sees("marts")
        operator.keeps_picture("dagster-lineage")

        dagster.wait(lambda: days.published(settings) == days.served(settings) or None, "the tables to follow")
        operator.opens("/assets/main/shipments")
        operator.sees("target_ship_date")
        operator.sees("data_as_of")
        operator.sees("At 02:00 AM UTC")
        operator.keeps_picture("dagster-table")

        # a log is live: the page is open while the run waits for the service, and shows the rest by itself
        goes_on = threading.Event()

        def waits(_: object) -> None:
            goes_on.wait(60)

        service.sandbox.intercept = waits
        run_id = dagster.launch_run("nightly_sync")
        operator.opens(f"/runs/{run_id}")
        operator.sees("Started")
        operator.misses("sync succeeded")
        goes_on.set()
        operator.sees("sync succeeded")
        operator.keeps_picture("dagster-log")

        service.sandbox = Sandbox(replace(service.sandbox.config, token="a token that was replaced"))
        dagster.finished_runs(before + 3)
        run_id = dagster.launch_run("nightly_sync")
        dagster.finished_runs(before + 4)
        operator.opens(f"/runs/{run_id}")
        operator.sees("check WMS_API_TOKEN")
        operator.keeps_picture("dagster-failed-run")


def test_an_operator_clicks_a_plan_which_is_sent(
    dagster: DagsterDev, files: Path, service: SandboxServer, pytestconfig: pytest.Config
):
    service.sandbox, before = Sandbox(replace(service.sandbox.config, token=TOKEN)), len(dagster.runs())
    (files / "location-tags-new.csv").write_text("name,color\nfragile,red1\ncold,blue2\n")
    with at_the_ui(dagster.url, pytestconfig.getoption("--pictures")) as operator:
        operator.opens("/assets/master_data/location_tags")
        operator.clicks("Materialize")
        operator.sees("Launched run")
        dagster.finished_runs(before + 1)
        operator.opens("/assets/master_data/location_tags")
        operator.sees("To send exactly this plan")
        approval = operator.copies()
        assert service.sandbox.location_tags() == [], "a plan sends nothing"

        operator.opens(f"/locations/{dagster.selector['repositoryLocationName']}/jobs/push_location_tags")
        operator.configures(approval)
        operator.sees("No errors")
        operator.clicks("Materialize")
        operator.sees("RUN_SUCCESS")
    assert {tag["name"] for tag in service.sandbox.location_tags()} == {"fragile", "cold"}


def test_the_proxy_of_deploy_asks_for_a_login(dagster, tmp_path):
    ours, login = "https://wms-sync.example.com", b64encode(b"anna:secret").decode()
    port = free_port()
    with (
        proxy_where_installed(tmp_path, dagster.port, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http,
    ):
        query = {"query": "{ version }"}
        assert http.get("/server_info").status_code == 401
        assert http.post("/graphql", json=query).status_code == 401
        http.headers["Authorization"] = f"Basic {login}"
        assert http.get("/server_info").status_code == 200
        assert "version" in http.post("/graphql", json=query, headers={"Origin": ours}).json()["data"]
        assert http.post("/graphql", json=query, headers={"Origin": "https://evil.example"}).status_code == 403
        assert websocket(port, ours, login) == 101
        assert websocket(port, "https://evil.example", login) == 403
        assert websocket(port, ours, "d3Jvbmc6d3Jvbmc=") == 401


def test_a_port_that_is_taken_is_named(dagster, capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PortTaken, match=rf"127.0.0.1:{dagster.port} .*--port {dagster.port + 1}"):
        serve(Settings.load(_env_file=None, base_url=None), dagster.port)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_is_reported_with_its_cause(dagster: DagsterDev, settings: Settings, webhook: Receiver):
    with FileLock(settings.layout).hold("what it waits for"):
        run_id = dagster.launch_run("rebuild_tables")

        def waiting() -> int | None:
            waits = any("waiting for what it waits for" in message for message in dagster.messages(run_id))
            return dagster.pid_of(run_id) if waits else None

        os.kill(dagster.wait(waiting, "the run to wait for the lock"), signal.SIGKILL)

        def told() -> dict[str, Any] | None:
            return next((body for body in webhook.taken if body["run_id"] == run_id), None)

        alert = dagster.wait(told, "the alert")
    assert alert["event"] == "run_failed"
    assert "rebuild failed: The process of this run was ended by signal 9 (SIGKILL)." in alert["text"]
    assert "the next run continues where it stopped" in alert["text"]


def test_a_polite_kill_leaves_no_process(dagster: DagsterDev):
    dagster.terminate()
