"""A mart in a file: types kept, times local and without a zone, no text taken for a formula."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from tests.conftest import no_file_larger_than
from wms_sync.cli.views import export_lines
from wms_sync.layout import Layout
from wms_sync.reports import export as exporting
from wms_sync.reports.export import MOST_CHARACTERS, ExportError, export
from wms_sync.settings import Settings

ODD = """
create schema marts;
create schema pii;
create table pii.persons as select 'A. Person' as name;
create table marts.odd as
select
    n as id,
    9007199254740993 as large,
    12.3400::decimal(18, 4) as cost,
    'infinity'::double as endless,
    true as is_open,
    '=1+1' as formula,
    repeat('x', 40000) as long,
    date '1899-12-31' as early,
    date '2026-03-01' as day,
    timestamptz '2026-03-08 09:30:00+00' as changed_at,
    ['a', 'b'] as tags,
    null::varchar as nothing
from range(3) as rows (n);
comment on table marts.odd is 'one row per oddity';
comment on column marts.odd.cost is 'In dollars';
"""
XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    layout = Layout(tmp_path / "data")
    layout.root.mkdir()
    with duckdb.connect(layout.published) as connection:
        connection.execute(ODD)
    return Settings.load(
        _env_file=None, data_dir=layout.root, warehouse_timezones="West=America/Denver,*=America/Los_Angeles"
    )


def sheet(path: Path, number: int) -> list[dict[str, tuple[str, str]]]:
    """By column letter of each row: the type of the cell as it is stored, and its value."""
    with zipfile.ZipFile(path) as book:
        tree = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
    assert not list(tree.iter(f"{XML}f")), "a formula"
    return [
        {
            re.sub(r"\d", "", cell.attrib["r"]): (
                cell.attrib.get("t", "n"),
                "".join(part.text or "" for part in cell.iter() if part.tag in (f"{XML}t", f"{XML}v")),
            )
            for cell in row.iter(f"{XML}c")
        }
        for row in tree.iter(f"{XML}row")
    ]


def test_a_workbook_keeps_types_and_has_no_formula(settings, tmp_path):
    done = export(settings, "odd", tmp_path / "odd.xlsx")
    assert (done.relation, done.rows, done.timezone, done.cut) == ("marts.odd", 3, "America/Los_Angeles", 3)
    head, *rows = sheet(done.path, 1)
    assert [value for _, value in head.values()][:3] == ["id", "large", "cost"]
    assert [row["A"] for row in rows] == [("n", "0"), ("n", "1"), ("n", "2")]
    row = rows[0]
    day, changed_at = (float(row.pop(at)[1]) for at in "IJ")
    assert row == {
        "A": ("n", "0"),
        "B": ("inlineStr", "9007199254740993"),
        "C": ("n", "12.3400"),
        "D": ("inlineStr", "inf"),
        "E": ("b", "1"),
        "F": ("inlineStr", "=1+1"),
        "G": ("inlineStr", "x" * MOST_CHARACTERS),
        "H": ("inlineStr", "1899-12-31"),
        "K": ("inlineStr", '["a","b"]'),
    }
    epoch = datetime(1899, 12, 30, tzinfo=UTC)
    assert day == (datetime(2026, 3, 1, tzinfo=UTC) - epoch).days
    assert changed_at == pytest.approx((datetime(2026, 3, 8, 1, 30, tzinfo=UTC) - epoch) / timedelta(days=1))
    explained = {row["A"][1]: row["B"][1] for row in sheet(done.path, 2)}
    assert explained["marts.odd"] == "one row per oddity Times are local times of America/Los_Angeles."
    assert explained["cost"] == "In dollars"
    assert oct(done.path.stat().st_mode & 0o777) == "0o600"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "odd.xlsx"}
    assert list(export_lines(done))[1:] == ["          3 values were longer than a cell can hold and were cut"]


def test_a_csv_has_local_times_and_no_formula(settings, tmp_path):
    done = export(settings, "marts.odd", tmp_path / "odd.csv", timezone="Europe/Berlin")
    with duckdb.connect() as connection:
        connection.execute("create table read as from read_csv(?, all_varchar = true)", [str(done.path)])
        row = connection.execute("select large, cost, formula, changed_at, tags, nothing from read limit 1").fetchone()
    assert row == ("9007199254740993", "12.3400", "'=1+1", "2026-03-08 10:30:00", '["a","b"]', None)
    assert "times are local times of Europe/Berlin" in next(export_lines(done))


def test_parquet_keeps_every_type(settings, tmp_path):
    done = export(settings, "odd", tmp_path / "odd.parquet")
    with duckdb.connect() as connection, duckdb.connect(settings.layout.published, read_only=True) as held:
        types = connection.execute("select column_type from (describe from read_parquet(?))", [str(done.path)])
        assert types.fetchall() == held.execute("select column_type from (describe marts.odd)").fetchall()


def test_a_file_with_personal_data_says_so(settings, tmp_path):
    lines = list(export_lines(export(settings, "persons", tmp_path / "persons.csv")))
    assert "wms-sync forget" in lines[1]


@pytest.mark.parametrize(
    ("name", "file", "zone", "message"),
    [
        ("odd", "odd.txt", None, "end the name with one of .xlsx, .csv, .parquet"),
        ("nothing", "odd.csv", None, "no mart or table nothing. The marts are odd"),
        ("odd", "odd.csv", "Mars", "Mars is not a time zone"),
        ("odd", "missing/odd.csv", None, "its folder does not exist"),
    ],
)
def test_a_refused_export_leaves_an_earlier_file(settings, tmp_path, name, file, zone, message):
    path = tmp_path / file
    if path.parent.exists():
        path.write_text("earlier")
    with pytest.raises(ExportError, match=message):
        export(settings, name, path, timezone=zone)
    assert not path.parent.exists() or path.read_text() == "earlier"


def test_a_workbook_without_room_leaves_nothing(settings, tmp_path):
    with no_file_larger_than(2000), pytest.raises(ExportError, match=r"cannot be written: .*File too large.*TMPDIR"):
        export(settings, "odd", tmp_path / "odd.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_more_rows_than_a_sheet_holds_are_refused(settings, tmp_path):
    with duckdb.connect(settings.layout.published) as connection:
        connection.execute(f"create table marts.long as from range({exporting.MOST_ROWS + 1})")
    with pytest.raises(ExportError, match="a sheet has room for 1,048,575"):
        export(settings, "long", tmp_path / "long.xlsx")
