"""Alerts of commands, without any Dagster."""

import json

import pytest
from click.testing import CliRunner

from wms_sync.cli.main import main


def test_the_command_line_alone_tells_of_its_failure(receiver, type_in, monkeypatch):
    monkeypatch.setenv("WMS_ALERT_WEBHOOK_URL", receiver.url)
    failed = type_in("sync", token="wrong-token")
    assert failed.exit_code == 2
    [alert] = receiver.taken
    assert (alert["status"], alert["finding"]) == ("new", "run-sync")
    assert "refused the token" in alert["text"]
    tested = type_in("alert", "test")
    assert (tested.exit_code, tested.output) == (0, "ok    WMS_ALERT_WEBHOOK_URL accepted the test\n")
    assert receiver.heard == ["new:run-sync", "new:test"]
    assert "wrong-token" not in json.dumps(receiver.taken) + failed.output


@pytest.mark.parametrize(("status", "code"), [(200, 0), (403, 1)])
def test_what_a_receiver_says_is_shown(receiver, tmp_path, monkeypatch, status, code):
    monkeypatch.chdir(tmp_path)
    receiver.status, receiver.says = status, b'{"error": "no_service at /hooks/a%2Dsecret"}'
    tested = CliRunner().invoke(main, ["alert", "test"], env={"WMS_ALERT_WEBHOOK_URL": receiver.url})
    assert (tested.exit_code, "error: no_service at /(withheld)/(withheld)" in tested.output) == (code, True), (
        tested.output
    )


SILENT = {"WMS_ALERT_WEBHOOK_URL": "http://127.0.0.1:1/a-secret", "WMS_HEARTBEAT_URL": "http://127.0.0.1:1/a-secret"}


@pytest.mark.parametrize(
    ("environment", "exit_code", "says"), [({}, 2, "No alert channel is set"), (SILENT, 1, "fail  WMS_HEARTBEAT_URL")]
)
def test_testing_a_silent_channel_is_an_error(tmp_path, monkeypatch, environment, exit_code, says):
    monkeypatch.chdir(tmp_path)
    tested = CliRunner().invoke(main, ["alert", "test"], env=environment)
    assert (tested.exit_code, says in tested.output, "a-secret" in tested.output) == (exit_code, True, False)
    assert not (tmp_path / "data").exists()
