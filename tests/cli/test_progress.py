"""What a run shows while it goes on: its read is a bar on a terminal, and lines with times elsewhere."""

import re


def test_a_terminal_has_a_bar_others_have_lines(type_in, monkeypatch):
    done = type_in("sync")
    lines = done.stderr.splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d UTC  ", line)] == []
    assert "0 of 300 shipments (0%), 0 pages, 0 of 1 window" in lines[0]
    assert "merged 1 of 1 window\n" in done.stderr
    [took] = [line for line in done.stdout.splitlines() if line.startswith("took")]
    phases = ("read", "flatten", "merge", "check", "publish", "other")
    assert re.sub(r"[\d.]+", "1", took) == f"took      {'  '.join(f'{phase} 1 s' for phase in phases)}"

    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = type_in("sync").stderr
    assert ("reading" in bar, "0 of 300 shipments" in bar) == (True, False), "the bar shows it"
    lines = [line for line in bar.splitlines() if "refreshing" in line or "merged 1 of 1 window" in line]
    assert (len(lines), [line for line in lines if "reading" in line]) == (2, []), "each has its line"
