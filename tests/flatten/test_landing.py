"""Pages that are examined as they land give the rows that their files give; what cannot be examined is read there."""

from __future__ import annotations

import duckdb
import pytest

from tests.conftest import Bench
from wms_sync.api.body import unpacked
from wms_sync.extract.raw import key_of
from wms_sync.flatten.batch import Flattener
from wms_sync.flatten.landing import MOST_MISFITS, Landing
from wms_sync.flatten.window import flatten_window, flattened_window
from wms_sync.state.store import LandedPage

ENOUGH = 10**9


@pytest.fixture
def pages(bench: Bench) -> list[tuple[LandedPage, bytes]]:
    """The pages of a window, with their content."""
    bench.settings = bench.settings.model_copy(update={"page_size": 100, "max_parallel_requests": 1})
    with bench.api() as api:
        (window,) = bench.reading(api).sync().window_ids
    return [(page, content_of(bench, page)) for page in bench.store.pages(window)]


def content_of(bench: Bench, page: LandedPage) -> bytes:
    return unpacked(bench.layout.files.get(key_of(page)), page.file.partition(".")[2])


def rows_of(
    bench: Bench, flattener: Flattener, window: str, landing: Landing | None = None
) -> dict[str, list[tuple[object, ...]]]:
    flatten_window(bench.layout, bench.store, flattener, window, batch_bytes=ENOUGH, landing=landing)
    flattened = flattened_window(bench.layout, window)
    query = "select * from read_parquet($files) order by all"
    return {
        table: duckdb.execute(query, {"files": flattened.files(bench.layout, table)}).fetchall()
        for table in flattened.parts
    }


def test_what_was_examined_gives_the_same_rows_and_is_not_read_again(bench, pages, flattener):
    window = pages[0][0].window_id
    expected = rows_of(bench, flattener, window)
    landing = Landing(bench.store.turn, batch_bytes=ENOUGH)
    for page, content in pages:
        landing.add(page, content)
        (bench.layout.root / key_of(page)).write_bytes(b"?" * page.bytes)
    assert rows_of(bench, flattener, window, landing) == expected
    assert not any("landing" in path.name for path in bench.store.turn.folder.iterdir())


def test_a_value_that_only_duckdb_refuses_is_found_in_the_files(bench, pages, flattener):
    landing = Landing(bench.store.turn, batch_bytes=ENOUGH)
    for number, (page, content) in enumerate(pages):
        landing.add(page, content.replace(b'"created_at":"', b'"created_at":"9999999', 1) if number == 1 else content)
    window = pages[0][0].window_id
    assert rows_of(bench, flattener, window, landing) == rows_of(bench, flattener, window)


@pytest.mark.parametrize("case", ["half read before", "misfit", "too large", "one too few", "read anew"])
def test_a_window_that_was_not_examined_whole_is_left_to_its_files(bench, pages, case):
    landing = Landing(bench.store.turn, batch_bytes=10 if case == "too large" else ENOUGH)
    landed = [page for page, _ in pages]
    examined = pages[1:] if case == "half read before" else pages[:-1] if case == "one too few" else pages
    for page, content in examined:
        landing.add(page, content.replace(b'"unique_id"', b'"unheard_of"') if case == "misfit" else content)
    if case == "read anew":
        landed = [*landed[:-1], LandedPage(**{**vars(landed[-1]), "sha256": "another"})]
    with landing.examined(landed[0].window_id, landed) as lines:
        assert lines is None


def test_a_service_whose_pages_never_fit_is_given_up(bench, pages):
    landing = Landing(bench.store.turn, batch_bytes=ENOUGH)
    first, content = pages[0]
    for number in range(MOST_MISFITS + 1):
        page = LandedPage(**{**vars(first), "window_id": f"window-{number}"})
        landing.add(page, content if number == MOST_MISFITS else b"{}")
        with landing.examined(page.window_id, [page]) as lines:
            assert lines is None
