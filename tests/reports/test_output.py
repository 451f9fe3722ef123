"""``--to`` of every command: nothing that wms-sync keeps is written over, and no file that another program wrote."""

from pathlib import Path

import duckdb
import pytest
from pydantic import SecretStr

from tests.bench import empty_tables
from tests.changed_files import LOADED, change
from tests.reports.test_findings import typed
from wms_sync.cli.main import main
from wms_sync.reports.output import OutputRefused, refuse_output
from wms_sync.settings import Settings

COMMANDS: dict[str, tuple[str, ...]] = {
    # a command, and the files that it writes
    "report --to out/out.html": ("out.html",),
    "export days --to out/out.csv": ("out.csv",),
    "export days --to out/out.parquet": ("out.parquet",),
    "dictionary --to out": ("dictionary.html", "sources.yml"),
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Two folders beside each other: ``data``, with tables without a row, and ``out``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMS_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "out").mkdir()
    settings = Settings.load(_env_file=None)
    change(empty_tables(settings.layout.published), LOADED)
    return settings


def test_every_command_that_writes_is_tried():
    writing = {name for name, command in main.commands.items() for given in command.params if given.opts == ["--to"]}
    assert writing - {"backfill"} == {command.split()[0] for command in COMMANDS}


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_replaces_only_its_own_file(tmp_path, command):
    """And names a folder that takes no files."""
    foreign = tmp_path / "foreign.parquet"
    duckdb.execute(f"copy (select 1 as due) to '{foreign}'")
    for path in (tmp_path / "out" / name for name in COMMANDS[command]):
        for content in (b"", b"mine,not,yours\n1,2,3\n", b"\xff\xfe", foreign.read_bytes()):
            path.write_bytes(content)
            refused = typed(command)
            assert (refused.exit_code, path.read_bytes()) == (2, content)
            assert "it does not look like a file of this command" in refused.output
        assert (typed(f"{command} --force").exit_code, path.read_bytes() == content) == (0, False)
    assert typed(command).exit_code == 0
    nowhere = typed(command.replace("out/", "/proc/").replace("--to out", "--to /proc/out"))
    assert (nowhere.exit_code, type(nowhere.exception)) in {(1, SystemExit), (2, SystemExit)}, nowhere.output
    assert "/proc/" in nowhere.output


def test_no_command_writes_into_the_data_folder(settings):
    before = sorted(settings.data_dir.rglob("*"))
    for command in COMMANDS:
        refused = typed(f"{command.replace('out/', 'data/new/').replace('--to out', '--to data/new')} --force")
        assert (refused.exit_code, "belongs to wms-sync" in refused.output) == (2, True), refused.output
    assert sorted(settings.data_dir.rglob("*")) == before
    assert typed(f"report --to {settings.layout.report}").exit_code == 0, "the report of the data folder can be named"


@pytest.mark.parametrize(
    "name",
    ["state.db", "state.db-wal", "raw/page-1.json", "parquet/orders/1.parquet", "analytics.duckdb", "new", "raw/new"],
)
def test_no_way_leads_into_the_data_folder(settings, tmp_path, name):
    path = settings.data_dir / name
    (tmp_path / "folder").symlink_to(settings.data_dir)
    (tmp_path / "file").symlink_to(path)
    for way in (path, tmp_path / "folder" / name, tmp_path / "file", settings.data_dir / "work" / ".." / name):
        with pytest.raises(OutputRefused, match="belongs to wms-sync"):
            refuse_output(settings, way, lambda _: True, force=True)


def test_what_is_kept_elsewhere_is_refused_too(settings, tmp_path):
    """A state store of another folder, and a link to a folder of pages."""
    elsewhere, pages = tmp_path / "elsewhere.db", tmp_path / "pages"
    pages.mkdir()
    settings.layout.raw.parent.mkdir(parents=True)
    settings.layout.raw.symlink_to(pages)
    moved = settings.model_copy(update={"state_url": SecretStr(f"sqlite:///{elsewhere}")})
    kept = dict.fromkeys((elsewhere, Path(f"{elsewhere}-wal"), pages / "page-1.json"), "belongs to wms-sync")
    for path, why in (kept | {tmp_path / "out": "it exists and is not a file"}).items():
        with pytest.raises(OutputRefused, match=why):
            refuse_output(moved, path, lambda _: True, force=True)
