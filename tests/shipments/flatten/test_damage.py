"""A damaged Parquet file of an old window fails no night, and loses nothing that the tables have."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.bench import NOW, Bench, logged, queried
from tests.services import data_of
from wms_sync.layout import flattened_key
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.targets.errors import AnalyticsError


@pytest.fixture
def window(synced) -> str:
    """The first window of an installation after its first sync."""
    return str(synced.store.windows("loaded")[0].id)


def cut(bench: Bench, window: str) -> None:
    """Damage the file of shipments of a window."""
    for path in (bench.layout.parquet / "shipments").glob(f"{window}-*.parquet"):
        path.write_bytes(path.read_bytes()[:-100])


def scribble(bench: Bench, window: str) -> None:
    """Damage the record of the window's files."""
    (bench.layout.root / flattened_key(window)).write_text("{")


def without_pages(bench: Bench, window: str) -> None:
    drop_pages(bench.run.lease, bench.layout, window, datetime.now(UTC))


def with_damaged_pages(bench: Bench, window: str) -> None:
    for path in (bench.layout.raw / window).glob("page-*"):
        path.write_bytes(path.read_bytes()[:-1])


def some_start_over(bench: Bench, sandbox) -> None:
    """Read a day again whose shipments went back, so that their history is computed from all windows."""
    with data_of(sandbox) as held:
        held.updated -= 1000
    bench.backfill(NOW - timedelta(days=2), NOW - timedelta(days=1))


@pytest.mark.proof
@pytest.mark.parametrize("damages", [cut, scribble])
def test_a_damaged_file_is_flattened_again(bench, sandbox, window, damages):
    damages(bench, window)
    some_start_over(bench, sandbox)
    with logged() as said:
        refreshed = bench.load()
    assert refreshed.published
    assert refreshed.verdicts["shipments"]["moved back"] > 0
    assert any(window in line and "was damaged" in line for line in said)
    assert refreshed.counts["started_over"] >= refreshed.counts["over_moved_back"] > 0
    query = "select * from history.shipments order by all"
    before = queried(bench.layout.published, query)
    assert rebuild(bench.run).published
    assert queried(bench.layout.published, query) == before


@pytest.mark.parametrize("pages", [without_pages, with_damaged_pages])
def test_rows_that_no_file_has_stay_with_a_finding(bench, sandbox, window, pages):
    versions = "select id, seen_at from history.shipments where _window_id = $1 order by all"
    before = queried(bench.layout.published, versions, window)
    covered = bench.store.covered()
    pages(bench, window)
    cut(bench, window)
    some_start_over(bench, sandbox)
    assert bench.load().published
    assert queried(bench.layout.published, versions, window) == before
    assert ["of history.shipments" in line for line in bench.needs if "no Parquet file has any more" in line] == [True]
    assert (bench.store.window(window).state, bench.store.covered() == covered) == ("abandoned", False)
    bench.read()
    assert bench.store.covered() == covered, "what was given up is read again"


def test_a_rebuild_fails_for_a_damaged_file(bench, window):
    published = bench.layout.published.read_bytes()
    without_pages(bench, window)
    cut(bench, window)
    with pytest.raises(AnalyticsError, match=f"shipments/{window}"):
        rebuild(bench.run)
    assert (bench.layout.published.read_bytes() == published, bench.store.window(window).state) == (True, "loaded")
