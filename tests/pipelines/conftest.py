"""What the tests of Dagster share: an instance in memory, a home, and what those of the command line share."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from pipelines.home import HOME_VARIABLE, prepare_home
from tests.cli.conftest import _no_environment as _no_environment
from tests.cli.conftest import make_settings as make_settings
from tests.cli.conftest import sandbox as sandbox
from tests.cli.conftest import service as service
from tests.cli.conftest import service_at_a_moment as service_at_a_moment
from tests.cli.conftest import service_of_today as service_of_today
from tests.cli.conftest import settings as settings
from tests.cli.conftest import type_in as type_in
from tests.conftest import opened_store
from wms_sync.settings import Settings
from wms_sync.state.store import Window

Land = Callable[..., Window]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepared = prepare_home(tmp_path / "home")
    monkeypatch.setenv(HOME_VARIABLE, str(prepared))
    return prepared


@pytest.fixture
def land(settings: Settings) -> Land:
    """Makes a window that is landed, as `extract` would leave it."""

    def land(start: datetime, end: datetime, name: str = "window") -> Window:
        window = Window(
            id=f"{name}-{start:%Y%m%d}",
            from_at=start,
            to_at=end,
            state="reading",
            reason="sync",
            run_id="a-run",
            signature="",
            count_reported=0,
            pages=0,
            records=0,
            bytes=0,
            started_at=datetime.now(UTC) - timedelta(minutes=1),
            landed_at=None,
            loaded_at=None,
            read_seconds=None,
        )
        with opened_store(settings) as store:
            store.begin_windows([window])
            store.mark_landed(window.id, read_seconds=0.1)
            return store.window(window.id)

    return land
