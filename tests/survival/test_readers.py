"""Analysts and the writer: nobody ever meets a locked, missing or half-written file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb

from tests.survival.counts import PUBLISHINGS
from tests.test_sync import synced

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
SHIPMENTS, NEW = 600, 10
"""In the sandbox at first, and before each publishing."""


def reader(path: Path, program: str) -> subprocess.Popen[str]:
    """A process that reads until it is ended, and has begun to."""
    command = [sys.executable, "-c", program, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def said(process: subprocess.Popen[str]) -> list[int]:
    """Kill it: started in the background it may ignore anything milder. The last line that it printed whole."""
    process.kill()
    output, error = process.communicate()
    assert error == ""
    return [int(word) for word in output[: output.rindex("\n")].splitlines()[-1].split()]


def test_readers_see_every_published_state_and_never_an_error(bench, sandbox, request):
    """Three open the file in a loop, one has it open from before the first publishing to after the last."""
    synced(bench)
    publishings = PUBLISHINGS.of(soak=request.config.getoption("--soak"))
    opening = [reader(bench.layout.published, OPENING) for _ in range(3)]
    staying = reader(bench.layout.published, STAYING)
    states = {SHIPMENTS}
    for number in range(1, publishings + 1):
        sandbox.sandbox.advance(seconds=3600, new=NEW, changed=50)
        sandbox.sandbox.advance(seconds=10)
        synced(bench)
        states.add(SHIPMENTS + number * NEW)
        assert all(process.poll() is None for process in (*opening, staying))
    asked, *rows = said(staying)
    assert rows == [SHIPMENTS], "what is open stays as it was"
    opens = 0
    for process in opening:
        opened, *seen = said(process)
        opens += opened
        assert SHIPMENTS in seen
        assert set(seen) <= states
    print(f"{opens} opens, and {asked} queries of one that stays open, through {publishings} publishings")
    assert rows_published(bench) == max(states)


CARELESS = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("create table mine as select 1 as one")
print("written", flush=True)
sys.stdin.readline()
connection.close()
"""


def test_a_log_left_by_an_analyst_who_opened_the_file_for_writing_does_no_harm(bench, sandbox):
    synced(bench)
    command = [sys.executable, "-c", CARELESS, str(bench.layout.published)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as careless:
        assert careless.stdout is not None
        assert careless.stdout.readline() == "written\n"
        assert bench.layout.published.with_name("analytics.duckdb.wal").exists()
        sandbox.sandbox.advance(seconds=3600, new=10)
        sandbox.sandbox.advance(seconds=10)
        synced(bench)
        assert rows_published(bench) == 610
        careless.communicate("close\n")
    assert careless.returncode == 0
    assert rows_published(bench) == 610


def rows_published(bench) -> int:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        return int(connection.execute("select count(*) from shipments").fetchall()[0][0])
