"""``wms-sync status --check``, ``acknowledge`` and ``inbox`` as they are typed, and the metrics of each run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.cli.conftest import LATE_START
from wms_sync.settings import Settings


def metrics(settings: Settings) -> dict[tuple[str, ...], float]:
    """Each value by name and labels, without the service."""
    found = {}
    for metric in text_string_to_metric_families(settings.layout.metrics.read_text()):
        assert (metric.type, metric.documentation[-1:]) == ("gauge", ".")
        for sample in metric.samples:
            assert sample.labels.pop("service") == "127.0.0.1"
            found[(sample.name, *sample.labels.values())] = sample.value
    return found


def test_a_failed_night_is_told_until_acknowledged(type_in, make_settings):
    settings = make_settings(start_date=LATE_START)
    nothing = type_in("status", "--check")
    assert (nothing.exit_code, nothing.output.split(":")[0]) == (3, "warning")
    assert type_in("sync").exit_code == 0
    well = type_in("status", "--check")
    assert (well.exit_code, well.output.count("\n")) == (0, 1), well.output
    assert re.match(r"ok: data as of .* UTC; last run sync, .* UTC", well.output)
    good = metrics(settings)
    assert good["wms_sync_last_run_success", "sync"] == 1
    assert good["wms_sync_table_rows", "shipments"] == good["wms_sync_last_run_shipments", "sync"] == 300
    assert good["wms_sync_last_run_duration_seconds", "load", "sync"] > 0
    assert good["wms_sync_lag_at_run_end_seconds",] < 600
    assert "maintained  nothing" in type_in("maintain").output

    assert type_in("sync", token="a-wrong-token").exit_code == 2
    failed = type_in("status", "--check")
    assert (failed.exit_code, "refused the token" in failed.output) == (1, True)
    bad = metrics(settings)
    assert bad["wms_sync_last_run_success", "sync"] == 0
    assert bad["wms_sync_last_run_timestamp_seconds", "sync"] > good["wms_sync_last_run_timestamp_seconds", "sync"]
    for kept in (("wms_sync_last_success_timestamp_seconds", "sync"), ("wms_sync_data_as_of_timestamp_seconds",)):
        assert bad[kept] == good[kept]

    [name] = re.findall(r"\((run-\w+)\)", type_in("status").output)
    assert type_in("acknowledge", "run-000000").exit_code == 2
    assert type_in("acknowledge", name).exit_code == 0
    assert type_in("status", "--check").exit_code == 0
    assert "acknowledged  sync failed: " in type_in("status").output
    assert type_in("sync", token="a-wrong-token").exit_code == 2
    assert type_in("status", "--check").exit_code == 0, "another night failed for the same reason"


def test_metrics_are_pushed_as_they_are_written(type_in, make_settings, receiver):
    """A Pushgateway that refuses them fails no run."""
    gateway = {"WMS_METRICS_URL": f"{receiver.origin}/"}
    assert type_in("sync", **gateway).exit_code == 0
    assert receiver.put == [make_settings().layout.metrics.read_text()]
    assert type_in("sync", token="a-wrong-token", **gateway).exit_code == 2
    assert 'wms_sync_last_run_success{run="sync",service="127.0.0.1"} 0.0' in receiver.put[-1]
    assert receiver.asked == ["PUT /metrics/job/wms-sync/service/127.0.0.1"] * 2
    receiver.status = 500
    refused = type_in("sync", **gateway)
    assert (refused.exit_code, "not be pushed to WMS_METRICS_URL (HTTPError)" in refused.output) == (0, True), (
        refused.output
    )


PROGRAM = Path(sys.executable).with_name("wms-sync")
COLUMNS = 60
ESCAPE = re.compile(r"\x1b\[(\d*)m")


def on_a_terminal(environment: Mapping[str, str]) -> list[str]:
    """The lines of ``status`` on a terminal of ``COLUMNS``."""
    terminal, far_end = os.openpty()
    termios.tcsetwinsize(far_end, (40, COLUMNS))
    with subprocess.Popen([PROGRAM, "status"], stdin=far_end, stdout=far_end, stderr=far_end, env=environment):
        os.close(far_end)
        pieces = []
        with suppress(OSError):  # the end: nobody has the far end open
            while piece := os.read(terminal, 4096):
                pieces.append(piece)
    os.close(terminal)
    return b"".join(pieces).decode().splitlines()


def test_status_fits_its_terminal_and_a_pipe_has_whole_lines(type_in, make_settings, tmp_path):
    """Findings first, and each line of a table only if it is asked for."""
    settings = make_settings(start_date=LATE_START)
    type_in("sync")
    type_in("sync", token="a-wrong-token")
    shown = {"base_url": settings.base_url, "data_dir": settings.data_dir, "start_date": settings.start_date}
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm"}
    environment |= {f"WMS_{name.upper()}": str(value) for name, value in shown.items()}
    lines = on_a_terminal(environment)
    assert max(len(ESCAPE.sub("", line)) for line in lines) <= COLUMNS
    red = [line for line in lines if ESCAPE.findall(line) == ["31", "0"]]
    assert red[0] == lines[0], lines
    assert red[0].startswith("\x1b[31merror         since")
    assert red[1].startswith("\x1b[31m              "), "below the text, not below the label"

    piped = subprocess.run([PROGRAM, "status"], capture_output=True, text=True, env=environment, check=False)
    assert piped.returncode == 1
    assert "\x1b" not in piped.stdout
    assert max(map(len, piped.stdout.splitlines())) > 2 * COLUMNS
    joined = " ".join(ESCAPE.sub("", line) for line in lines)
    assert joined.split() == piped.stdout.split(), "the same words"

    assert len(re.findall("^rows ", piped.stdout, re.MULTILINE)) == 1
    counted = re.findall(r"^rows +([\d,]+)  (\w+)", type_in("status", "--rows").output, re.MULTILINE)
    assert ("300", "shipments") in counted
    assert len(counted) > 10


COMMANDS = "gift\x1b]0;wrap\x07\x9b31m\u202e\nnothing is open"
"""A key that would rename a terminal, color it, turn the line around and add a line of its own."""


def test_the_inbox_as_it_is_typed(type_in, service_of_today):
    def spoil(page):
        for shipment in page["collection"][:1]:
            shipment["is_international"], shipment[COMMANDS] = "perhaps", "blue"
        return page

    service_of_today.sandbox.rewrite = spoil
    spoiled = type_in("sync")
    assert (spoiled.exit_code, type_in("check").exit_code, type_in("check", "--strict").exit_code) == (0, 0, 3)
    assert [table for table in ("ops.quarantine", "ops.schema_drift") if table not in spoiled.output] == []
    assert type_in("status", "--check").exit_code == 3
    listed = type_in("inbox").output
    assert "Shipment.gift\\u001b]0;wrap\\u0007\\u009b31m\\u202e nothing is open" in listed
    assert not set("\x1b\x07\x9b\u202e") & set(listed + spoiled.output)
    assert "nothing is open" not in listed.splitlines()
    [value] = re.findall(r"^(value-\w+)  Shipment \$\.collection\[\]\.is_international: ", listed, re.MULTILINE)
    [key] = re.findall(r"^(key-\w+)  Shipment\.gift.*: no type has the key", listed, re.MULTILINE)
    assert re.search(
        r'  Shipment \d+, \$\.collection\[0\]\.is_international in /.*/page-\d+\.json.*\n    "perhaps"',
        type_in("inbox", value).output,
    )
    assert type_in("inbox", "value-000000").exit_code == 2
    assert type_in("acknowledge", value, key).exit_code == 0
    assert type_in("status", "--check").exit_code == 0
