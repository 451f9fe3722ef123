"""What an earlier release left behind is read, continued and backed up by this one; ``freezing.py`` made it."""

import tarfile
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import inspect

from tests.releases.freezing import FORGOTTEN, service, settings_of
from tests.running import run_sync
from wms_sync.cli.operations import COMMAND_LINE
from wms_sync.runs import Operation
from wms_sync.state.engine import open_engine
from wms_sync.state.store import StateStore
from wms_sync.upkeep.backup import backup
from wms_sync.upkeep.verify import verify

HERE = Path(__file__).parent
RELEASES = sorted(path.parent.name for path in HERE.glob("*/state.sql"))
TABLES = """
    select schema_name, table_name, string_agg('"' || column_name || '"', ', ')
    from duckdb_columns()
    where database_name = 'old' and schema_name not in ('marts', 'ops')
    group by all
"""


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> Path:
    return HERE / str(request.param)


@pytest.fixture
def folder(release: Path, tmp_path: Path) -> Path:
    """The data folder of the release."""
    with tarfile.open(release / "data.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "data"


def schema_of(url: str) -> dict[str, object]:
    """What the database says of each table after this release opened it, whatever the order of its columns."""
    engine = open_engine(url)
    seen = inspect(engine)
    schema: dict[str, object] = {
        table: (
            {column["name"]: (str(column["type"]), column["nullable"]) for column in seen.get_columns(table)},
            seen.get_pk_constraint(table)["constrained_columns"],
            [(key["constrained_columns"], key["referred_table"]) for key in seen.get_foreign_keys(table)],
            sorted((index["name"] or "", *index["column_names"]) for index in seen.get_indexes(table)),
        )
        for table in seen.get_table_names()
    }
    engine.dispose()
    return schema


def test_an_upgraded_state_store_has_the_schema_of_a_new_one(folder, tmp_path):
    assert schema_of(f"sqlite:///{folder}/state.db") == schema_of(f"sqlite:///{tmp_path}/new.db")


def test_an_upgraded_state_store_in_postgresql_has_the_schema_of_a_new_one(release, lakes):
    old = lakes.new()
    lakes.execute(old, (release / "state.sql").read_bytes())
    assert schema_of(old) == schema_of(lakes.new())


@pytest.mark.proof
def test_the_data_folder_is_continued(folder, tmp_path):
    """Old tables equal a rebuild of the old pages; a sync and a backup keep them sound and the order forgotten."""
    served = service()
    settings = settings_of(folder, served)
    before = tmp_path / "before.duckdb"
    before.write_bytes(settings.layout.published.read_bytes())
    Operation(settings, source=COMMAND_LINE).rebuild()
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        connection.execute(f"attach '{before}' as old (read_only)")
        for schema, table, columns in connection.execute(TABLES).fetchall():
            old, new = (f"select {columns} from {name}{schema}.{table}" for name in ("old.", ""))
            differing = f"({old} except all {new}) union all ({new} except all {old})"
            assert connection.execute(differing).fetchall() == [], table
    served.sandbox.advance(seconds=3600, changed=20, new=10)
    run_sync(settings, served)
    assert not verify(settings).damaged
    backup(settings, tmp_path / "backups")
    assert not verify(settings, tmp_path / "backups").damaged
    with StateStore.opened(settings.database_url) as store:
        assert store.forgotten() == {FORGOTTEN}
        assert {entry.state for entry in store.ledger.all()} == {"created"}
