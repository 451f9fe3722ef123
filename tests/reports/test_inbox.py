"""The inbox: what did not fit is listed by kind, acknowledged, replayed, and leaves by itself once it has healed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.conftest import FEWER, queried
from tests.survival.installation import rows
from tests.test_sync import begun, synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.views import check_line, refresh_lines
from wms_sync.layout import parquet_name
from wms_sync.reports.finding import exit_code
from wms_sync.reports.findings import acknowledgeable, findings_of
from wms_sync.reports.inbox import InboxEntry, UnknownEntry, chosen, known_keys, rows_of_entry
from wms_sync.reports.status import status
from wms_sync.shipments.load.refresh import replay
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.state.acknowledgements import Acknowledgements

FEW = replace(FEWER, shipments=60)
HERE = "Shipment $.collection[].is_international"


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(FEW)
    return in_process


@pytest.fixture
def bench(bench):
    bench.settings = bench.settings.model_copy(update={"page_size": FEW.shipments // 3})
    return bench


@pytest.fixture
def spoiled(bench, sandbox):
    begun(bench, sandbox, sync_with_doubts)
    return bench


def sync_with_doubts(bench):
    """A sync of three pages, each with a value that does not fit, and all with a key that no type knows."""

    def spoil(page):
        for shipment in page["collection"][:1]:
            shipment["is_international"] = {"perhaps": shipment["id"]}
        for shipment in page["collection"]:
            shipment["gift_wrap"] = "blue"
        return page

    bench.transport.sandbox.rewrite = spoil
    told = synced(bench)
    bench.transport.sandbox.rewrite = None
    return told


def entries(bench) -> tuple[InboxEntry, InboxEntry]:
    """The entry about values, and the one about a key."""
    value, key = sorted(status(bench.settings, bench.store).inbox, key=lambda one: not one.is_value)
    return value, key


def acknowledge(bench, *names: str) -> None:
    known = acknowledgeable(findings_of(bench.settings), entries(bench))
    with Acknowledgements(bench.settings.database_url) as acknowledgements:
        acknowledgements.add({name: known[name] for name in names})


def needs(bench) -> str:
    return "\n".join(bench.needs)


def test_what_does_not_fit_is_listed_by_kind(bench, sandbox):
    findings = findings_of(bench.settings)
    line = check_line(status(bench.settings, bench.store), findings)
    assert line.startswith("warning: Nothing has been synced yet: run `wms-sync sync`.")
    assert exit_code(findings) == 3
    read, refreshed = begun(bench, sandbox, sync_with_doubts)
    assert read.progress.pages == 3
    found = status(bench.settings, bench.store)
    assert (refreshed.quarantined, refreshed.drift) == (found.quarantined, found.unknown_keys) == (3, 1)
    assert f"3 values or records did not fit their type and were left out: {HERE}" in needs(bench)
    assert "1 unknown key, or key whose values were cast: Shipment.gift_wrap" in needs(bench)
    filled = sum(bool(count) for count in {**refreshed.rows, **refreshed.merged}.values())
    assert re.fullmatch(rf"merged    [\d,]+ rows of 1 window into {filled} tables", next(refresh_lines(refreshed)))

    value, key = entries(bench)
    assert (value.what, key.what, key.example) == (HERE, "Shipment.gift_wrap", '"blue"')
    rows = rows_of_entry(bench.settings, value, most=3)
    assert [row.text for row in rows] == [f'{{"perhaps": {row.object_id}}}' for row in rows]
    assert len(rows) == min(3, value.rows)
    assert bench.layout.files.size(bench.layout.page(rows[0].window_id, rows[0].page))
    assert rows_of_entry(bench.settings, key, most=3)[0].text == '"blue"'
    assert known_keys(found.inbox) == frozenset()
    with pytest.raises(UnknownEntry, match="value-000000"):
        chosen(list(found.inbox), ["value-000000"])


def test_what_heals_leaves_and_the_next_comes(spoiled, sandbox):
    """What is acknowledged is open again with the next value; a replay of the healed ones changes nothing."""
    value, key = entries(spoiled)
    acknowledge(spoiled, value.name)
    assert ["did not fit" in needs(spoiled), "1 unknown key" in needs(spoiled)] == [False, True]
    acknowledge(spoiled, key.name)
    assert "unknown key" not in needs(spoiled)
    assert entries(spoiled)[0].acknowledged_at is not None

    next_ = sandbox.sandbox.advance(seconds=3600, changed=FEW.shipments).changed[-1]

    def spoil(page):
        for shipment in page["collection"]:
            if shipment["id"] == next_:
                shipment |= {"is_international": "perhaps", "gift_wrap": "red"}
        return page

    sandbox.sandbox.rewrite = spoil
    sandbox.sandbox.advance(seconds=10)
    synced(spoiled)
    assert_next_alone(spoiled)
    assert queried(spoiled.layout.published, "select count(*) from ops.quarantine") == [(value.rows + 1,)]
    findings = findings_of(spoiled.settings)
    assert exit_code(findings) == 1, "the sandbox's clock stands still, so the data is months old"
    line = check_line(status(spoiled.settings, spoiled.store), findings)
    assert re.match(r"error: The data is [\d,]+ hours old", line)

    before = rows(spoiled.layout)
    left = spoiled.layout.parquet / "shipments" / parquet_name(value.windows[0], 9)
    left.write_bytes(b"of a run that was killed")
    done = replay(spoiled.run, value.windows)
    assert not left.exists()
    assert set(done.windows) == set(done.refreshed.windows) == set(value.windows)
    assert done.refreshed.published
    assert rows(spoiled.layout) == before
    assert_next_alone(spoiled)

    for window in value.windows:
        drop_pages(spoiled.run.turn, spoiled.layout, window, datetime.now(UTC))
    done = replay(spoiled.run, value.windows)
    assert (done.windows, set(done.dropped)) == ((), set(value.windows))


def assert_next_alone(bench) -> None:
    value, key = entries(bench)
    assert (value.acknowledged_at, value.rows) == (None, 1)
    assert key.acknowledged_at is not None
    assert "1 value or record did not fit" in needs(bench)
