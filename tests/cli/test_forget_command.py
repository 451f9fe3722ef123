"""``wms-sync forget`` as it is typed."""

import re

import pytest
from click.testing import CliRunner

from tests.bench import opened_store, queried
from wms_sync.cli.main import main
from wms_sync.state.run_records import RunRecords
from wms_sync.state.store import StateStore


@pytest.fixture
def typed(bench):
    given = {"WMS_API_TOKEN": "any"} | {
        f"WMS_{name.upper()}": str(getattr(bench.settings, name)) for name in ("base_url", "data_dir", "start_date")
    }
    return lambda *command, answer=None: CliRunner().invoke(main, command, input=answer, env=given)


def test_it_says_what_it_removed(typed, bench):
    url = bench.settings.database_url
    told = typed("forget", "4711", "4712", "--yes", "--unseen")
    assert told.exit_code == 0, told.output
    assert "forgot    2 orders: 4711, 4712" in told.output
    assert "cleaned   0 rows in 0 databases; rewrote 0 raw pages and 0 Parquet files" in told.output
    with RunRecords.opened(url) as records:
        [record] = records.newest(2)
    assert (record.purpose, record.outcome, record.counts) == ("forget", "succeeded", {"orders": 2, "rows": 0})
    for name in ("no-such-order", "9223372036854775808", "9" * 5000):
        unknown = typed("forget", name)
        assert (unknown.exit_code, name in unknown.output) == (2, True)

    opened_store(bench.settings).remember_forgotten([4713])
    for code in (0, 2):
        assert any("wms-sync forget" in line for line in bench.needs) == (code == 0)
        assert typed("forget").exit_code == code, "nothing is left to finish"
    assert StateStore.opened(url).forgotten() == {4711, 4712, 4713}


def test_it_shows_what_it_would_remove_and_asks(typed, bench, sandbox):
    bench.first_sync(sandbox)
    query = "select id::varchar, unique_id from orders where ship_to_country is not null order by id limit 1"
    [(order, unique_id)] = queried(bench.layout.published, query)

    shown = typed("forget", order, "--dry-run")
    assert (shown.exit_code, f"order     {order} (unique_id {unique_id}," in shown.output) == (0, True), shown.output
    assert "personal  rows: 1 of orders; and what" in shown.output
    for answer in ("n\n", ""):
        refused = typed("forget", order, answer=answer)
        assert (refused.exit_code, "Remove the personal data of 1 order for good?" in refused.output) == (2, True)
    assert "add --yes" in refused.output
    assert "no order is forgotten" in typed("forget", "--list").output

    assert typed("forget", order, answer="y\n").exit_code == 0
    for _ in range(2):
        assert re.match(rf"{order}  requested \S+ \S+ UTC, done ", typed("forget", "--list").stdout)
        bench.lose_the_state_store(during_a_run=True)
    assert "personal  rows: none; and" in typed("forget", order, "--dry-run").output

    unseen, unlisted = typed("forget", "4711", "--yes"), typed("forget", "4711", "--take-off", "--yes")
    kept = typed("forget", order, "--take-off", answer="n\n")
    assert ([done.exit_code for done in (unseen, unlisted, kept)], "add --unseen" in unseen.output) == ([2, 2, 2], True)
    assert "when a backfill rereads the days" in typed("forget", order, "--take-off", answer="y\n").output
    assert (bench.store.forgotten(), bench.layout.forgotten_orders.read_text()) == (frozenset(), "[]")


def test_no_run_begins_while_the_list_is_lost(typed, bench, sandbox):
    """The list of forgotten orders; each run says what to do."""
    bench.first_sync(sandbox)
    published, file = bench.layout.published.read_bytes(), bench.layout.forgotten_orders
    file.write_text("[4711")
    bench.lose_the_state_store()
    for command in (["sync"], ["rebuild"], ["verify"], ["forget", "4712", "--yes", "--unseen"]):
        failed = typed(*command)
        said = [words for words in (f"{file} is damaged", "write the file yourself") if words in failed.stderr]
        assert (failed.exit_code, len(said), "Traceback" in failed.output) == (1, 2, False), failed.output
    assert bench.layout.published.read_bytes() == published
