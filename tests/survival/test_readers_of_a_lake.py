"""Analysts of a lake and the writer, with maintenance meanwhile: nobody meets an error or half of a load."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest

from tests.conftest import FEWER, Bench, opened_store
from tests.lakes import tables_of
from tests.survival.counts import PUBLISHINGS
from tests.survival.test_readers import NEW, SHIPMENTS, said
from tests.test_sync import synced
from wms_sandbox.app import Sandbox
from wms_sync.reports.reader import python_lines
from wms_sync.targets.ducklake.target import Lake

READERS, PER_MAINTENANCE = 8, 5
READING = """
import sys, time
exec(sys.argv[1])
asked, rows = 0, set()
while True:
    connection.begin()
    for schema, table in (("main", "shipments"), ("main", "orders"), ("main", "packages"), ("main", "shipment_items")):
        counted = connection.execute(f"select count(*) from {schema}.{table}").fetchone()[0]
        told = connection.execute(
            "select rows_in_table from ops.checks where name = ?", [f"{table}_have_unique_keys"]).fetchone()[0]
        assert counted == told, (table, counted, told)
        time.sleep(0.1)
    orphans = connection.execute(
        "select count(*) from packages anti join shipments on packages.shipment_id = shipments.id").fetchone()[0]
    assert orphans == 0
    seen, at = connection.execute("select count(*), any_value(loaded_at) from shipments, ops.latest_load").fetchone()
    [shown] = connection.execute("select shipments from marts.freshness").fetchone()
    assert shown == seen
    rows.add(seen)
    connection.commit()
    asked += 1
    print(asked, *sorted(rows), flush=True)
    time.sleep(1)
"""


@pytest.mark.targets("lake")
def test_readers_of_a_lake_see_whole_loads(server, settings_for, lakes, request):
    """What a load says of itself is read in the same transaction as the rows; every table is counted against it."""
    server.sandbox = Sandbox(FEWER)
    settings = settings_for(server, analytics="ducklake", state_url=lakes.new())
    bench = Bench(settings, opened_store(settings))
    synced(bench)
    lines = "\n".join(python_lines(settings)).replace("user=''analyst''", "user=''wms''")
    command = [sys.executable, "-c", READING, lines]
    readers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(READERS)
    ]
    states, files = {SHIPMENTS}, []
    loads = PUBLISHINGS.of(soak=request.config.getoption("--soak"))
    for number in range(1, loads + 1):
        server.sandbox.advance(seconds=3600, new=NEW, changed=50)
        server.sandbox.advance(seconds=10)
        synced(bench)
        states.add(SHIPMENTS + number * NEW)
        if number % PER_MAINTENANCE == 0:
            Lake(settings).maintain(bench.store.turn, timedelta(days=1))
            files.append(sum(one.files for one in tables_of(settings)))
        assert all(process.poll() is None for process in readers), [one.communicate() for one in readers if one.poll()]
    asked = 0
    for process in readers:
        times, *seen = said(process)
        asked += times
        assert set(seen) <= states
    print(f"{asked} transactions of {READERS} readers through {loads} loads, files after maintenance: {files}")
    bench.store.close()
