"""``wms-sync forget`` as it is typed."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.running import run_sync
from tests.conftest import opened_store
from tests.pipelines.conftest import START, TOKEN
from wms_sync.reports.doctor import examine
from wms_sync.reports.status import status
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecords
from wms_sync.state.store import StateStore


@pytest.fixture
def forget(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WMS_DATA_DIR", str(settings.data_dir))

    def run(*names: str) -> Result:
        return CliRunner().invoke(main, ["forget", *names])

    return run


def test_it_says_what_it_removed(forget, settings):
    told = forget("4711", "4712")
    assert told.exit_code == 0, told.output
    assert "forgot    2 orders: 4711, 4712" in told.output
    assert "no order with the id 4711 is in the tables; the id is recorded anyway" in told.output
    assert "cleaned   0 rows in 0 databases; rewrote 0 raw pages and 0 Parquet files" in told.output
    with RunRecords(settings.database_url) as records:
        [record] = records.newest(2)
    assert (record.purpose, record.outcome, record.counts) == ("forget", "succeeded", {"orders": 2, "rows": 0})


@pytest.mark.parametrize("name", ["no-such-order", "9223372036854775808", "9" * 5000], ids=lambda name: name[:20])
def test_an_unknown_name_and_no_name_are_wrong_usage(forget, name):
    unknown = forget(name)
    assert (unknown.exit_code, name in unknown.output) == (2, True)
    assert forget().exit_code == 2


def test_without_a_name_it_finishes_what_was_interrupted(forget, settings, store):
    opened_store(settings).remember_forgotten([4711])
    assert [line for line in status(settings, store).needs_a_hand if "wms-sync forget" in line]
    assert forget().exit_code == 0
    assert not [line for line in status(settings, store).needs_a_hand if "wms-sync forget" in line]
    assert forget().exit_code == 2, "nothing is left to finish"
    assert StateStore(settings.database_url).forgotten() == {4711}


def test_while_the_list_of_forgotten_orders_is_lost_every_run_fails_and_says_what_to_do(forget, settings, monkeypatch):
    run_sync(settings)
    assert forget("4711").exit_code == 0
    file = settings.data_dir / "forgotten-orders.json"
    file.write_bytes(file.read_bytes()[:-1])
    for path in settings.data_dir.glob("state.db*"):
        path.unlink()
    published = (settings.data_dir / "analytics.duckdb").read_bytes()
    for variable, value in (("BASE_URL", settings.base_url), ("API_TOKEN", TOKEN), ("START_DATE", str(START))):
        monkeypatch.setenv(f"WMS_{variable}", value)
    for command in (["sync"], ["rebuild"], ["forget", "4712"]):
        failed = CliRunner().invoke(main, command)
        assert failed.exit_code == 1, command
        assert f"{file} is damaged" in failed.stderr, command
        assert "write the file yourself" in failed.stderr, command
        assert "Traceback" not in failed.output, command
    [told] = [one for one in examine(settings) if one.subject == "forgotten orders"]
    assert (told.verdict, f"{file} is damaged" in told.message) == ("fail", True)
    assert (settings.data_dir / "analytics.duckdb").read_bytes() == published
    file.write_text("[4711]")
    assert CliRunner().invoke(main, ["sync"]).exit_code == 0
    assert StateStore(settings.database_url).forgotten() == {4711}
    [told] = [one for one in examine(settings) if one.subject == "forgotten orders"]
    assert (told.verdict, told.message.split()[0]) == ("ok", "1")
