"""The benchmark runs from end to end, without dlt, and what it measures is what was there. No time is asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmarks.measuring import measure

MIB = 2**20


def test_first_sync_of_every_contender_but_dlt(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "first-sync", "--shipments", "200", "--without-dlt"]
    subprocess.run([*command, "--results", str(tmp_path)], check=True, capture_output=True)

    (results,) = tmp_path.glob("results-*.json")
    (section,) = json.loads(results.read_text())["sections"]
    contenders = {row["contender"]: row for row in section["rows"]}
    assert {row["shipments"] for row in contenders.values()} == {200}
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


def test_a_watched_file_is_seen_while_it_stands(tmp_path):
    code = "import pathlib, time; p = pathlib.Path('standing'); p.touch(); time.sleep(0.2); p.unlink(); time.sleep(0.2)"
    cost, _ = measure(
        [sys.executable, "-c", code], folder=tmp_path, environment=dict(os.environ), watched=(tmp_path, "standing")
    )

    assert 0 < cost.watched < cost.wall
