"""What a run shows while it goes on: a bar on a terminal, lines with times elsewhere."""

from __future__ import annotations

import re


def test_a_terminal_has_a_bar_others_have_lines(type_in, monkeypatch):
    done = type_in("sync")
    lines = done.stderr.splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d UTC  ", line)] == []
    assert "0 of 300 shipments (0%), 0 pages, 0 of 1 window" in lines[0]
    assert "merged 1 of 1 window\n" in done.stderr
    [took] = [line for line in done.stdout.splitlines() if line.startswith("took")]
    assert re.sub(r"[\d.]+", "1", took) == "took      read 1 s  flatten 1 s  merge 1 s  check 1 s  publish 1 s"

    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = type_in("sync").stderr
    assert [word for word in ("reading", "merging") if word not in bar] == []
    assert "merged 1 of" not in bar, "the bar shows it"
    assert [line for line in bar.splitlines() if "reading" in line and "refreshing" in line] == [], "each has its line"
