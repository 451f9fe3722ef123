"""Analysts and the writer: nobody ever meets a locked, missing or half-written file."""

from __future__ import annotations

import subprocess
import sys

import duckdb

from tests.test_sync import synced

LOOP = """
import sys, duckdb
opened, rows = 0, set()
while True:
    with duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "read_only") as connection:
        rows.add(connection.execute("select count(*) from shipments").fetchone()[0])
        orphans = connection.execute(
            "select count(*) from packages anti join shipments on packages.shipment_id = shipments.id").fetchone()[0]
        assert orphans == 0
    opened += 1
    print(opened, sorted(rows), flush=True)
"""


def reader(path, mode: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", LOOP, str(path), mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_readers_see_every_published_state_and_never_an_error(bench, sandbox):
    synced(bench)
    kept_open = duckdb.connect(bench.layout.published, read_only=True)
    readers = [reader(bench.layout.published, "read_only") for _ in range(2)]
    for process in readers:
        assert process.stdout is not None
        assert process.stdout.readline()
    for _ in range(3):
        sandbox.sandbox.advance(seconds=3600, new=10, changed=50)
        sandbox.sandbox.advance(seconds=10)
        synced(bench)
        assert all(process.poll() is None for process in readers)
    for process in readers:
        process.terminate()
        output, error = process.communicate()
        assert error == ""
        assert "600" in output
    assert kept_open.execute("select count(*) from shipments").fetchall() == [(600,)]
    kept_open.close()
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        assert connection.execute("select count(*) from shipments").fetchall() == [(630,)]


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
        assert rows(bench) == 610
        careless.communicate("close\n")
    assert careless.returncode == 0
    assert rows(bench) == 610


def rows(bench) -> int:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        return int(connection.execute("select count(*) from shipments").fetchall()[0][0])
