"""`wms-sync record`, and `wms-sync sandbox --replay` of what it recorded, as somebody types them."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.replay import Replay
from wms_sandbox.server import SandboxServer
from wms_sync.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with the settings of a service of twenty shipments."""
    monkeypatch.chdir(tmp_path)
    with SandboxServer(Sandbox(SandboxConfig(shipments=20, days=5, families=20))) as server:
        monkeypatch.setenv("WMS_BASE_URL", server.base_url)
        monkeypatch.setenv("WMS_API_TOKEN", server.sandbox.config.token)
        yield tmp_path


def typed(*command: str, **changes: str) -> str:
    done = CliRunner().invoke(main, command, env=changes)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_a_sync_that_was_recorded_is_replayed(folder, monkeypatch):
    recorded = typed("record", "first day", "--pages", "5")
    assert [words for words in ("exchanges in first day\n", "--replay 'first day'\n") if words not in recorded] == []
    assert [path.name for path in folder.iterdir()] == ["first day"], "nothing else is left behind"
    refused = CliRunner().invoke(main, ["record", "first day"])
    assert (refused.exit_code, "is not empty" in refused.output) == (2, True)
    command = [sys.executable, "-m", "wms_sandbox", "--replay", "first day", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        monkeypatch.setenv("WMS_BASE_URL", process.stdout.readline().split()[1])
        assert "WMS_PAGE_SIZE=1000" in process.stdout.readline()
        said = typed("sync")
        process.terminate()
        assert process.stdout.read() == "", "each request has an answer"
    records = Replay(folder / "first day").outcome["counts"]["records"]
    assert f"landed    {records} shipments in 1 page" in said


@pytest.mark.parametrize(
    ("options", "changes", "error"),
    [
        ("", {}, None),
        ("--pages 1", {"WMS_API_TOKEN": "wrong"}, "Unauthorized"),
        ("--pages 2", {"WMS_PAGE_SIZE": "5"}, "EnoughPages"),
    ],
)
def test_how_it_ended_is_recorded(folder, options, changes, error):
    assert ("ended" in typed("record", "new", *options.split(), **changes)) == (error is not None)
    outcome = Replay(folder / "new").outcome
    assert (outcome["error"], bool(outcome["habits"])) == (error, not options)
