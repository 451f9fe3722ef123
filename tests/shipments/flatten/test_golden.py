"""Golden pages: `golden/<scenario>/page-*.json` in, the rows of `golden/<scenario>/expected/<table>.json` out.

A row lists its columns that are not null, without `_window_id`, `_extracted_at` and `page_key`; `_page` where a
scenario has several pages. A table that is not expected must have no rows.
"""

import json
from pathlib import Path

import pytest

from .conftest import page_of

GOLDEN = Path(__file__).parent / "golden"
NOT_COMPARED = {"_window_id", "_extracted_at", "page_key"}


def rows_of(connection, path, *, with_page):
    dropped = NOT_COMPARED if with_page else NOT_COMPARED | {"_page"}
    found = connection.execute("select to_json(t) from read_parquet(?) as t", [str(path)]).fetchall()
    return in_order(
        {k: v for k, v in json.loads(row).items() if v is not None and k not in dropped} for (row,) in found
    )


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.parametrize("scenario", sorted(folder.name for folder in GOLDEN.iterdir()))
def test_pages_become_the_expected_rows(scenario, flattener, connection, tmp_path):
    pages = [page_of(path) for path in sorted((GOLDEN / scenario).glob("page-*.json"))]

    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)

    found = {table: rows_of(connection, path, with_page=len(pages) > 1) for table, path in done.files.items()}
    expected = {
        path.stem: in_order(json.loads(path.read_text(encoding="utf-8")))
        for path in (GOLDEN / scenario / "expected").glob("*.json")
    }
    assert found == expected
    assert {table: count for table, count in done.rows.items() if count} == {
        table: len(rows) for table, rows in expected.items()
    }
