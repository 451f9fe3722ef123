"""A file of which a third is free space is copied without it: every table, view, comment and row is in the copy."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb

from tests.bloat import bloat
from tests.test_sync import first_synced
from wms_sync.analytics.compact import compact, is_bloated
from wms_sync.analytics.database import BLOCK, open_for_writing, relations_in
from wms_sync.catalogue import quote
from wms_sync.load.refresh import refresh

BY_EACH_LOAD = {("ops", "checks"), ("ops", "latest_load"), ("ops", "windows"), ("marts", "freshness")}
"""They say when."""


def held(database: Path) -> dict[tuple[str, str], Any]:
    """Of each table and view: what it is defined as, and a digest of its rows."""
    with duckdb.connect(database, read_only=True) as connection:
        return {
            place: (
                relation,
                connection.execute(
                    f"select count(*), bit_xor(hash(one::varchar)) from {quote(place[0])}.{quote(place[1])} as one"
                ).fetchall(),
            )
            for place, relation in relations_in(connection).items()
        }


def header(database: Path) -> bytes:
    """Where DuckDB writes the version of its storage."""
    return database.read_bytes()[8:20]


def test_a_load_compacts_a_bloated_file_which_keeps_everything(bench, sandbox, tmp_path, caplog):
    first_synced(bench, sandbox)
    working, published = bench.layout.working_database, bench.layout.published
    bloat(working)
    shutil.copyfile(working, before := tmp_path / "before.duckdb")
    refreshed = refresh(bench.run)
    assert refreshed.published
    assert "a third of the file was free space" in caplog.text
    assert refreshed.bytes == published.stat().st_size < 0.6 * before.stat().st_size
    assert working.read_bytes() == published.read_bytes()
    assert header(published) == header(before)
    now, then = held(published), held(before)
    assert [*now] == [*then]
    assert [place for place in now if now[place] != then[place] and place not in BY_EACH_LOAD] == []
    assert {place: one for place, (one, _) in now.items()} == {place: one for place, (one, _) in then.items()}
    with duckdb.connect(working) as connection:
        assert not is_bloated(connection, sum(refreshed.rows.values()) + sum(refreshed.ops_rows.values()))
    assert sorted(path.name for path in bench.run.turn.folder.iterdir()) == ["spill"]


def test_a_file_of_an_earlier_release_has_smaller_blocks_once_it_is_compacted(tmp_path):
    earlier, fresh = tmp_path / "earlier.duckdb", tmp_path / "fresh.duckdb"
    with duckdb.connect(earlier) as connection:
        connection.execute("create schema ops; create table ops.kept as from range(10)")
    with open_for_writing(earlier, memory_limit="300MB") as connection:
        assert block_of(connection) == 262_144
    assert compact(earlier, fresh, memory_limit="300MB")
    with open_for_writing(fresh, memory_limit="300MB") as connection:
        assert block_of(connection) == int(BLOCK)


def block_of(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.execute("select block_size from pragma_database_size()").fetchall()[0][0])


def test_deleted_rows_are_free_space_too(tmp_path):
    with duckdb.connect(tmp_path / "working.duckdb") as connection:
        connection.execute("create table many as select random() as number from range(6_000_000)")
        connection.execute("checkpoint")
        assert not is_bloated(connection, 6_000_000)
        connection.execute("delete from many where rowid % 5 = 0")
        assert not is_bloated(connection, 4_800_000)
        connection.execute("delete from many where rowid % 5 = 1")
        assert is_bloated(connection, 3_600_000)


def test_a_file_that_cannot_be_compacted_stays_as_it_is(tmp_path, caplog):
    with duckdb.connect(tmp_path / "working.duckdb") as connection:
        connection.execute("create table something as select 1 as number")
    there = (tmp_path / "working.duckdb").read_bytes()
    assert not compact(tmp_path / "working.duckdb", tmp_path / "fresh.duckdb", memory_limit="1kB")
    assert "could not be copied into a file without free space" in caplog.text
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["working.duckdb"]
    assert (tmp_path / "working.duckdb").read_bytes() == there


def test_a_file_is_compacted_that_keeps_more_in_memory_of_deleted_rows_than_there_is(tmp_path):
    """One table after the other: of each it keeps 6 MB."""
    tables = [f"many_{number}" for number in range(6)]
    with duckdb.connect(tmp_path / "working.duckdb") as connection:
        for name in tables:
            connection.execute(f"create table {name} as select range as number from range(700_000)")
            connection.execute("checkpoint")
            connection.execute(f"delete from {name} where rowid % 1000 = 7")
    assert compact(tmp_path / "working.duckdb", tmp_path / "fresh.duckdb", memory_limit="24MB")
    with duckdb.connect(tmp_path / "fresh.duckdb", read_only=True) as connection:
        for name in tables:
            assert connection.execute(f"select count(*), max(number) from {name}").fetchall() == [(699_300, 699_999)]
