"""``--to`` of every command: nothing that wms-sync keeps is written over, and no file that another program wrote."""

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from pydantic import SecretStr

from tests.bench import empty_tables
from tests.changed_files import LOADED, change
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
KEPT = ("state.db", "state.db-wal", "raw/page-1.json", "parquet/orders/1.parquet", "analytics.duckdb", "new", "raw/new")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Two folders beside each other: ``data``, with tables without a row, and ``out``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMS_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "out").mkdir()
    settings = Settings.load(_env_file=None)
    change(empty_tables(settings.layout.published), LOADED)
    return settings


def type_in(command: str) -> Result:
    return CliRunner().invoke(main, command.split())


def test_every_command_that_writes_is_tried():
    writing = {name for name, command in main.commands.items() for given in command.params if given.opts == ["--to"]}
    assert writing - {"backfill"} == {command.split()[0] for command in COMMANDS}


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_replaces_only_its_own_file(tmp_path, command):
    foreign = tmp_path / "foreign.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as due) to '{foreign}'")
    for path in (tmp_path / "out" / name for name in COMMANDS[command]):
        for content in (b"", b"mine,not,yours\n1,2,3\n", b"\xff\xfe", foreign.read_bytes()):
            path.write_bytes(content)
            refused = type_in(command)
            assert (refused.exit_code, path.read_bytes()) == (2, content)
            assert "it does not look like a file of this command" in refused.output
        assert type_in(f"{command} --force").exit_code == 0
        assert path.read_bytes() != content
    assert type_in(command).exit_code == 0


def test_no_command_writes_into_the_data_folder(settings):
    before = sorted(settings.data_dir.rglob("*"))
    for command in COMMANDS:
        refused = type_in(f"{command.replace('out/', 'data/new/').replace('--to out', '--to data/new')} --force")
        assert (refused.exit_code, "belongs to wms-sync" in refused.output) == (2, True), refused.output
    assert sorted(settings.data_dir.rglob("*")) == before
    assert type_in(f"report --to {settings.layout.report}").exit_code == 0, "the report of the data folder can be named"


def refused(settings: Settings, path: Path) -> str:
    """Return why no command may write there, even with ``--force``."""
    with pytest.raises(OutputRefused) as why:
        refuse_output(settings, path, lambda _: True, force=True)
    return str(why.value)


@pytest.mark.parametrize("name", KEPT)
def test_no_way_leads_into_the_data_folder(settings, tmp_path, name):
    path = settings.data_dir / name
    (tmp_path / "folder").symlink_to(settings.data_dir)
    (tmp_path / "file").symlink_to(path)
    for way in (path, tmp_path / "folder" / name, tmp_path / "file", settings.data_dir / "work" / ".." / name):
        assert "belongs to wms-sync" in refused(settings, way)


def test_what_is_kept_elsewhere_is_refused_too(settings, tmp_path):
    """A state store of another folder, and a link to a folder of pages."""
    elsewhere, pages = tmp_path / "elsewhere.db", tmp_path / "pages"
    pages.mkdir()
    settings.layout.raw.parent.mkdir(parents=True)
    settings.layout.raw.symlink_to(pages)
    moved = settings.model_copy(update={"state_url": SecretStr(f"sqlite:///{elsewhere}")})
    for kept in (elsewhere, Path(f"{elsewhere}-wal"), pages / "page-1.json"):
        assert "belongs to wms-sync" in refused(moved, kept)
    assert "it exists and is not a file" in refused(settings, tmp_path / "out")
