"""``wms-sync forget`` as it is typed."""

from __future__ import annotations

import re

import duckdb
import pytest
from click.testing import CliRunner, Result

from tests.cli.conftest import START, TOKEN
from tests.conftest import needs, opened_store
from tests.running import run_sync
from wms_sync.cli.main import main
from wms_sync.reports.doctor import examine
from wms_sync.settings import Settings
from wms_sync.state.runs import RunRecords
from wms_sync.state.store import StateStore


@pytest.fixture
def forget(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WMS_DATA_DIR", str(settings.data_dir))

    def run(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(main, ["forget", *arguments], input=answer)

    return run


def test_it_says_what_it_removed_and_finishes_what_was_interrupted(forget, settings):
    told = forget("4711", "4712", "--yes", "--unseen")
    assert told.exit_code == 0, told.output
    assert "forgot    2 orders: 4711, 4712" in told.output
    assert "cleaned   0 rows in 0 databases; rewrote 0 raw pages and 0 Parquet files" in told.output
    with RunRecords(settings.database_url) as records:
        [record] = records.newest(2)
    assert (record.purpose, record.outcome, record.counts) == ("forget", "succeeded", {"orders": 2, "rows": 0})
    for name in ("no-such-order", "9223372036854775808", "9" * 5000):
        unknown = forget(name)
        assert (unknown.exit_code, name in unknown.output) == (2, True)

    opened_store(settings).remember_forgotten([4713])
    for left in (True, False):
        assert any("wms-sync forget" in line for line in needs(settings)) == left
        assert forget().exit_code == (0 if left else 2), "nothing is left to finish"
    assert StateStore(settings.database_url).forgotten() == {4711, 4712, 4713}


def test_it_shows_what_it_would_remove_and_asks(forget, settings, store):
    run_sync(settings)
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        query = "select id, unique_id from orders where ship_to_country is not null order by id limit 1"
        [(order, unique_id)] = connection.execute(query).fetchall()

    shown = forget(str(order), "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert f"order     {order} (unique_id {unique_id}," in shown.output
    assert "personal  rows: 1 of orders; in 1 Parquet file and " in shown.output
    for answer in ("n\n", ""):
        refused = forget(str(order), answer=answer)
        assert refused.exit_code == 2
        assert "Remove the personal data of 1 order for good?" in refused.output
    assert "add --yes" in refused.output
    assert store.forgotten() == frozenset()
    assert "no order is forgotten" in forget("--list").output

    assert forget(str(order), answer="y\n").exit_code == 0
    assert re.match(rf"{order}  requested \S+ \S+ UTC, done ", forget("--list").output)
    assert "personal  rows: none; in 0 Parquet files and 0 raw pages" in forget(str(order), "--dry-run").output

    unseen = forget("4711", "--yes")
    assert (unseen.exit_code, "add --unseen" in unseen.output) == (2, True)
    assert forget("4711", "--take-off", "--yes").exit_code == 2, "it is not on the list"
    assert forget(str(order), "--take-off", answer="n\n").exit_code == 2
    off = forget(str(order), "--take-off", answer="y\n")
    assert off.exit_code == 0, off.output
    assert "when a backfill reads the days again" in off.output
    assert store.forgotten() == frozenset()
    assert settings.layout.forgotten_orders.read_text() == "[]"


def test_while_the_list_of_forgotten_orders_is_lost_every_run_fails_and_says_what_to_do(forget, settings, monkeypatch):
    run_sync(settings)
    assert forget("4711", "--yes", "--unseen").exit_code == 0
    file = settings.data_dir / "forgotten-orders.json"
    file.write_bytes(file.read_bytes()[:-1])
    for path in settings.data_dir.glob("state.db*"):
        path.unlink()
    published = (settings.data_dir / "analytics.duckdb").read_bytes()
    for variable, value in (("BASE_URL", settings.base_url), ("API_TOKEN", TOKEN), ("START_DATE", str(START))):
        monkeypatch.setenv(f"WMS_{variable}", value)
    for command in (["sync"], ["rebuild"], ["forget", "4712", "--yes", "--unseen"]):
        failed = CliRunner().invoke(main, command)
        assert failed.exit_code == 1, command
        assert f"{file} is damaged" in failed.stderr, command
        assert "write the file yourself" in failed.stderr, command
        assert "Traceback" not in failed.output, command
    [told] = [one for one in examine(settings) if one.name == "forgotten orders"]
    assert (told.severity, f"{file} is damaged" in told.text) == ("error", True)
    assert (settings.data_dir / "analytics.duckdb").read_bytes() == published
    file.write_text("[4711]")
    assert CliRunner().invoke(main, ["sync"]).exit_code in (0, 3), "the service's clock stands still"
    assert StateStore(settings.database_url).forgotten() == {4711}
    [told] = [one for one in examine(settings) if one.name == "forgotten orders"]
    assert (told.severity, told.text.split()[0]) == ("note", "1")
