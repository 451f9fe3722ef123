"""Tables and marts in files, ordered by key: Parquet keeps types, csv has local times and no text that is a formula."""

import csv
from pathlib import Path

import duckdb
import pytest

from tests.bench import empty_tables, no_file_larger_than
from tests.changed_files import change
from wms_sync.catalogue import relations
from wms_sync.reports.export import ExportError, export, export_all
from wms_sync.reports.output import OutputRefused
from wms_sync.settings import Settings

ROWS = """
insert into shipments by name
select
    300 - n as id,
    '=1+1' as unique_id,
    12.34 as carrier_shipping_cost,
    date '2026-03-01' as target_ship_date,
    timestamptz '2026-03-08 09:30:00+00' as created_at,
    ['a', 'b'] as packing_solution_providers,
    'none' as _window_id,
    1 as _page,
    now() as _extracted_at
from range(200) as rows (n)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings.load(
        _env_file=None, data_dir=tmp_path / "data", warehouse_timezones="West=America/Denver,*=America/Los_Angeles"
    )
    change(empty_tables(settings.layout.published), ROWS)
    return settings


def test_a_csv_has_local_times_and_no_formula(settings, tmp_path):
    done = export(settings, "main.shipments", tmp_path / "out.csv", timezone="Europe/Berlin")
    assert done.path.read_bytes().startswith(b"\xef\xbb\xbfid,type,unique_id,")
    rows = [*csv.DictReader(done.path.read_text("utf-8-sig").splitlines())]
    assert [int(row["id"]) for row in rows] == [*range(101, 301)]
    names = ("unique_id", "carrier_shipping_cost", "target_ship_date", "created_at", "packing_solution_providers")
    assert [rows[0][name] for name in names] == ["'=1+1", "12.3400", "2026-03-01", "2026-03-08 10:30:00", "[a, b]"]
    assert (done.what, done.rows, done.timezone, done.is_personal) == ("shipments", 200, "Europe/Berlin", False)
    assert oct(done.path.stat().st_mode & 0o777) == "0o600"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "out.csv"}
    assert export(settings, "shipments", done.path).timezone == "America/Los_Angeles"
    assert export(settings, "order_addresses", tmp_path / "persons.csv").is_personal


def test_parquet_keeps_every_type(settings, tmp_path):
    done = export(settings, "shipments", tmp_path / "out.parquet")
    with duckdb.connect(settings.layout.published, read_only=True) as connection:
        kept = connection.read_parquet(str(done.path))
        published = connection.sql("from shipments")
        assert (kept.columns, kept.types) == (published.columns, published.types)
        assert kept.fetchall() == published.order("id").fetchall()


@pytest.mark.parametrize(
    ("name", "file", "zone", "message"),
    [
        ("orders", "out.txt", None, r"end the name with \.csv or \.parquet"),
        ("nothing", "out.csv", None, "no mart or table nothing. The marts are days, freshness, "),
        ("orders", "out.csv", "Mars", "Mars is not a time zone"),
        ("orders", "missing/../out.csv", None, "its folder does not exist"),
    ],
)
def test_a_refused_export_leaves_an_earlier_file(settings, tmp_path, name, file, zone, message):
    earlier = tmp_path / Path(file).name
    earlier.write_text("earlier")
    with pytest.raises(ExportError, match=message):
        export(settings, name, tmp_path / file, timezone=zone)
    assert earlier.read_text() == "earlier"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_everything_but_persons_is_exported(settings, tmp_path):
    done = export_all(settings, tmp_path / "all")
    first = contents(done.path)
    assert first.keys() == {f"{one.slug}.parquet" for one in relations() if one.schema != "pii"}
    assert (done.what, done.is_personal) == (f"{len(first)} tables and marts", False)
    change(settings.layout.published, "delete from shipments where id > 150")

    with no_file_larger_than(5000), pytest.raises(ExportError, match=r"all cannot be written: .*File too large"):
        export_all(settings, done.path)
    assert contents(done.path) == first
    assert export_all(settings, done.path).rows < done.rows
    assert contents(done.path) != first
    assert {path.name for path in tmp_path.iterdir()} == {"all", "data"}

    (done.path / "mine.csv").write_text("mine")
    for folder in (done.path, tmp_path, settings.data_dir / "new"):
        with pytest.raises(OutputRefused):
            export_all(settings, folder)
    assert contents(done.path)["mine.csv"] == b"mine"
