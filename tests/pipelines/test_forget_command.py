"""``wms-sync forget`` as it is typed."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from pipelines.cli import main
from tests.conftest import opened_store
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.status import status


@pytest.fixture
def forget(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WMS_DATA_DIR", str(settings.data_dir))

    def run(*names: str) -> Result:
        return CliRunner().invoke(main, ["forget", *names])

    return run


def test_it_says_what_it_removed(forget):
    told = forget("4711", "4712")
    assert told.exit_code == 0, told.output
    assert "forgot    2 orders: 4711, 4712" in told.output
    assert "removed   0 rows from 0 databases; rewrote 0 raw pages and 0 Parquet files" in told.output


def test_an_unknown_name_and_no_name_are_wrong_usage(forget):
    unknown = forget("no-such-order")
    assert (unknown.exit_code, "no-such-order" in unknown.output) == (2, True)
    assert forget().exit_code == 2


def test_without_a_name_it_finishes_what_was_interrupted(forget, settings, store):
    opened_store(settings).forget([4711])
    assert [line for line in status(settings, store).needs_a_hand if "wms-sync forget" in line]
    assert forget().exit_code == 0
    assert not [line for line in status(settings, store).needs_a_hand if "wms-sync forget" in line]
    assert forget().exit_code == 2, "nothing is left to finish"
    assert StateStore(settings.database_url).forgotten() == {4711}
