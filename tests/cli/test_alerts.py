"""Alerts of commands, without any Dagster."""

import json

import pytest
from click.testing import CliRunner

from wms_sync.cli.main import main


def test_the_command_line_alone_tells_of_its_failure(receiver, type_in, monkeypatch):
    monkeypatch.setenv("WMS_ALERT_WEBHOOK_URL", receiver.url)
    failed = type_in("sync", token="wrong-token")
    [alert] = receiver.taken
    assert (failed.exit_code, "refused the token" in alert["text"]) == (2, True)
    assert "WMS_ALERT_WEBHOOK_URL accepted the test" in type_in("doctor", "--alert").output
    assert "WMS_ALERT_WEBHOOK_URL; `wms-sync doctor --alert` sends a test" in type_in("doctor").output
    assert receiver.heard == ["new:run-sync", "new:test"]
    assert "wrong-token" not in json.dumps(receiver.taken) + failed.output


@pytest.mark.parametrize(
    ("environment", "status", "severities", "says"),
    [
        ({}, 200, ["note"], "accepted the test, and says: error: no_service at /(withheld)/(withheld)"),
        ({}, 403, ["error"], "answered with 403. It says: error: no_service at /(withheld)/(withheld)"),
        (
            {
                "WMS_ALERT_WEBHOOK_URL": "http://127.0.0.1:1/a-secret",
                "WMS_HEARTBEAT_URL": "http://127.0.0.1:1/a-secret",
            },
            200,
            ["error", "error"],
            "The address of WMS_HEARTBEAT_URL could not be reached",
        ),
        ({"WMS_ALERT_WEBHOOK_URL": ""}, 200, ["error"], "no alert channel is set"),
    ],
)
def test_the_doctor_sends_a_test_and_shows_what_receivers_say(
    receiver, tmp_path, monkeypatch, environment, status, severities, says
):
    monkeypatch.chdir(tmp_path)
    receiver.status, receiver.says = status, b'{"error": "no_service at /hooks/a%2Dsecret"}'
    tested = CliRunner().invoke(
        main, ["doctor", "--alert", "--json"], env=({"WMS_ALERT_WEBHOOK_URL": receiver.url} | environment)
    )
    found = [finding for finding in json.loads(tested.stdout) if finding["name"] == "alerts"]
    assert ([finding["severity"] for finding in found], says in found[-1]["text"]) == (severities, True), found
    assert "a-secret" not in tested.output
