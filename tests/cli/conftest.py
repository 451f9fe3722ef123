"""What the tests of the command line and of Dagster share: settings of their own folder, a sandbox on a socket."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.conftest import CONFIG
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer
from wms_sync.cli.main import main
from wms_sync.settings import Settings

NEWEST = datetime(2026, 3, 20, 12, tzinfo=UTC)
DAYS = 20
START = date(2026, 2, 20)
LATE_START = datetime.now(UTC).date() - timedelta(days=DAYS + 8)
"""Of what is synced from the service of today."""
TOKEN = SandboxConfig.token

MakeSettings = Callable[..., Settings]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("WMS_") or name == "DAGSTER_HOME":
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def service_at_a_moment() -> SandboxConfig:
    """Three hundred shipments of twenty days, at a moment that stands still; no check finds anything in them."""
    return SandboxConfig(shipments=300, seed=5, days=DAYS, families=40, now=NEWEST, only_known_statuses=True)


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    """A sandbox of the test's own, on the socket that the commands read from."""
    server.sandbox = Sandbox(CONFIG)
    return server


@pytest.fixture(scope="module")
def service(service_at_a_moment: SandboxConfig) -> Iterator[SandboxServer]:
    """One for all tests of a module."""
    with SandboxServer(Sandbox(service_at_a_moment)) as server:
        yield server


@pytest.fixture
def service_of_today(service: SandboxServer, service_at_a_moment: SandboxConfig) -> Iterator[SandboxServer]:
    """The same at this moment, for runs with a history: Dagster keeps events for each day from the first until now."""
    before = service.sandbox
    service.sandbox = Sandbox(replace(service_at_a_moment, now=datetime.now(UTC)))
    yield service
    service.sandbox = before


@pytest.fixture
def make_settings(tmp_path: Path, service: SandboxServer) -> MakeSettings:
    def make(**overrides: object) -> Settings:
        values = {
            "base_url": service.base_url,
            "api_token": TOKEN,
            "data_dir": tmp_path / "data",
            "start_date": START,
            "page_size": 100,
            "_env_file": None,
        }
        return Settings.load(**(values | overrides))  # type: ignore[arg-type]

    return make


@pytest.fixture
def settings(make_settings: MakeSettings) -> Settings:
    return make_settings()


@pytest.fixture
def type_in(
    make_settings: MakeSettings, service_of_today: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Types a command at a service of today."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, token: str = TOKEN) -> Result:
        given = make_settings(start_date=LATE_START, api_token=token)
        for name in ("base_url", "data_dir", "start_date"):
            monkeypatch.setenv(f"WMS_{name.upper()}", str(getattr(given, name)))
        monkeypatch.setenv("WMS_API_TOKEN", token)
        return CliRunner().invoke(main, arguments)

    return run
