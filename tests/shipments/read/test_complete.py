"""A window is complete when each id that the service still lists was landed, whatever its counts say."""

from collections import Counter
from itertools import count
from urllib.parse import parse_qs

import pytest

from tests.shipments.read.conftest import SHIPMENTS, change_midway, ids
from wms_sync.shipments.read.raw import WindowIncomplete


@pytest.fixture
def bench(bench):
    """One window, one request after the other."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, "page_size": 24})
    return bench


def lose(sandbox, *, times: int = 1, each: int = 1, **changes: float) -> tuple[set[int], set[int]]:
    """Leave the last ``each`` off whole pages, ``times`` of them from the third on, then let others change.

    Return the ids that are lost, and those that change, both as they come to be.
    """
    lost, changed, pages = set[int](), set[int](), count(1)

    def rewrite(page):
        if page["included"] and 2 < next(pages) <= 2 + times:
            lost.update(page["collection"].pop()["id"] for _ in range(min(each, len(page["collection"]))))
            sandbox.sandbox.intercept = change
        return page

    def change(_):
        sandbox.sandbox.intercept = None
        changed.update(sandbox.sandbox.advance(seconds=5, **changes).changed if changes else ())

    sandbox.sandbox.rewrite = rewrite
    return lost, changed


def narrow(sandbox) -> list[str]:
    """Requests for ids alone: neither for related objects, nor for a count, nor to try the filter."""
    return [
        request.query
        for request in sandbox.sandbox.requests
        if "fields" not in request.query and parse_qs(request.query).get("limit", ["1"]) != ["1"]
    ]


@pytest.mark.parametrize(
    ("page_size", "loses", "pages"),
    [
        (24, {}, 11),
        (6, {"times": 2, "each": 6}, None),  # more than a page holds
        (24, {"changed": 40}, None),  # each that moves on would hide one that was lost, if only counts were compared
        (24, {"changed": 40, "late": 60}, None),  # so would what moved into the window
    ],
)
def test_records_left_off_pages_are_asked_for_by_their_ids(bench, sandbox, page_size, loses, pages):
    bench.settings = bench.settings.model_copy(update={"page_size": page_size})
    lost, changed = lose(sandbox, **loses)
    bench.read()
    assert lost
    assert lost - changed <= set(bench.landed_ids())
    if "late" not in loses:
        assert Counter(bench.landed_ids()).most_common(1)[0][1] == 1
    if "changed" not in loses:
        assert sorted(bench.landed_ids()) == ids(sandbox)
    windows = [window for window in bench.store.windows() if window.records]
    assert {(window.state, bench.store.pages(window.id)[-1].next_cursor) for window in windows} == {("landed", None)}
    assert pages in {None, windows[0].pages}


def test_a_record_that_is_committed_after_its_page_was_read_is_found_by_the_last_count(bench, sandbox):
    """The first count does not have it, so as many records land as were counted at first."""
    first, *_ = ids(sandbox)
    pages = 0

    def commit_late(page):
        nonlocal pages
        pages += bool(page["included"])
        if pages <= 3:
            page["collection"] = [record for record in page["collection"] if record["id"] != first]
            page["meta"] |= {"count": page["meta"]["count"] - 1} if "count" in page["meta"] else {}
        return page

    sandbox.sandbox.rewrite = commit_late
    bench.read()
    assert sorted(bench.landed_ids()) == ids(sandbox)


def test_ids_are_listed_once_more_where_records_moved_on_and_nothing_is_read_anew(bench, sandbox):
    bench.read()
    assert narrow(sandbox) == [], "nothing moved and counts agree"
    sandbox.sandbox.advance(seconds=3600, changed=200)
    change_midway(sandbox, seconds=5, changed=20)
    bench.read()
    assert 1 <= len(narrow(sandbox)) <= 10, "nine pages, and an empty one that ends the list"
    assert {window.state for window in bench.store.windows()} == {"landed"}


def test_a_record_that_is_left_off_every_time_is_never_taken_for_covered(bench, sandbox):
    lose(sandbox, times=1_000_000)
    with pytest.raises(WindowIncomplete, match="report it"):
        bench.read()
    assert bench.store.covered(("landed",)) == ()
    assert len([window for window in bench.store.windows("abandoned") if window.pages]) == 3


@pytest.mark.parametrize(("least", "requests"), [(0, 2 * 48 + 7), (1, 2 * 120 + 69)], ids=["all", "all but zero"])
def test_counts_that_ignore_the_filter_are_noticed_and_not_split_further(bench, sandbox, least, requests):
    """It split toward single seconds: 1,574 requests for 60 shipments. Or they heed one end of a range alone."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5})

    def count_everything(page):
        if page["meta"].get("count", -1) >= least:
            page["meta"]["count"] = SHIPMENTS
        return page

    sandbox.sandbox.rewrite = count_everything
    report = bench.read()
    assert sorted(bench.landed_ids()) == ids(sandbox)
    assert report.requests <= requests
    assert "count" in report.warnings[0]
