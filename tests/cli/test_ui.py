"""What `wms-sync ui` starts Dagster with; that it serves and ends is in `test_dagster_ui`."""

import json
import subprocess
import sys
from pathlib import Path

from wms_sync.cli import ui
from wms_sync.cli.operations import DAGSTER_HOME

READ = """
import json
from wms_sync.settings import Settings
read = Settings.load()
print(json.dumps([read.database_url, read.alert_webhook_url, read.page_size, read.push_enabled]))
"""


def test_a_sandbox_takes_nothing_of_a_production(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("WMS_STATE_URL=sqlite:///production.db\nWMS_ALERT_WEBHOOK_URL=https://hooks.example.com\n")
    monkeypatch.setenv("WMS_PAGE_SIZE", "7")
    monkeypatch.setenv("WMS_PUSH_ENABLED", "true")
    monkeypatch.setenv(DAGSTER_HOME, "production")
    with ui.sandbox() as (environment, folder):
        read = subprocess.run([sys.executable, "-c", READ], env=environment, cwd=folder, stdout=subprocess.PIPE)
    own = tmp_path / ui.SANDBOX_FOLDER / "data"
    assert json.loads(read.stdout) == [f"sqlite:///{own / 'state.db'}", None, 1000, True]
    assert environment[DAGSTER_HOME] == f"{own}-dagster"
