"""Flattening a batch: files, counts, and what happens to a page that is broken."""

import gzip
import json

import duckdb
import pytest
import zstandard
from msgspec.structs import replace

from wms_sync.shipments.flatten.page import PageDamagedError, RecordsLostError

from .conftest import EXTRACTED_AT


def page_with(*ids, **more):
    records = [{"type": "Shipment", "id": one, "status": "new", **more} for one in ids]
    return json.dumps({"collection": records, "included": {}}).encode()


def rows(path, columns):
    with duckdb.connect() as connection:
        return connection.execute(f"select {columns} from read_parquet(?) order by all", [str(path)]).fetchall()


def test_a_file_a_table_named_by_window_and_part_of_rows_that_name_theirs(flattener, land, tmp_path):
    done = flattener.flatten(land(page_with(1), page_with(2)), window_id="2024-w", part=7, parquet_dir=tmp_path / "all")

    assert done.files == {"shipments": tmp_path / "all" / "shipments" / "2024-w-00007.parquet"}
    assert {slug: count for slug, count in done.rows.items() if count} == {"shipments": 2}
    assert [path.name for path in (tmp_path / "all").rglob("*.*")] == ["2024-w-00007.parquet"]
    assert rows(done.files["shipments"], f"id, _window_id, _page, _extracted_at = '{EXTRACTED_AT}'") == [
        (1, "2024-w", 1, True),
        (2, "2024-w", 2, True),
    ]


def test_an_object_may_be_larger_than_duckdb_expects(flattener, land, tmp_path):
    """Up to 32 MB it reads by itself, whatever it is told."""
    long = "x" * 3_000_000
    pages = land(page_with(1, unique_id=long), page_with(2), page_with(3, unique_id=12 * long))

    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)

    assert rows(done.files["shipments"], "id, len(unique_id)") == [(1, len(long)), (2, None), (3, 12 * len(long))]
    assert done.rows["ops_quarantine"] == 0


def test_files_of_an_earlier_try_are_replaced_or_go(flattener, land, tmp_path):
    first = flattener.flatten(land(page_with(1, packages=[{}])), window_id="w", part=1, parquet_dir=tmp_path)
    assert first.files["packages"].exists()

    again = flattener.flatten(land(page_with(3)), window_id="w", part=1, parquet_dir=tmp_path)
    assert rows(again.files["shipments"], "id") == [(3,)]
    assert not first.files["packages"].exists()

    for pages in (land(page_with()), land()):
        nothing = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)
        assert (nothing.files, nothing.rows) == ({}, dict.fromkeys(first.rows, 0))
        assert not first.files["shipments"].exists()


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("zst", zstandard.compress)])
def test_a_file_that_is_cut_short_is_an_error(flattener, land, tmp_path, ending, compress):
    (plain,) = land(page_with(*range(500)))
    path = tmp_path / f"page-00001.json.{ending}"
    path.write_bytes(compress(plain.path.read_bytes())[:-20])

    with pytest.raises(PageDamagedError, match="backfill"):
        flattener.flatten([replace(plain, path=path)], window_id="w", part=1, parquet_dir=tmp_path)


def test_a_text_that_duckdb_cuts_inside_a_letter_is_quarantined(flattener, land, tmp_path):
    """In its error, on one of these pages."""
    contents = (f'{{"collection": ["{"x" * shift}{"é" * 300}"]}}'.encode() for shift in range(4))

    done = flattener.flatten(land(*contents), window_id="w", part=1, parquet_dir=tmp_path)

    assert (done.rows["ops_quarantine"], done.rows["shipments"]) == (4, 0)


@pytest.mark.parametrize("empty", [b"null", b"[]", b"{}"])
def test_a_page_without_records(flattener, land, tmp_path, empty):
    """With a byte order mark, and with bytes that are not UTF-8 in a key that nobody knows."""
    pages = land(b'\xef\xbb\xbf{"collection": ' + empty + b', "more": "\xff"}')

    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)

    assert {slug for slug, count in done.rows.items() if count} == {"ops_quarantine", "ops_schema_drift"}


def test_the_count_holds_page_by_page(flattener, land, tmp_path):
    first, second = land(page_with(1, 2), page_with(3))
    pages = [replace(first, records=1), replace(second, records=2)]

    with pytest.raises(RecordsLostError, match="page 1 has 1 shipment, but flattening gave 2 rows"):
        flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)

    assert flattener.flatten([first], window_id="w", part=1, parquet_dir=tmp_path).rows["shipments"] == 2
