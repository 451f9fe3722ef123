"""The benchmark runs from end to end, without dlt, and what it measures is what was there. No time is asserted."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from time import monotonic

import duckdb
import httpx

from benchmarks.__main__ import LONG, USUAL, _parser, main
from benchmarks.measuring import measure
from benchmarks.rows import difference
from benchmarks.service import serving
from benchmarks.slow_database import slow_database
from benchmarks.slow_service import PAGES_ASKED
from benchmarks.trials import COMPARED, Contender, trial
from tests.postgres import plain

MIB = 2**20
DELAY = 0.2


def test_first_sync_of_every_contender_but_dlt(tmp_path):
    assert main(["first-sync", "--shipments", "60", "--without-dlt", "--results", str(tmp_path)]) == 0

    (results,) = tmp_path.glob("results-*.json")
    (section,) = json.loads(results.read_text())["sections"]
    contenders = {row["contender"]: row for row in section["rows"]}
    assert {row["shipments"] for row in contenders.values()} == {60}
    assert len({row["rows"] for name, row in contenders.items() if name != "floor"}) == 1
    figures = {figure["name"] for figure in section["figures"]}
    assert {"CPU, product / floor with outputs", "peak memory of the product"} <= figures
    assert not (tmp_path / "scratch").exists()


def test_memory_and_output_of_a_process_tree(tmp_path):
    hold = f"bytearray([1]) * (60 * {MIB})"
    code = (
        "import subprocess, sys, time;"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; held = {hold}; time.sleep(2)']);"
        f"held = {hold}; child.wait(); print('done')"
    )
    cost, output = measure([sys.executable, "-c", code], folder=tmp_path, environment=dict(os.environ))

    assert output == "done\n"
    assert cost.memory > 120


def test_a_slow_service_waits_and_counts_pages():
    with serving(2, delay=DELAY) as service:
        started = monotonic()
        service.page()
        taken = monotonic() - started
        asked = httpx.get(f"{service.base_url}{PAGES_ASKED}").json()

    assert taken >= DELAY
    assert asked == 1


def test_rows_of_a_contender_are_compared(tmp_path):
    contender = Contender("by hand", (), "made.duckdb", "from made")
    with trial(contender, tmp_path / "trial", 5) as now:
        first, second, third, *_ = ids = now.ids
        true = now.truth()
        rows = [(key, *true[key]) for key in ids[:4]]
        rows[0] = (first, *true[first][:-1], 99)
        status = COMPARED.index("status")
        rows[1] = (second, *true[second][:status], None, *true[second][status + 1 :])
        now.odd = {second: {"status": 7}}
        now.database.parent.mkdir(parents=True)
        with duckdb.connect(now.database) as connection:
            connection.execute("create table made (id bigint, u bigint, p bigint, s text, m text, d text, n bigint)")
            connection.executemany("insert into made values (?, ?, ?, ?, ?, ?, ?)", [*rows, (third, *true[third])])
        found = now.rows()

    assert (found.lost, found.doubled, found.wrong) == (1, 1, 1)


def test_a_difference_of_rows_is_told_by_table():
    assert difference({"orders": 1, "shipments": 2}, {"orders": 1, "shipments": 1_000, "brands": 3}) == (
        "shipments: 2 instead of 1,000"
    )


def test_the_docs_show_how_to_choose_every_benchmark():
    text = (Path(__file__).parents[2] / "docs" / "explanation" / "benchmarks.md").read_text()
    commands = [quoted or bare for quoted, bare in re.findall(r'make bench BENCH=(?:"([^"]*)"|([\w-]+))', text)]
    chosen = [_parser().parse_args(command.split()).benchmarks for command in commands]
    assert {name for names in chosen for name in names} == {*USUAL, *LONG}


def test_a_distant_database_is_slow_and_counted(postgres_url):
    import psycopg  # takes long, and few tests need it

    with (
        slow_database(postgres_url, DELAY) as (proxy, url),
        psycopg.connect(plain(url), autocommit=True) as connection,
    ):
        before, began = proxy.requests, monotonic()
        for _ in range(3):
            assert connection.execute("select 1").fetchone() == (1,)
        assert monotonic() - began >= 3 * DELAY
        assert proxy.requests - before == 3
