"""What a release before 1.0.0 wrote is refused in one sentence by every command, and stays as it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests.bench import Bench, empty_tables
from wms_sync.cli.main import main
from wms_sync.state.errors import StateError, StateOlder
from wms_sync.state.snapshot import decoded, encoded
from wms_sync.upkeep.recovery import recover_state

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
    "inbox",
    "check",
    "check --full",
    "explain shipment 1",
    "explain order 1",
    "explain tracking 1",
    "report --to report.html",
    "export shipments --to shipments.csv",
    "export --all all",
    "forget 1 --yes",
    "forget --list",
    "backup backups",
    "restore --creates-are-known",
    "verify",
    "doctor",
]


def files(folder: Path) -> dict[str, object]:
    """Return what is in every file but the state store and those of a lease."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "work" not in path.parts and "state.db" not in path.name
    }


def rows(state: Path) -> list[str]:
    with closing(sqlite3.connect(state)) as store:
        return [*store.iterdump()]


@pytest.fixture
def read(bench: Bench) -> Bench:
    """An installation with raw pages and tables, which nobody has open."""
    bench.read()
    bench.store.close()
    empty_tables(bench.layout.published)
    return bench


def test_every_command_refuses_an_older_data_folder(read, tmp_path, monkeypatch):
    with closing(sqlite3.connect(read.layout.state)) as store, store:
        store.execute("update schema_migrations set name = '0001_windows_and_pages'")
    (tmp_path / "products.csv").write_text("sku,name\nA-1,One\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMS_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WMS_API_TOKEN", "token")
    before = files(read.layout.root), rows(read.layout.state)
    for command in COMMANDS:
        ended = CliRunner().invoke(main, command.split())
        assert (ended.exit_code, ended.output.count(str(StateOlder()))) == (1, 1), (command, ended)
        assert (files(read.layout.root), rows(read.layout.state)) == before, command


def test_a_snapshot_of_an_older_release_is_refused(read):
    """It is met where the state store is lost."""
    key = read.layout.root / read.layout.snapshots()[-1]
    key.write_bytes(
        encoded(replace(decoded(key.read_bytes()), migrations=("0001_windows_and_pages", "0002_push_ledger")))
    )
    for path in read.layout.root.glob("state.db*"):
        path.unlink()
    before = files(read.layout.root)
    with pytest.raises(StateError, match=r"an older release .* made\. Nothing was changed"):
        recover_state(read.settings)
    assert files(read.layout.root) == before
