"""Analysts and the writer: nobody meets a locked, missing or half-written file, an error or half of a load."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from tests.bench import FEWER, Bench, let_pass, queried
from tests.survival.moments import watched
from wms_sync.reports.doctor import examine
from wms_sync.reports.installation import read_installation
from wms_sync.shipments.load.refresh import refresh
from wms_sync.targets.errors import DatabaseOpenError

OPENING = """
import sys, time, duckdb
opened, rows = 0, set()
while True:
    with duckdb.connect(sys.argv[1], read_only=True) as connection:
        rows.add(connection.execute("select count(*) from shipments").fetchone()[0])
        orphans = connection.execute(
            "select count(*) from packages anti join shipments on packages.shipment_id = shipments.id").fetchone()[0]
        assert orphans == 0
    opened += 1
    print(opened, *sorted(rows), flush=True)
    time.sleep(0.2)
"""
STAYING = """
import sys, time, duckdb
asked, connection = 0, duckdb.connect(sys.argv[1], read_only=True)
while True:
    rows = connection.execute("select count(*), count(distinct status) from shipments").fetchone()[0]
    asked += 1
    print(asked, rows, flush=True)
    time.sleep(0.1)
"""
CHANGING = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("delete from retailers")
print("changed", flush=True)
sys.stdin.readline()
"""
COUNT = "select count(*) from shipments"
SHIPMENTS, NEW = FEWER.shipments, 10
"""In the sandbox at first, and before each publishing."""


def sync_more(bench: Bench, sandbox) -> None:
    """New shipments appear, some change, and a sync publishes them."""
    let_pass(sandbox.sandbox, seconds=3600, new=NEW, changed=50)
    bench.sync()


def reader(program: str, argument: str) -> subprocess.Popen[str]:
    """A program of an analyst that has printed its first line."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", program, argument], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def said(process: subprocess.Popen[str]) -> list[int]:
    """Kill it: started in the background it may ignore anything milder. The last line that it printed whole."""
    process.kill()
    output, error = process.communicate()
    assert error == ""
    return [int(word) for word in output[: output.rindex("\n")].splitlines()[-1].split()]


def test_readers_see_published_states_without_errors(bench, sandbox, count):
    """Some open the file in a loop, others have it open from before the first publishing to after the last.

    The loop hardly ever hits the moment of a publishing, so every moment of it is watched here.
    """
    bench.first_sync(sandbox)
    publishings, published = count("publishings that readers go through"), bench.layout.published
    opening = [reader(OPENING, str(published)) for _ in range(count("readers that open the file again and again"))]
    staying = reader(STAYING, str(published))
    states = {SHIPMENTS + number * NEW for number in range(publishings + 1)}
    missing: list[str] = []
    with (
        published.open("rb") as opened,
        watched(lambda moment: None if published.exists() else missing.append(moment)),
    ):
        before = opened.read()
        for _ in range(publishings):
            sync_more(bench, sandbox)
            assert all(process.poll() is None for process in (*opening, staying))
        opened.seek(0)
        assert opened.read() == before
    assert missing == []
    asked, *rows = said(staying)
    assert rows == [SHIPMENTS], "what is open stays as it was"
    lines = [said(process) for process in opening]
    for _, *seen in lines:
        assert {SHIPMENTS} <= set(seen) <= states
    opens = sum(times for times, *_ in lines)
    print(f"{opens} opens, and {asked} queries of one that stays open, through {publishings} publishings")
    assert queried(published, COUNT) == [(max(states),)]


LATE = """
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("opened", flush=True)
sys.stdin.readline()
connection.execute("insert into shipments select * replace (id + 1_000_000 as id) from shipments limit 40")
os._exit(9)
"""


@contextmanager
def analyst(bench: Bench, program: str) -> Iterator[None]:
    """An analyst's program, which prints a line before the block and continues after it, to its end."""
    bench.layout.published.chmod(0o600)  # as root, whom no permission stops
    process = reader(program, str(bench.layout.published))
    yield
    process.communicate("continue\n")


def test_analysts_who_write_hinder_nobody(bench, sandbox):
    """Their logs, which DuckDB would read into another file of the same name, are reported and do no harm."""
    bench.first_sync(sandbox)
    log = bench.layout.published.with_name("analytics.duckdb.wal")
    with analyst(bench, LATE):
        sync_more(bench, sandbox)
    assert log.exists(), "beside the new file"
    assert read_installation(bench.settings, bench.store).rows["shipments"] == SHIPMENTS + NEW
    [aside] = bench.layout.root.glob("*.of-an-earlier-file")
    assert [line for line in bench.needs if str(aside) in line and "read_only=True" in line]

    def leave_a_log_when_the_copy_is_made(moment: str) -> None:
        if moment.endswith("FileLoad.publish > sync: after fsync"):
            log.write_bytes(b"of the file before")

    with watched(leave_a_log_when_the_copy_is_made):
        sync_more(bench, sandbox)
    assert not log.exists()
    assert queried(bench.layout.published, COUNT) == [(SHIPMENTS + 2 * NEW,)]

    before = read_installation(bench.settings, bench.store).rows
    with analyst(bench, CHANGING):
        assert read_installation(bench.settings, bench.store).rows == before
    assert not list(bench.layout.work.glob("reading-*"))


def test_a_damaged_database_is_named_and_rebuilt(bench, sandbox):
    bench.first_sync(sandbox)
    published = bench.layout.published
    published.chmod(0o600)
    published.write_bytes(b"no database" * 1000)
    with pytest.raises(DatabaseOpenError, match=f"^{published} cannot be read"):
        refresh(bench.run)
    published.rename(published.with_suffix(".damaged"))
    bench.sync()
    assert queried(published, "select count(*) from shipments") == [(SHIPMENTS,)]


def test_the_doctor_continues_after_an_unforeseen_error(bench):
    """Another database in the place of ours: it opens, and has no tables."""
    duckdb.connect(bench.layout.published).close()
    found = {one.name: one for one in examine(bench.settings)}
    severities = {"time zones": "error", "tables-unreadable": "error", "alerts": "warning"}
    assert {name: found[name].severity for name in severities} == severities
    assert "CatalogException" in found["time zones"].text
