"""``--to`` of every command: nothing that wms-sync keeps is written over, and no file that another program wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner, Result

from tests.conftest import FEWER, Bench
from tests.test_sync import first_synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.main import main
from wms_sync.reports.report import make_report

COMMANDS: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "report": lambda path: ("report", "--to", str(path)),
    "xlsx": lambda path: ("export", "due_per_day", "--to", str(path.with_suffix(".xlsx"))),
    "csv": lambda path: ("export", "due_per_day", "--to", str(path.with_suffix(".csv"))),
    "parquet": lambda path: ("export", "due_per_day", "--to", str(path.with_suffix(".parquet"))),
    "page of the dictionary": lambda path: ("dictionary", "--to", str(path.parent)),
    "sources of the dictionary": lambda path: ("dictionary", "--to", str(path.parent)),
}
WRITTEN = {
    "report": "out.html",
    "xlsx": "out.xlsx",
    "csv": "out.csv",
    "parquet": "out.parquet",
    "page of the dictionary": "dictionary.html",
    "sources of the dictionary": "sources.yml",
}


@pytest.fixture
def installation(bench: Bench, sandbox, monkeypatch) -> Bench:
    sandbox.sandbox = Sandbox(FEWER)
    first_synced(bench, sandbox)
    for name in ("base_url", "data_dir", "start_date"):
        monkeypatch.setenv(f"WMS_{name.upper()}", str(getattr(bench.settings, name)))
    return bench


def type_in(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def held(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".db-shm"}


def test_every_command_with_a_file_to_write_is_tried_here():
    commands = {name for name, one in main.commands.items() for option in one.params if option.opts == ["--to"]}
    files = {
        name for name in commands if not any(isinstance(p.type, click.DateTime) for p in main.commands[name].params)
    }
    assert files == {command(Path("x"))[0] for command in COMMANDS.values()}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_file_of_a_command_is_replaced_and_no_other(installation, tmp_path, what):
    folder = tmp_path / "out"
    folder.mkdir()
    command, path = COMMANDS[what](folder / "out.html"), folder / WRITTEN[what]
    for _ in range(2):
        assert type_in(*command).exit_code == 0
    ours = path.read_bytes()
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as due) to '{tmp_path}/foreign.parquet'")
    for foreign in (b"", b"mine,not,yours\n1,2,3\n", b"\xff\xfe", (tmp_path / "foreign.parquet").read_bytes()):
        path.write_bytes(foreign)
        refused = type_in(*command)
        assert (refused.exit_code, path.read_bytes()) == (2, foreign)
        assert "it does not look like a file of this command" in refused.output
        assert "--force" in refused.output
    assert type_in(*command, "--force").exit_code == 0
    assert len(path.read_bytes()) > len(ours) // 2
    path.unlink()
    path.mkdir()
    for force in ((), ("--force",)):
        assert "it exists and is not a file" in type_in(*command, *force).output


KEPT = {
    "the state store": "state.db",
    "its log": "state.db-wal",
    "a raw page": "raw/shipments/*/page-*",
    "a Parquet file": "parquet/orders/*",
    "the published file": "analytics.duckdb",
    "a new file": "new",
    "a new file below": "parquet/orders/new",
}


def test_nothing_is_written_into_the_data_folder(installation, tmp_path):
    data = installation.settings.data_dir
    (tmp_path / "link").symlink_to(data)
    before = held(data)
    for what, pattern in KEPT.items():
        path = next(data.glob(pattern), data / pattern)
        linked = tmp_path / f"{what}.html"
        linked.symlink_to(path)
        around = (tmp_path / "link" / path.relative_to(data), linked, data / "work" / ".." / path.relative_to(data))
        for to, force in [(path, ()), *((to, ("--force",)) for to in (path, *around))]:
            for command in (("report",), ("export", "due_per_day"), ("dictionary",)):
                written = to.with_name(f"{to.name}.csv") if command[0] == "export" and to != linked else to
                refused = type_in(*command, "--to", str(written), *force)
                assert refused.exit_code == 2, (what, to, refused.output)
    assert held(data) == before


def test_a_state_store_elsewhere_and_a_linked_folder_of_pages_are_not_written_over(installation, tmp_path, monkeypatch):
    elsewhere, pages = tmp_path / "elsewhere.db", tmp_path / "pages"
    monkeypatch.setenv("WMS_STATE_URL", f"sqlite:///{elsewhere}")
    assert type_in("status").exit_code == 1, "the state store there is new"
    installation.layout.raw.rename(pages)
    installation.layout.raw.symlink_to(pages)
    for kept in (elsewhere, Path(f"{elsewhere}-wal"), next(pages.rglob("page-*")), pages / "new.html"):
        before = held(tmp_path)
        refused = type_in("report", "--to", str(kept), "--force")
        assert (refused.exit_code, "belongs to wms-sync" in refused.output) == (2, True), refused.output
        assert held(tmp_path) == before


def test_the_report_of_the_data_folder_can_be_named(installation):
    path = installation.layout.report
    assert type_in("report", "--to", str(path)).exit_code == 0
    assert oct(path.stat().st_mode & 0o777) == "0o400"
    assert make_report(installation.settings)[0] == path
