"""Opening a file completes what it lacks, unless the last load had the same definitions; ops changes by rows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.beginnings import empty_tables
from wms_sync.layout import Layout
from wms_sync.shipments.load.omitted import OmittedName
from wms_sync.targets.database import Relations, Session, defined, definitions, relations_in, replace_rows
from wms_sync.targets.errors import DatabaseNewer, TablesNewer
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
    with pytest.raises(TablesNewer, match=r"written by a newer release of wms-sync.* Update wms-sync") as error:
        relations_of(path)
    assert says in str(error.value)


def test_a_file_of_a_newer_duckdb(tmp_path):
    layout = Layout(tmp_path)
    with empty_tables(layout.published).open("r+b") as file:
        file.seek(12)  # as DuckDB documents it: a checksum, DUCK, the version
        file.write((999).to_bytes(8, "little"))
    said = f"{layout.published} was written by a newer release of wms-sync.* Update wms-sync"
    with pytest.raises(DatabaseNewer, match=said), open_for_writing(layout.published, memory_limit="300MB"):
        pass
    with pytest.raises(DatabaseNewer, match=said), open_for_reading(layout, layout.published):
        pass


def test_rows_of_ops_are_written_if_different(tmp_path):
    def kept(*rows: tuple[str, str | None]) -> list[tuple[object, ...]]:
        present = [OmittedName("w", name, "refused", "", said) for name, said in rows]
        with Session(connection).transaction():
            replace_rows(connection, "omitted", present)
        return connection.execute("select rowid, name, said from ops.omitted order by rowid").fetchall()

    with open_for_writing(empty_tables(tmp_path / "working.duckdb"), memory_limit="300MB") as connection:
        first = kept(("a", "no"), ("b", "no\x00 '"), ("c", "no"))
        assert [row[1:] for row in first] == [("a", "no"), ("b", "no\x00 '"), ("c", "no")]
        assert kept(("c", "no"), ("b", "no\x00 '"), ("a", "no")) == first
        second = kept(("a", "no"), ("b", "changed"), ("d", "new"))
        assert sorted(row[1:] for row in second) == [("a", "no"), ("b", "changed"), ("d", "new")]
        assert second[0] == first[0]
        assert kept() == []
