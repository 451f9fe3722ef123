"""``wms-sync status --check``, ``acknowledge`` and ``inbox`` as they are typed, and the metrics of each run."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.cli.conftest import LATE_START
from wms_sync.settings import Settings
from wms_sync.state.run_records import RunRecord, RunRecords


def metrics(settings: Settings) -> dict[tuple[str, ...], float]:
    """Each value by name and labels, without the service."""
    found = {}
    for metric in text_string_to_metric_families(settings.layout.metrics.read_text()):
        assert (metric.type, metric.documentation[-1:]) == ("gauge", ".")
        for sample in metric.samples:
            assert sample.labels.pop("service") == "127.0.0.1"
            found[(sample.name, *sample.labels.values())] = sample.value
    return found


def test_a_failed_night_is_told_until_acknowledged(type_in, make_settings, receiver):
    """A Pushgateway gets the metrics as they are written; one that refuses them fails no run."""
    settings, gateway = make_settings(start_date=LATE_START), {"WMS_METRICS_URL": f"{receiver.origin}/"}
    assert type_in("sync", **gateway).exit_code == 0
    well = type_in("status", "--check")
    assert re.fullmatch(r"ok: data as of .* UTC; last run sync, .* UTC.*\n", well.output), well.output
    good = metrics(settings)
    assert (good["wms_sync_last_run_success", "sync"], good["wms_sync_last_run_shipments", "sync"]) == (1, 300)
    assert good["wms_sync_table_rows", "shipments"] == 300
    assert good["wms_sync_last_run_duration_seconds", "load", "sync"] > 0
    assert good["wms_sync_lag_at_run_end_seconds",] < 600
    assert "maintained  nothing" in type_in("maintain").output

    failed = [type_in("sync", token="a-wrong-token", **gateway), type_in("status", "--check")]
    assert ([ended.exit_code for ended in failed], "refused the token" in failed[1].output) == ([2, 1], True)
    bad = metrics(settings)
    assert bad["wms_sync_last_run_success", "sync"] == 0
    assert bad["wms_sync_last_run_timestamp_seconds", "sync"] > good["wms_sync_last_run_timestamp_seconds", "sync"]
    for kept in (("wms_sync_last_success_timestamp_seconds", "sync"), ("wms_sync_data_as_of_timestamp_seconds",)):
        assert bad[kept] == good[kept]
    assert receiver.asked == ["PUT /metrics/job/wms-sync/service/127.0.0.1"] * 2
    assert receiver.put[-1] == settings.layout.metrics.read_text()

    [name] = re.findall(r"\((run-\w+)\)", type_in("status").output)
    commands = (["acknowledge", "run-000000"], ["acknowledge", name], ["status", "--check"])
    assert [type_in(*command).exit_code for command in commands] == [2, 0, 0]
    assert "acknowledged  sync failed: " in type_in("status").output
    again = (type_in("sync", token="a-wrong-token").exit_code, type_in("status", "--check").exit_code)
    assert again == (2, 0), "another night failed for the same reason"
    receiver.status = 500
    done = type_in("sync", **gateway)
    assert (done.exit_code, "not be pushed to WMS_METRICS_URL (HTTPError)" in done.output) == (0, True), done.output

    with RunRecords.opened(settings.database_url) as records:
        records.save(
            RunRecord(
                "one",
                "push retailers",
                "sensor",
                ended_at=datetime.now(UTC),
                outcome="succeeded",
                counts={"created": 2, "stored_otherwise": 1, "rejected": 4},
            )
        )
    assert type_in("maintain").exit_code == 0
    assert {"wms_sync_last_run_created_rows": 3, "wms_sync_last_run_rejected_rows": 4}.items() <= {
        name: value for (name, *labels), value in metrics(settings).items() if labels == ["push retailers"]
    }.items()


PROGRAM = Path(sys.executable).with_name("wms-sync")
COLUMNS = 60
ESCAPE = re.compile(r"\x1b\[(\d*)m")


def test_status_fits_its_terminal_and_a_pipe_has_whole_lines(type_in, make_settings):
    """Findings first, and each line of a table only if it is asked for."""
    settings = make_settings(start_date=LATE_START)
    type_in("sync")
    type_in("sync", token="a-wrong-token")
    environment = {
        "PATH": os.environ["PATH"],
        "TERM": "xterm",
        **{f"WMS_{name.upper()}": str(getattr(settings, name)) for name in ("base_url", "data_dir", "start_date")},
    }
    terminal = ["script", "--quiet", "--command", f"stty rows 40 columns {COLUMNS}; {PROGRAM} status", "/dev/null"]
    lines = subprocess.check_output(terminal, stdin=subprocess.DEVNULL, text=True, env=environment).splitlines()
    words = " ".join(ESCAPE.sub("", line) for line in lines)
    assert max(len(ESCAPE.sub("", line)) for line in lines) <= COLUMNS
    red = [line for line in lines if ESCAPE.findall(line) == ["31", "0"]]
    assert red[0] == lines[0], lines
    assert red[0].startswith("\x1b[31merror         since")
    assert red[1].startswith("\x1b[31m              "), "below the text, not below the label"

    piped = subprocess.run([PROGRAM, "status"], capture_output=True, text=True, env=environment, check=False)
    assert (piped.returncode, piped.stdout.split()) == (1, words.split()), "the same words"
    assert max(map(len, piped.stdout.splitlines())) > 2 * COLUMNS
    assert len(re.findall("^rows ", piped.stdout, re.MULTILINE)) == 1
    counted = re.findall(r"^rows +([\d,]+)  (\w+)", type_in("status", "--rows").output, re.MULTILINE)
    assert (("300", "shipments") in counted, len(counted) > 10) == (True, True)


COMMANDS = "gift\x1b]0;wrap\x07\x9b31m\u202e\nnothing is open"
"""A key that would rename a terminal, color it, turn the line around and add a line of its own."""


def test_the_inbox_as_it_is_typed(type_in, service_of_today):
    def spoil(page):
        for shipment in page["collection"][:1]:
            shipment["is_international"], shipment[COMMANDS] = "perhaps", "blue"
        return page

    service_of_today.sandbox.rewrite = spoil
    spoiled = type_in("sync")
    commands = (["check"], ["check", "--strict"], ["status", "--check"], ["inbox", "value-000000"])
    assert [spoiled.exit_code, *(type_in(*command).exit_code for command in commands)] == [0, 0, 3, 3, 2]
    assert [table for table in ("ops.quarantine", "ops.schema_drift") if table not in spoiled.output] == []
    listed = type_in("inbox").output
    assert "Shipment.gift\\u001b]0;wrap\\u0007\\u009b31m\\u202e nothing is open" in listed
    assert not set("\x1b\x07\x9b\u202e") & set(listed + spoiled.output)
    [value] = re.findall(r"^(value-\w+)  Shipment \$\.collection\[\]\.is_international: ", listed, re.MULTILINE)
    [key] = re.findall(r"^(key-\w+)  Shipment\.gift.*: no type has the key", listed, re.MULTILINE)
    shown = type_in("inbox", value).output
    place = r"  Shipment \d+, \$\.collection\[0\]\.is_international in /.*/page-\d+\.json.*"
    assert re.search(rf'{place}\n    "perhaps"', shown), shown
    assert [type_in(*command).exit_code for command in (["acknowledge", value, key], ["status", "--check"])] == [0, 0]
