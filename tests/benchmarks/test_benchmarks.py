"""The benchmark runs from end to end, without dlt, and what it measures is what was there. No time is asserted."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import duckdb

from benchmarks.__main__ import LONG, USUAL, _parser, main
from benchmarks.measuring import measure
from benchmarks.trials import Contender, trial

MIB = 2**20


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


def test_rows_of_a_contender_are_compared(tmp_path):
    contender = Contender("by hand", (), "made.duckdb", "from made")
    with trial(contender, tmp_path / "trial", 5) as now:
        rows = [(key, *row) for key, row in now.truth().items()]
        wrong = (*rows[0][:-1], 99)
        now.database.parent.mkdir(parents=True)
        with duckdb.connect(now.database) as connection:
            connection.execute("create table made (id bigint, u bigint, p bigint, s text, m text, d text, n bigint)")
            connection.executemany("insert into made values (?, ?, ?, ?, ?, ?, ?)", [wrong, *rows[1:4], rows[3]])
        found = now.rows()

    assert (found.lost, found.doubled, found.wrong) == (1, 1, 1)


def test_the_docs_show_how_to_choose_every_benchmark():
    text = (Path(__file__).parents[2] / "docs" / "explanation" / "benchmarks.md").read_text()
    commands = [quoted or bare for quoted, bare in re.findall(r'make bench BENCH=(?:"([^"]*)"|([\w-]+))', text)]
    chosen = [_parser().parse_args(command.split()).benchmarks for command in commands]
    assert {name for names in chosen for name in names} == {*USUAL, *LONG}
