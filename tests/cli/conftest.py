"""What the tests of the command line and of Dagster share: settings of their own folder, a sandbox on a socket."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.bench import settings_in
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer
from wms_sync.cli.main import main
from wms_sync.settings import Settings

AT_A_MOMENT = SandboxConfig(
    shipments=300,
    seed=5,
    days=20,
    families=40,
    now=datetime(2026, 3, 20, 12, tzinfo=UTC),
)
"""Three hundred shipments of twenty days, at a moment that stands still; no check finds anything in them."""
LATE_START = datetime.now(UTC).date() - timedelta(days=28)
"""Of what is synced from the service of today."""
TOKEN = SandboxConfig.token


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("WMS_") or name == "DAGSTER_HOME":
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def service() -> Iterator[SandboxServer]:
    """One for all tests of a module."""
    with SandboxServer(Sandbox(AT_A_MOMENT)) as server:
        yield server


@pytest.fixture
def service_of_today(service: SandboxServer) -> Iterator[SandboxServer]:
    """The same at this moment, for runs with a history: Dagster keeps events for each day from the first until now."""
    before = service.sandbox
    service.sandbox = Sandbox(replace(AT_A_MOMENT, now=datetime.now(UTC)))
    yield service
    service.sandbox = before


@pytest.fixture
def make_settings(tmp_path: Path, service: SandboxServer) -> Callable[..., Settings]:
    return partial(settings_in, tmp_path / "data", service, start_date=date(2026, 2, 20), page_size=100)


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    return make_settings()


@pytest.fixture
def type_in(
    make_settings: Callable[..., Settings],
    service_of_today: SandboxServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Result]:
    """Types a command at a service of today; nothing that it says shows a token, a key or a traceback."""
    monkeypatch.chdir(tmp_path)
    given = make_settings(start_date=LATE_START)
    usual = {f"WMS_{name.upper()}": str(getattr(given, name)) for name in ("base_url", "data_dir", "start_date")}

    def run(*arguments: str, token: str = TOKEN, **changes: str) -> Result:
        environment = usual | {"WMS_API_TOKEN": token} | changes
        ended = CliRunner().invoke(main, arguments, env=environment)
        secrets = {value for name, value in environment.items() if name.endswith(("_TOKEN", "_KEY"))} - {""}
        assert not [secret for secret in secrets if secret in ended.output]
        assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exc_info
        return ended

    return run
