"""The file of tables: opening it completes what it lacks, ops changes by rows, and a load leaves free space behind.

A file is not completed if the last load had the same definitions. One of which a third is free space is copied without
it: every table, view, comment and row is in the copy.
"""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from tests.bench import FEWER, empty_tables
from tests.changed_files import bloat
from wms_sandbox.app import Sandbox
from wms_sync.catalogue import quote
from wms_sync.layout import Layout
from wms_sync.shipments.load.omitted import OmittedName
from wms_sync.targets.database import (
    Relations,
    Session,
    defined,
    definitions,
    has_other_history,
    relations_in,
    replace_rows,
)
from wms_sync.targets.errors import DatabaseNewer, TablesNewer
from wms_sync.targets.file import FileTarget, copy_tables, is_bloated
from wms_sync.targets.opening import open_for_reading, open_for_writing

LOADED = {"loaded_at": "2026-03-31 12:00:00+00", "run_id": "run", "version": "1", "default_timezone": "UTC"}
CHANGES = (
    "drop table history.orders",
    "drop view ops.code_values",
    "drop table main.brands",
    "alter table main.orders drop column order_ref",
    "comment on column main.orders.id is 'something else'",
)


def relations_of(path: Path) -> Relations:
    with open_for_writing(path, memory_limit="300MB") as connection:
        return relations_in(connection)


@pytest.mark.parametrize("had", [definitions(), "of another release", None])
def test_a_file_of_other_definitions_is_completed(tmp_path, had):
    path = tmp_path / "working.duckdb"
    with open_for_writing(empty_tables(path), memory_limit="300MB") as connection:
        with Session(connection).transaction():
            replace_rows(connection, "latest_load", [SimpleNamespace(**LOADED, definitions=had)])
        for statement in CHANGES:
            connection.execute(statement)
    there = relations_of(path)
    if had == definitions():
        assert ("main", "brands") not in there
    else:
        assert {place: set(relation.columns) for place, relation in there.items()} == {
            place: set(relation.columns) for place, relation in defined().items()
        }
        assert there["main", "orders"].columns["id"][1] == "The order. Source: Order.id"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("add column from_tomorrow varchar", "orders has columns that this release does not know (from_tomorrow)"),
        ("alter column order_ref type blob", "order_ref is BLOB, but VARCHAR in this release"),
    ],
)
def test_tables_of_a_newer_release_are_named(tmp_path, change, says):
    """An earlier release has only what this one knows: a rebuild would throw away what the newer one has made."""
    path = tmp_path / "working.duckdb"
    with open_for_writing(empty_tables(path), memory_limit="300MB") as connection:
        connection.execute(f"alter table main.orders {change}")
        connection.execute(
            "alter table history.orders add column from_tomorrow varchar;"
            "update ops.latest_load set definitions = 'of that release'"
        )
        assert not has_other_history(connection)
    with pytest.raises(TablesNewer, match=r"written by a newer release of wms-sync.* Update wms-sync") as error:
        relations_of(path)
    assert says in str(error.value)


def test_a_file_of_a_newer_duckdb(tmp_path):
    layout = Layout(tmp_path)
    with empty_tables(layout.published).open("r+b") as file:
        file.seek(12)  # as DuckDB documents it: a checksum, DUCK, the version
        file.write((1_000_000).to_bytes(8, "little"))
    said = f"{layout.published} was written by a newer release of wms-sync.* Update wms-sync"
    for opened in (
        open_for_writing(layout.published, memory_limit="300MB"),
        open_for_reading(layout, layout.published),
    ):
        with pytest.raises(DatabaseNewer, match=said), opened:
            pass


def test_rows_of_ops_are_written_if_different(tmp_path):
    def kept(*rows: tuple[str, str | None]) -> list[tuple[object, ...]]:
        with Session(connection).transaction():
            replace_rows(connection, "omitted", [OmittedName("w", name, "refused", "", said) for name, said in rows])
        return connection.execute("select rowid, name, said from ops.omitted order by rowid").fetchall()

    with open_for_writing(empty_tables(tmp_path / "working.duckdb"), memory_limit="300MB") as connection:
        first = kept(("a", "no"), ("b", "no\x00 '"), ("c", "no"))
        assert [row[1:] for row in first] == [("a", "no"), ("b", "no\x00 '"), ("c", "no")]
        assert kept(("c", "no"), ("b", "no\x00 '"), ("a", "no")) == first
        second = kept(("a", "no"), ("b", "changed"), ("d", "new"))
        assert sorted(row[1:] for row in second) == [("a", "no"), ("b", "changed"), ("d", "new")]
        assert (second[0], kept()) == (first[0], [])


def held(database: Path) -> dict[tuple[str, str], Any]:
    """Of each table and view: what it is defined as, and a digest of its rows (of the age of the data, none)."""
    ages = {("marts", "freshness"): "* exclude (hours_old)"}
    with duckdb.connect(database, read_only=True) as connection:
        return {
            place: (
                relation,
                connection.execute(
                    "select count(*), bit_xor(hash(held::varchar)) "
                    f"from (select {ages.get(place, '*')} from {quote(place[0])}.{quote(place[1])}) as held"
                ).fetchall(),
            )
            for place, relation in relations_in(connection).items()
        }


@pytest.mark.proof
def test_a_load_compacts_a_bloated_file(bench, sandbox, tmp_path, caplog):
    """The copy keeps everything."""
    sandbox.sandbox = Sandbox(FEWER)
    bench.first_sync(sandbox)
    published = bench.layout.published
    bloat(published)
    shutil.copyfile(published, before := tmp_path / "before.duckdb")
    with FileTarget(bench.settings).load(bench.store.lease) as load:
        with load.session():
            pass
        size = load.publish()
    assert "copied the tables without free space" in caplog.text
    assert size == published.stat().st_size < 0.6 * before.stat().st_size
    assert published.read_bytes()[8:20] == before.read_bytes()[8:20], "the version of DuckDB's storage"
    assert held(published) == held(before)
    with duckdb.connect(published, read_only=True) as connection:
        assert not is_bloated(connection)
    assert [path.name for path in bench.store.lease.folder.iterdir()] == ["spill"]


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
