"""The inbox: what did not fit is listed by kind, acknowledged, replayed, and leaves by itself once it has healed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pytest

from tests.conftest import FEWER
from tests.survival.installation import rows
from tests.test_sync import begun, synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.views import check_line, refresh_lines
from wms_sync.layout import parquet_name
from wms_sync.reports.finding import exit_code
from wms_sync.reports.findings import acknowledgeable, findings_of
from wms_sync.reports.inbox import InboxEntry, UnknownEntry, chosen, known_keys, rows_of_entry
from wms_sync.reports.report import make_report
from wms_sync.reports.status import Status, status
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


def now(bench) -> Status:
    return status(bench.settings, bench.store)


def entries(bench) -> dict[bool, InboxEntry]:
    """The entry about values, and the one about a key."""
    return {one.is_value: one for one in now(bench).inbox}


def acknowledge(bench, *names: str) -> None:
    known = acknowledgeable(findings_of(bench.settings), now(bench).inbox)
    with Acknowledgements(bench.settings.database_url) as acknowledgements:
        acknowledgements.add({name: known[name] for name in names})


def needs(bench) -> str:
    return "\n".join(bench.needs)


def test_what_does_not_fit_is_listed_until_acknowledged(spoiled, sandbox):
    """And again with the next value."""
    found = entries(spoiled)
    value, key = found[True], found[False]
    assert value.what == HERE
    assert (key.what, key.example) == ("Shipment.gift_wrap", '"blue"')
    rows = rows_of_entry(spoiled.settings, value, most=3)
    assert len(rows) == min(3, value.rows)
    assert rows[0].text == f'{{"perhaps": {rows[0].object_id}}}'
    assert spoiled.layout.files.size(spoiled.layout.page(rows[0].window_id, rows[0].page))
    assert rows_of_entry(spoiled.settings, key, most=3)[0].text == '"blue"'
    assert known_keys(found.values()) == frozenset()
    with pytest.raises(UnknownEntry, match="value-000000"):
        chosen(list(found.values()), ["value-000000"])

    assert f"{value.rows} values or records did not fit and are left out" in needs(spoiled)
    acknowledge(spoiled, value.name)
    assert "did not fit" not in needs(spoiled)
    assert "1 unknown key, or key whose values were cast" in needs(spoiled)
    acknowledge(spoiled, key.name)
    assert "unknown key" not in needs(spoiled)
    assert entries(spoiled)[True].acknowledged_at is not None

    def spoil(page):
        for shipment in page["collection"]:
            shipment["is_international"], shipment["gift_wrap"] = "perhaps", "red"
        return page

    sandbox.sandbox.rewrite = spoil
    sandbox.sandbox.advance(seconds=3600, changed=1)
    sandbox.sandbox.advance(seconds=10)
    synced(spoiled)
    left = {(entry.is_value, entry.acknowledged_at is None) for entry in now(spoiled).inbox}
    assert left == {(True, True), (False, False)}
    assert "did not fit" in needs(spoiled)


def test_doubts_are_counted_alike_and_leave_once_healed(bench, sandbox):
    """What is read again without a fault leaves by itself, and stays for analysts."""
    findings = findings_of(bench.settings)
    assert check_line(now(bench), findings).startswith("warning: Nothing is synced yet: run `wms-sync sync`.")
    assert exit_code(findings) == 3
    read, refreshed = begun(bench, sandbox, sync_with_doubts)
    assert read.progress.pages == 3
    found, before = now(bench), entries(bench)[True]
    assert (refreshed.quarantined, refreshed.drift) == (found.quarantined, found.unknown_keys) == (3, 1)
    lines = list(refresh_lines(refreshed))
    assert any(line.startswith(f"3 values or records did not fit and are left out: {HERE}") for line in bench.needs)
    assert any(
        line.startswith("1 unknown key, or key whose values were cast: Shipment.gift_wrap") for line in bench.needs
    )
    assert re.fullmatch(r"merged    [\d,]+ rows of 1 window into \d+ tables", lines[0])
    filled = sum(bool(count) for table, count in {**refreshed.rows, **refreshed.merged}.items())
    assert lines[0].endswith(f"into {filled} tables")

    sandbox.sandbox.advance(seconds=3600, changed=FEW.shipments)
    sandbox.sandbox.advance(seconds=10)
    synced(bench)
    assert now(bench).quarantined == 0
    assert True not in entries(bench)
    assert "did not fit" not in needs(bench)
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        [(kept,)] = connection.execute("select count(*) from ops.quarantine").fetchall()
    assert kept == before.rows
    _, report = make_report(bench.settings)
    assert {finding.name for finding in report.findings}.isdisjoint({"quarantine"})
    findings = findings_of(bench.settings)
    assert exit_code(findings) == 1, "the sandbox's clock stands still, so the data is months old"
    assert re.match(r"error: The data is [\d,]+ hours old", check_line(now(bench), findings))


def test_a_replay_changes_only_what_pages_show_otherwise(spoiled, sandbox):
    sandbox.sandbox.advance(seconds=3600, changed=20)
    sandbox.sandbox.advance(seconds=10)
    synced(spoiled)
    before = rows(spoiled.layout)
    value = entries(spoiled)[True]
    left = spoiled.layout.parquet / "shipments" / parquet_name(value.windows[0], 9)
    left.write_bytes(b"of a run that was killed")
    done = replay(spoiled.run, value.windows)
    assert not left.exists()
    assert set(done.windows) == set(value.windows)
    assert set(done.refreshed.windows) == set(value.windows)
    assert done.refreshed.published
    assert rows(spoiled.layout) == before
    assert entries(spoiled)[True].rows == value.rows

    for window in value.windows:
        drop_pages(spoiled.run.turn, spoiled.layout, window, datetime.now(UTC))
    done = replay(spoiled.run, value.windows)
    assert (done.windows, set(done.dropped)) == ((), set(value.windows))
