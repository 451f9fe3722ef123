"""The benchmarks run from end to end, and what they compare and measure is what was there. No time is asserted."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import duckdb

from benchmarks.__main__ import NAMES, main, parser
from benchmarks.contenders import DLT, FLOOR, WMS_SYNC, Installation, contenders
from benchmarks.measuring import measure
from benchmarks.outputs import differences, summary
from benchmarks.service import Service

ROOT = Path(__file__).parents[2]


def test_the_contenders_store_the_same(tmp_path, monkeypatch, capsys):
    """Growth has the nights, over three copies of what was read."""
    monkeypatch.chdir(tmp_path)
    assert main(["first-sync", "growth", "persons", "--shipments", "60", "--sizes", "180", "--rounds", "1"]) == 0

    said = capsys.readouterr().out
    for contender in contenders():
        assert len(re.findall(rf"^\| {contender.name} \|", said, re.MULTILINE)) == 2
    compared = re.findall(r"^floor stored the same [\d,]+ rows as wms-sync, equal in (\d+) columns", said, re.MULTILINE)
    assert [int(columns) > 300 for columns in compared] == [True, True]
    assert list(tmp_path.iterdir()) == []


def test_memory_of_a_process_tree(tmp_path):
    hold = f"bytearray([1]) * (60 * {2**20})"
    code = (
        "import subprocess, sys, time;"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; held = {hold}; time.sleep(2)']);"
        f"held = {hold}; child.wait()"
    )
    cost = measure([sys.executable, "-c", code], folder=tmp_path, environment=dict(os.environ))

    assert cost.memory > 120


def test_what_contenders_stored_is_compared(tmp_path):
    stored = {
        WMS_SYNC: ("main.orders", "main.packages", "(1, 'a', 2.5), (2, null, 1)", "weight_value"),
        FLOOR: ("main.orders", "main.packages", "(1, 'a', 2.5), (2, 'b', 1)", "weight_value"),
        DLT: ("main_data.orders", "main_data.shipments__packages", "(1, 'a', 2.5)", "weight__value"),
    }
    summaries = {}
    for contender, (orders, packages, rows, weight) in stored.items():
        installation = Installation(contender, tmp_path, Service("http://127.0.0.1:9", "none"))
        with duckdb.connect(installation.database) as connection:
            connection.execute("create schema if not exists main_data")
            connection.execute(f"create table {orders} (id bigint, status varchar, {weight} double)")
            connection.execute(f"insert into {orders} values {rows}")
            connection.execute(f"create table {packages} as select 7 as id")
        summaries[contender] = summary(installation)

    ours, of_floor, of_dlt = summaries.values()
    assert differences(ours, ours) == []
    assert [found.split(" is ")[0] for found in differences(of_floor, ours)] == [
        "orders: count of status",
        "orders: sum of status",
    ]
    assert "orders: rows is 1 instead of 2" in differences(of_dlt, ours)
    assert of_dlt["packages", "rows"] == ours["packages", "rows"] == 1


def test_the_docs_show_how_to_choose_every_benchmark():
    text = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text()
    commands = [quoted or bare for quoted, bare in re.findall(r'make bench BENCH=(?:"([^"]*)"|([\w-]+))', text)]
    assert {name for command in commands for name in parser().parse_args(command.split()).benchmarks} == set(NAMES)


def test_the_comparison_reads_what_the_pinned_dlt_stores():
    """A newer DuckDB writes files that an older one does not open."""
    lists = ((ROOT / ".requirements" / f"{name}.txt").read_text() for name in ("dev", "bench"))
    assert len({re.findall(r"^duckdb==(\d+\.\d+)", pinned, re.MULTILINE)[0] for pinned in lists}) == 1
