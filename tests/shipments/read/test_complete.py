"""A window is complete when each id that the service still lists was landed, whatever its counts say."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from urllib.parse import parse_qs

import pytest
from starlette.responses import Response

from tests.conftest import NOW
from tests.landed import landed_ids
from tests.shipments.read.conftest import SHIPMENTS
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sync.shipments.read.plan import MARGIN
from wms_sync.shipments.read.raw import WindowIncomplete


@pytest.fixture
def bench(bench):
    """One window, one request after the other."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1, "page_size": 24})
    return bench


class Losing:
    """Leaves the last ``each`` off whole pages, ``times`` of them from the third on, and then lets others change."""

    def __init__(self, sandbox, *, times: int = 1, each: int = 1, changed: int = 0, late: float = 0) -> None:
        self.lost: set[int] = set()
        self.changed: set[int] = set()
        self._sandbox = sandbox.sandbox
        self._left, self._each, self._pages = times, each, 0
        self._wish = {"changed": changed, "late": late}
        self._sandbox.rewrite = self._page

    def _page(self, page):
        self._pages += bool(page["included"])
        if page["included"] and self._pages > 2 and self._left:
            self._left -= 1
            self.lost |= {page["collection"].pop()["id"] for _ in range(min(self._each, len(page["collection"])))}
            self._sandbox.intercept = self._change
        return page

    def _change(self, _: object) -> None:
        self._sandbox.intercept = None
        if self._wish["changed"]:
            self.changed |= set(self._sandbox.advance(seconds=5, **self._wish).changed)


def narrow(sandbox) -> list[str]:
    """Requests for ids alone: neither for related objects, nor for a count, nor to try the filter."""
    queries = [one.query for one in sandbox.sandbox.requests if "fields" not in one.query]
    return [query for query in queries if parse_qs(query).get("limit", ["1"]) != ["1"]]


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
    losing = Losing(sandbox, **loses)
    bench.read()
    assert losing.lost
    assert losing.lost - losing.changed <= set(landed_ids(bench))
    if "late" not in loses:
        assert Counter(landed_ids(bench)).most_common(1)[0][1] == 1
    if "changed" not in loses:
        assert sorted(landed_ids(bench)) == range_of(sandbox)
    windows = [window for window in bench.store.windows() if window.records]
    assert {window.state for window in windows} == {"landed"}
    assert pages in {None, windows[0].pages}
    assert bench.store.pages(windows[0].id)[-1].next_cursor is None


def range_of(sandbox) -> list[int]:
    return [int(one) for one in sandbox.sandbox._store.ids]


def test_a_record_that_is_committed_after_its_page_was_read_is_found_by_the_last_count(bench, sandbox):
    """The first count does not have it, so as many records land as were counted at first."""
    late, pages = min(range_of(sandbox)), 0

    def commit_late(page):
        nonlocal pages
        pages += bool(page["included"])
        if pages <= 3:
            page["collection"] = [record for record in page["collection"] if record["id"] != late]
            page["meta"] |= {"count": page["meta"]["count"] - 1} if "count" in page["meta"] else {}
        return page

    sandbox.sandbox.rewrite = commit_late
    bench.read()
    assert Counter(landed_ids(bench)) == dict.fromkeys(range_of(sandbox), 1)


def test_while_nothing_moves_and_counts_agree_no_id_is_listed_again(bench, sandbox):
    bench.read()
    assert narrow(sandbox) == []


def test_where_records_moved_on_ids_are_listed_once_and_nothing_is_read_anew(bench, sandbox):
    def change(request):
        if "cursor_start" in request.query_params:
            sandbox.sandbox.intercept = None
            sandbox.sandbox.advance(seconds=5, changed=20)

    sandbox.sandbox.intercept = change
    bench.read()
    assert 1 <= len(narrow(sandbox)) <= 11, "ten pages, and an empty one that ends the list"
    assert {window.state for window in bench.store.windows()} == {"landed"}


def refuse_ids(request) -> Response | None:
    asked = any("in:" in one for one in request.query_params.getlist("filter"))
    return bad_parameters(ParameterError("filter", "Unknown operator in.")) if asked else None


def test_where_ids_cannot_be_asked_for_the_window_is_read_anew(bench, sandbox):
    Losing(sandbox)
    sandbox.sandbox.intercept = refuse_ids
    intercepted = sandbox.sandbox.rewrite

    def lose_and_refuse(page):
        page = intercepted(page)
        sandbox.sandbox.intercept = refuse_ids
        return page

    sandbox.sandbox.rewrite = lose_and_refuse
    bench.read()
    assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == SHIPMENTS
    assert "abandoned" in {window.state for window in bench.store.windows()}


def test_a_record_that_is_left_off_every_time_is_never_taken_for_covered(bench, sandbox):
    Losing(sandbox, times=1_000_000)
    with pytest.raises(WindowIncomplete, match="report it"):
        bench.read()
    assert bench.store.covered(("landed",)) == ()
    assert len([window for window in bench.store.windows("abandoned") if window.pages]) == 3


def count_everything(sandbox) -> None:
    """A count that ignores the filter."""
    everything = len(range_of(sandbox))

    def rewrite(page):
        if "count" in page["meta"]:
            page["meta"]["count"] = everything
        return page

    sandbox.sandbox.rewrite = rewrite


@pytest.mark.parametrize("page_size", [5, 1000])
def test_a_count_that_ignores_the_filter_is_noticed_and_all_is_read_in_one_window(bench, sandbox, page_size):
    """It split toward single seconds: 1,574 requests for 60 shipments."""
    bench.settings = bench.settings.model_copy(update={"page_size": page_size})
    count_everything(sandbox)
    report = bench.read()
    assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == SHIPMENTS
    assert len(report.window_ids) == 1
    pages = -(-SHIPMENTS // page_size)
    assert report.requests <= 2 * pages + 7

    sandbox.sandbox.advance(seconds=3600, changed=20)
    again = bench.read()
    [warning] = again.warnings
    assert "count" in warning
    assert len(again.window_ids) == 1
    assert again.requests <= 2 * pages + 5
    assert bench.store.covered(("landed",))[-1].end == NOW + timedelta(hours=1) - MARGIN


def test_counts_that_are_far_more_in_parts_than_in_all_are_not_split_further(bench, sandbox):
    """As where a count heeds one end of a range alone: an empty time counts none, and the parts count too much."""
    bench.settings = bench.settings.model_copy(update={"page_size": 5})
    everything = len(range_of(sandbox))

    def rewrite(page):
        if page["meta"].get("count"):
            page["meta"]["count"] = everything
        return page

    sandbox.sandbox.rewrite = rewrite
    report = bench.read()
    assert len(set(landed_ids(bench))) == SHIPMENTS
    assert report.requests <= 2 * 120 + 64 + 5
    assert report.warnings
