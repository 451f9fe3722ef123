"""What a run shows while it goes on: a bar on a terminal, lines with times elsewhere."""

from __future__ import annotations

import logging
import re

import pytest
from click.testing import CliRunner, Result

from tests.cli.conftest import START, TOKEN
from wms_sync.cli.main import main
from wms_sync.cli.runs import _Seldom


@pytest.fixture
def sync(settings, monkeypatch):
    for name, value in (("BASE_URL", settings.base_url), ("API_TOKEN", TOKEN), ("START_DATE", str(START))):
        monkeypatch.setenv(f"WMS_{name}", str(value))
    monkeypatch.setenv("WMS_DATA_DIR", str(settings.data_dir))

    def run() -> Result:
        done = CliRunner().invoke(main, ["sync"])
        assert done.exit_code == 3, done.output  # the data is as old as the sandbox's clock
        return done

    return run


def test_a_terminal_has_a_bar_others_have_lines(sync, monkeypatch):
    done = sync()
    lines = done.stderr.splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d UTC  ", line)] == []
    assert "0 of 300 shipments (0%), 0 pages, 0 of 1 window" in lines[0]
    assert "merged 1 of 1 window\n" in done.stderr
    [took] = [line for line in done.stdout.splitlines() if line.startswith("took")]
    assert re.sub(r"[\d.]+", "1", took) == "took      read 1 s  flatten 1 s  merge 1 s  check 1 s  publish 1 s"

    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = sync().stderr
    assert [word for word in ("reading", "merging") if word not in bar] == []
    assert "merged 1 of" not in bar, "the bar shows it"
    assert [line for line in bar.splitlines() if "reading" in line and "refreshing" in line] == [], "each has its line"


def test_the_first_and_last_windows_are_told():
    seldom = _Seldom()
    told = []
    for number in range(1, 1001):
        values = {"flattened": number, "windows": 1000}
        message = "flattened %(flattened)d of %(windows)d windows"
        record = logging.LogRecord("wms_sync.shipments.load.refresh", logging.INFO, "", 1, message, (values,), None)
        if seldom.filter(record):
            told.append(number)
    assert (told[0], told[-1]) == (1, 1000)
    assert len(told) < 20
