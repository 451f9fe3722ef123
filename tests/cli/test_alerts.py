"""Alerts of commands, without any Dagster."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from tests.receiver import Receiver, receiving
from wms_sync.cli.main import main
from wms_sync.state.outbox import Outbox
from wms_sync.state.schema import alerts


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


def test_the_command_line_alone_tells_of_its_failure(webhook, service, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environment = {
        "WMS_BASE_URL": service.base_url,
        "WMS_API_TOKEN": "wrong-token",
        "WMS_START_DATE": "2026-02-20",
        "WMS_ALERT_WEBHOOK_URL": webhook.url,
    }
    webhook.status = 500
    failed = CliRunner().invoke(main, ["sync"], env=environment)
    assert failed.exit_code == 2
    assert "will be sent again later" in failed.output
    webhook.status = 204
    with Outbox(f"sqlite:///{tmp_path}/data/state.db") as outbox, outbox._engine.begin() as connection:
        connection.execute(update(alerts).values(due_at=alerts.c.created_at))  # the pause is over
    assert CliRunner().invoke(main, ["status"], env=environment).exit_code == 1
    [told] = webhook.taken
    assert (told["event"], told["job"]) == ("run_failed", "sync")
    assert "refused the token" in told["text"]
    tested = CliRunner().invoke(main, ["alert", "test"], env=environment)
    assert (tested.exit_code, tested.output) == (0, "ok    WMS_ALERT_WEBHOOK_URL accepted the test\n")
    assert webhook.events == ["run_failed", "test"]
    assert "wrong-token" not in json.dumps(webhook.taken) + failed.output


def test_testing_a_silent_channel_is_an_error(webhook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = CliRunner().invoke(main, ["alert", "test"])
    assert (nothing.exit_code, "No alert channel is set" in nothing.output) == (2, True)
    webhook.status = 302
    environment = {"WMS_ALERT_WEBHOOK_URL": webhook.url, "WMS_HEARTBEAT_URL": "http://127.0.0.1:1/a-secret"}
    silent = CliRunner().invoke(main, ["alert", "test"], env=environment)
    assert silent.exit_code == 1
    assert silent.output.count("fail") == 2
    assert "a-secret" not in silent.output
    assert not (tmp_path / "data").exists()
