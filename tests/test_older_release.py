"""What a release before 1.0.0 wrote is refused in one sentence by every command, and stays as it was."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests import processes
from tests.conftest import Bench, opened_store
from tests.test_sync import first_synced
from wms_sync.reports.findings import findings_of
from wms_sync.state.errors import CopyOlder, StateOlder
from wms_sync.state.portable import decoded, encoded, read_snapshot
from wms_sync.upkeep.recovery import begin

COMMANDS = [
    "sync",
    "backfill --from 2026-03-20 --to 2026-03-22",
    "rebuild",
    "maintain",
    "push products products.csv",
    "push products products.csv --dry-run",
    "status",
    "status --json",
    "status --check",
    "acknowledge none",
    "inbox list",
    "inbox replay",
    "check",
    "check --full",
    "explain shipment 1",
    "explain order 1",
    "explain tracking 1",
    "report --to report.html",
    "export shipments --to shipments.csv",
    "forget 1 --yes",
    "forget --list",
    "backup backups",
    "restore --creates-are-known",
    "verify",
    "doctor",
]


def make_older(state: Path) -> None:
    """Let an older release have written the state store."""
    with closing(sqlite3.connect(state)) as store, store:
        store.execute("update schema_migrations set name = '0001_windows_and_pages'")


def files(folder: Path) -> dict[str, object]:
    """Every file but the state store and what is there for a turn alone."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and "work" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if not path.name.startswith("state.db")}


def rows(state: Path) -> list[str]:
    with closing(sqlite3.connect(state)) as store:
        return [*store.iterdump()]


@pytest.fixture
def older(bench: Bench, sandbox) -> Bench:
    first_synced(bench, sandbox)
    bench.store.close()
    make_older(bench.layout.state)
    return bench


@pytest.mark.proof
def test_every_command_refuses_an_older_data_folder(older, tmp_path):
    (tmp_path / "products.csv").write_text("sku,name\nA-1,One\n")
    before = files(older.layout.root), rows(older.layout.state)
    environment = {
        "WMS_BASE_URL": "http://127.0.0.1:9",
        "WMS_API_TOKEN": "token",
        "WMS_DATA_DIR": str(older.settings.data_dir),
        "WMS_START_DATE": "2026-03-01",
    }
    for command in COMMANDS:
        ended = processes.run(command.split(), environment, tmp_path)
        assert (ended.returncode, (ended.stdout + ended.stderr).count(str(StateOlder()))) == (1, 1), (command, ended)
        assert (files(older.layout.root), rows(older.layout.state)) == before, command


def test_raw_pages_of_an_older_release_are_refused_where_the_state_store_is_lost(bench, sandbox):
    first_synced(bench, sandbox)
    bench.store.close()
    for path in bench.layout.root.glob("state.db*"):
        path.unlink()
    for path in bench.layout.raw.glob("*/manifest.json"):
        manifest = json.loads(path.read_bytes())
        del manifest["format"]
        path.write_text(json.dumps(manifest))
    opened_store(bench.settings).close()
    before = files(bench.layout.root)
    with pytest.raises(StateOlder), begin(bench.settings, "sync"):
        pass
    with pytest.raises(StateOlder):
        findings_of(bench.settings)
    assert files(bench.layout.root) == before


def test_an_older_copy_of_the_state_store_is_refused(bench, sandbox):
    copy = read_snapshot(bench.settings.database_url)
    older = replace(copy, migrations=("0001_windows_and_pages", "0002_push_ledger"))
    with pytest.raises(CopyOlder, match=r"made by an older release .*Nothing was changed"):
        decoded(encoded(older))
