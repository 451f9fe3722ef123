"""A file of which a third is free space is copied without it: every table, view, comment and row is in the copy."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb

from tests.changed_files import bloat
from tests.conftest import FEWER
from tests.test_sync import first_synced
from wms_sandbox.app import Sandbox
from wms_sync.catalogue import quote
from wms_sync.targets.database import relations_in
from wms_sync.targets.file import FileTarget, copy_tables, is_bloated
from wms_sync.targets.opening import open_for_writing


def held(database: Path) -> dict[tuple[str, str], Any]:
    """Of each table and view: what it is defined as, and a digest of its rows."""
    with duckdb.connect(database, read_only=True) as connection:
        return {
            place: (
                relation,
                connection.execute(
                    f"select count(*), bit_xor(hash(held::varchar)) from {quote(place[0])}.{quote(place[1])} as held"
                ).fetchall(),
            )
            for place, relation in relations_in(connection).items()
        }


def header(database: Path) -> bytes:
    """Where DuckDB writes the version of its storage."""
    return database.read_bytes()[8:20]


def test_a_load_compacts_a_bloated_file(bench, sandbox, tmp_path, caplog):
    """The copy keeps everything."""
    sandbox.sandbox = Sandbox(FEWER)
    first_synced(bench, sandbox)
    published = bench.layout.published
    bloat(published)
    shutil.copyfile(published, before := tmp_path / "before.duckdb")
    with FileTarget(bench.settings).load(bench.store.turn) as load:
        with load.session():
            pass
        size = load.publish()
    assert "copied the tables without free space" in caplog.text
    assert size == published.stat().st_size < 0.6 * before.stat().st_size
    assert header(published) == header(before)
    assert held(published) == held(before)
    with duckdb.connect(published, read_only=True) as connection:
        assert not is_bloated(connection)
    assert [path.name for path in bench.store.turn.folder.iterdir()] == ["spill"]


def test_deleted_rows_are_free_space_too(tmp_path):
    with open_for_writing(tmp_path / "tables.duckdb", memory_limit="400MB") as connection:
        connection.execute("set force_compression = 'uncompressed'")
        connection.execute("insert into brands (id, name) select range, repeat('x', 1000) from range(60_000)")
        connection.execute("checkpoint")
        assert not is_bloated(connection)
        connection.execute("delete from brands where id % 5 = 0")
        assert not is_bloated(connection)
        connection.execute("delete from brands where id % 5 = 1")
        assert is_bloated(connection)


def test_deleted_rows_may_exceed_memory(tmp_path):
    """One table after the other: of each it keeps 6 MB."""
    tables = [f"many_{number}" for number in range(6)]
    with duckdb.connect(tmp_path / "working.duckdb") as connection:
        for name in tables:
            connection.execute(f"create table {name} as select range as number from range(700_000)")
            connection.execute("checkpoint")
            connection.execute(f"delete from {name} where rowid % 1000 = 7")
    copy_tables(tmp_path / "working.duckdb", tmp_path / "fresh.duckdb", memory_limit="24MB")
    with duckdb.connect(tmp_path / "fresh.duckdb", read_only=True) as connection:
        for name in tables:
            assert connection.execute(f"select count(*), max(number) from {name}").fetchall() == [(699_300, 699_999)]
