"""``wms-sync forget`` as it is typed."""

from __future__ import annotations

import re
from functools import partial

import pytest
from click.testing import CliRunner

from tests.bench import FEWER, opened_store, queried
from wms_sandbox.app import Sandbox
from wms_sync.cli.main import main
from wms_sync.state.run_records import RunRecords
from wms_sync.state.store import StateStore


@pytest.fixture
def sandbox(in_process):
    """In this process, since forgetting asks no service."""
    in_process.sandbox = Sandbox(FEWER)
    return in_process


@pytest.fixture
def typed(bench, sandbox):
    given = {
        "WMS_BASE_URL": sandbox.base_url,
        "WMS_API_TOKEN": "any",
        "WMS_DATA_DIR": str(bench.settings.data_dir),
        "WMS_START_DATE": str(bench.settings.start_date),
    }
    return lambda *command, answer=None: CliRunner().invoke(main, command, input=answer, env=given)


@pytest.fixture
def forget(typed):
    return partial(typed, "forget")


def test_it_says_what_it_removed(forget, bench):
    url = bench.settings.database_url
    told = forget("4711", "4712", "--yes", "--unseen")
    assert told.exit_code == 0, told.output
    assert "forgot    2 orders: 4711, 4712" in told.output
    assert "cleaned   0 rows in 0 databases; rewrote 0 raw pages and 0 Parquet files" in told.output
    with RunRecords.opened(url) as records:
        [record] = records.newest(2)
    assert (record.purpose, record.outcome, record.counts) == ("forget", "succeeded", {"orders": 2, "rows": 0})
    for name in ("no-such-order", "9223372036854775808", "9" * 5000):
        unknown = forget(name)
        assert (unknown.exit_code, name in unknown.output) == (2, True)

    opened_store(bench.settings).remember_forgotten([4713])
    for left in (True, False):
        assert any("wms-sync forget" in line for line in bench.needs) == left
        assert forget().exit_code == (0 if left else 2), "nothing is left to finish"
    assert StateStore.opened(url).forgotten() == {4711, 4712, 4713}


def test_it_shows_what_it_would_remove_and_asks(forget, bench, sandbox):
    bench.first_sync(sandbox)
    query = "select id, unique_id from orders where ship_to_country is not null order by id limit 1"
    [(order, unique_id)] = queried(bench.layout.published, query)

    shown = forget(str(order), "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert f"order     {order} (unique_id {unique_id}," in shown.output
    assert "personal  rows: 1 of orders; and what" in shown.output
    for answer in ("n\n", ""):
        refused = forget(str(order), answer=answer)
        assert (refused.exit_code, "Remove the personal data of 1 order for good?" in refused.output) == (2, True)
    assert "add --yes" in refused.output
    assert "no order is forgotten" in forget("--list").output

    assert forget(str(order), answer="y\n").exit_code == 0
    assert re.match(rf"{order}  requested \S+ \S+ UTC, done ", forget("--list").output)
    assert "personal  rows: none; and" in forget(str(order), "--dry-run").output

    unseen = forget("4711", "--yes")
    assert (unseen.exit_code, "add --unseen" in unseen.output) == (2, True)
    assert forget("4711", "--take-off", "--yes").exit_code == 2, "it is not on the list"
    assert forget(str(order), "--take-off", answer="n\n").exit_code == 2
    assert "when a backfill rereads the days" in forget(str(order), "--take-off", answer="y\n").output
    assert bench.store.forgotten() == frozenset()
    assert bench.layout.forgotten_orders.read_text() == "[]"


def test_no_run_begins_while_the_list_is_lost(typed, bench, sandbox):
    """The list of forgotten orders; each run says what to do."""
    bench.first_sync(sandbox)
    published = bench.layout.published.read_bytes()
    file = bench.layout.forgotten_orders
    file.write_text("[4711")
    bench.lose_the_state_store()
    for command in (["sync"], ["rebuild"], ["verify"], ["forget", "4712", "--yes", "--unseen"]):
        failed = typed(*command)
        assert failed.exit_code == 1, command
        assert f"{file} is damaged" in failed.stderr, command
        assert "write the file yourself" in failed.stderr, command
        assert "Traceback" not in failed.output, command
    assert bench.layout.published.read_bytes() == published
