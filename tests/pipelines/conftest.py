"""What the tests of Dagster share: an instance in memory, a home, and what those of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.cli.conftest import (
    _no_environment,
    make_settings,
    service,
    service_of_today,
    settings,
    type_in,
)
from wms_sync.settings import Settings
from wms_sync_pipelines import asset_keys
from wms_sync_pipelines.home import HOME_VARIABLE, prepare_home

__all__ = [
    "_no_environment",
    "make_settings",
    "service",
    "service_of_today",
    "settings",
    "type_in",
]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepared = prepare_home(tmp_path / "home")
    monkeypatch.setenv(HOME_VARIABLE, str(prepared))
    return prepared


def rows_of_days(settings: Settings, instance: dg.DagsterInstance) -> dict[str, int]:
    """The rows of each day in the catalogue, by its newest materialisation."""
    records = instance.fetch_materializations(asset_keys.days(settings), limit=1000).records
    shown = [record.asset_materialization for record in reversed(records)]
    return {str(day.partition): int(str(day.metadata["dagster/partition_row_count"].value)) for day in shown if day}


def failure_of(result) -> str:
    """Why a run failed, as the UI shows it."""
    [event] = [event for event in result.all_events if event.is_step_failure]
    return str(event.step_failure_data.user_failure_data.description)
