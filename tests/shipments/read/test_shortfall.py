"""Lists and counts that are both too small for a while agree, so they prove nothing by themselves."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import anyio
import pytest
from starlette.responses import Response

from tests.bench import NOW, asks_for_page, let_pass, logged
from tests.shipments.read.conftest import SHIPMENTS, ids
from wms_sync.service.errors import ServiceFailed
from wms_sync.shipments.read.plan import MARGIN
from wms_sync.shipments.read.shortfall import LEAST, ReadIncomplete

CHANGED = 150
FOR_EVER = 10_000


@pytest.fixture
def bench(bench, sandbox, settings_for):
    """One request after the other, and three pages of changes."""
    bench.settings = settings_for(sandbox, max_parallel_requests=1, page_size=60)
    return bench


def withhold(sandbox, withheld: list[int], is_served: Callable[[int], bool]) -> None:
    """Neither list nor count these shipments in requests with such numbers, the first of which is 1."""
    numbers = count(1)
    sandbox.sandbox.intercept = lambda _: sandbox.sandbox.delete_shipments(withheld, deleted=is_served(next(numbers)))


def recover(sandbox, withheld: list[int]) -> None:
    sandbox.sandbox.intercept = None
    sandbox.sandbox.delete_shipments(withheld, deleted=False)


def is_complete(bench) -> bool:
    try:
        bench.read()
    except ReadIncomplete:
        return False
    return True


def changed_in_a_day(bench, sandbox) -> list[int]:
    """These, after a first sync."""
    bench.read()
    let_pass(sandbox.sandbox, changed=CHANGED)
    changed = changed_since_now(sandbox)
    assert len(changed) == CHANGED
    return changed


def changed_since_now(sandbox) -> list[int]:
    held = sandbox.sandbox._store
    return [*map(int, held.ids[held.updated > NOW.timestamp() * 1000])]


@pytest.mark.parametrize(
    ("first", "last"),
    [*((first, FOR_EVER) for first in range(2, 8)), *((1, last) for last in range(1, 5)), (2, 6), (4, 4)],
)
def test_a_night_is_covered_only_if_every_change_landed(bench, sandbox, first, last):
    """From the fourth request on, 1,500 of 2,500 changes were missing: the night was covered, and none read them."""
    changed = changed_in_a_day(bench, sandbox)
    earlier, covered = bench.store.windows(), bench.store.covered()
    withhold(sandbox, changed[:90], lambda number: first <= number <= last)
    complete = is_complete(bench)
    read = {window.id for window in bench.store.windows("landed")} - {window.id for window in earlier}
    landed = {shipment for window in read for shipment in bench.landed_ids(only=window)}
    assert (set(changed) <= landed, bench.store.covered() != covered) == (complete, complete)

    recover(sandbox, changed[:90])
    bench.read()
    bench.assert_landed(sandbox)
    assert bench.store.covered()[0].end == NOW + timedelta(days=1, seconds=10) - MARGIN


@pytest.mark.parametrize("withheld", [SHIPMENTS, SHIPMENTS // 2])
@pytest.mark.parametrize("served", [range(1, 5), range(1, 8), range(5, FOR_EVER), range(5, 12)])
def test_a_first_sync_is_not_covered_while_some_are_missing(bench, sandbox, withheld, served):
    """None of 4,000, or 2,000 of them, were covered and stayed so."""
    missing = ids(sandbox)[:withheld]
    withhold(sandbox, missing, lambda number: number in served)
    complete = is_complete(bench)
    assert (len(set(bench.landed_ids())) == SHIPMENTS, bench.store.covered() != ()) == (complete, complete)
    recover(sandbox, missing)
    bench.read()
    bench.assert_landed(sandbox)


def test_what_is_older_than_the_start_date_is_counted_again_after_a_loss(bench, sandbox, settings_for):
    """Those are counted and not read. A count that was taken while shipments were missing stayed for ever."""
    bench.settings = settings_for(sandbox, start_date="2026-03-20", max_parallel_requests=1)
    held = sandbox.sandbox._store
    older = held.ids[held.updated < bench.settings.start.timestamp() * 1000].tolist()
    missing, are_counts = ids(sandbox)[::2], []

    def until_pages_are_read(request):
        are_counts.append(request.query_params.get("limit", "1") == "1")
        sandbox.sandbox.delete_shipments(missing, deleted=not are_counts[-1] or all(are_counts))

    sandbox.sandbox.intercept = until_pages_are_read
    assert not is_complete(bench)
    recover(sandbox, missing)
    bench.read()
    assert bench.store.observation("records_before_start").value == len(older) > 0
    assert sorted(set(bench.landed_ids())) == sorted({*ids(sandbox)} - {*older})


@pytest.mark.parametrize("counts", [True, False])
def test_windows_that_a_cache_answers_alike_are_not_covered(bench, sandbox, settings_for, counts):
    """It leaves the filter out of its key, and keeps counts too or pages alone.

    With pages alone, four windows landed the 60 or so records of the first one, so that 240 landed.
    """
    bench.settings = settings_for(sandbox, max_parallel_requests=1, page_size=6)
    kept: dict[tuple[tuple[str, str], ...], Response] = {}

    async def from_the_cache(request):
        key = tuple(part for part in request.query_params.multi_items() if part[0] != "filter")
        if key not in kept or (("limit", "1") in key and not counts):
            kept[key] = await sandbox.sandbox._serve(request)
        return kept[key]

    sandbox.sandbox.intercept = from_the_cache
    with pytest.raises(ReadIncomplete):
        bench.read()
    assert (len(set(bench.landed_ids())) in (range(1) if counts else range(50, 80)), bench.store.covered()) == (
        True,
        (),
    )
    sandbox.sandbox.intercept = None
    bench.read()
    bench.assert_landed(sandbox)


@pytest.mark.parametrize("ends", range(4, 9))
def test_what_a_killed_run_landed_is_compared_before_the_next_one_plans(bench, sandbox, ends):
    """Also where its last window landed, so that coverage says that everything is read."""
    changed = changed_in_a_day(bench, sandbox)
    numbers = count(1)

    def fail(_):
        number = next(numbers)
        sandbox.sandbox.delete_shipments(changed[:90], deleted=number >= 4)
        return Response("down", 500) if number > ends else None

    covered = bench.store.covered()
    sandbox.sandbox.intercept = fail
    with pytest.raises(ServiceFailed):
        bench.read()
    has_landed = bench.store.covered() != covered
    assert len(bench.store.read_plans()) == 1
    recover(sandbox, changed[:90])
    with logged() as said:
        bench.read()
    assert any("incomplete for a while" in text for text in said) == has_landed == (ends >= 7)
    assert bench.store.read_plans() == ()
    bench.assert_landed(sandbox)


@pytest.mark.parametrize("is_short", [False, True])
def test_what_landed_in_a_failed_read_and_again_counts_once(bench, sandbox, settings_for, is_short):
    """The oldest window was half read; the newer ones had landed, and are read again for what was committed late."""
    bench.settings = settings_for(sandbox, max_parallel_requests=4, page_size=5)
    bench.read()
    before = len(bench.store.windows("landed"))
    let_pass(sandbox.sandbox, seconds=10_000, changed=34)
    let_pass(sandbox.sandbox, seconds=300, changed=260)
    changed, oldest = changed_since_now(sandbox), list[str]()

    async def fail_last():
        while len(bench.store.windows("landed")) < before + 4:
            await anyio.sleep(0.01)
        return Response("down", 500)

    def fail(request):
        if not oldest:
            oldest.extend(sorted(f'lt:"{window.to_at:%Y-%m-%dT%H:%M:%S}' for window in bench.store.windows("reading")))
        is_of_oldest = oldest and oldest[0] in request.query_params.get("filter", "")
        return fail_last() if is_of_oldest and "cursor_start" in request.query_params else None

    sandbox.sandbox.intercept = fail
    with pytest.raises(ServiceFailed):
        bench.read()
    begun = bench.store.windows("landed", "reading")[before:]
    landed = (bench.landed_ids("landed", "reading", only=window.id) for window in begun)
    withheld = sorted({*changed}.difference(*landed)) if is_short else []
    sandbox.sandbox.intercept = lambda request: sandbox.sandbox.delete_shipments(
        withheld if asks_for_page(f"{request.url.query}") else []
    )
    sandbox.sandbox.advance(seconds=10)
    with logged() as said:
        assert (is_complete(bench), len(withheld) >= 30) == (not is_short, is_short)
    assert not any("do not add up" in text for text in said)
    recover(sandbox, withheld)
    bench.read()
    bench.assert_landed(sandbox)


@pytest.mark.parametrize("deleted", [LEAST, LEAST + 1])
def test_a_few_that_are_missing_are_taken_to_be_deleted(bench, sandbox, deleted):
    changed = changed_in_a_day(bench, sandbox)
    withhold(sandbox, changed[:deleted], lambda number: number > 2)
    with logged() as said:
        assert is_complete(bench) == (deleted == LEAST)
    assert any(f"{LEAST} shipments of 150 that the service counted did not land" in text for text in said) == (
        deleted == LEAST
    )


@pytest.mark.parametrize("refused", [False, True])
def test_what_changes_during_the_read_is_not_missing(bench, sandbox, refused):
    """Also where nothing tells how much changed, because a second filter is refused."""
    changed_in_a_day(bench, sandbox)
    numbers = count(1)

    def change(request):
        if next(numbers) == 4:
            sandbox.sandbox.advance(seconds=60, changed=60)
        filters = "".join(request.query_params.getlist("filter"))
        return Response("{}", 400) if refused and "id{gt" in filters and "updated_at" in filters else None

    sandbox.sandbox.intercept = change
    assert is_complete(bench)
    let_pass(sandbox.sandbox)
    bench.read()
    bench.assert_landed(sandbox)


def test_days_read_again_stay_covered_as_before_and_are_read_again(bench, sandbox):
    bench.read()
    covered, early = bench.store.covered(), bench.store.windows()
    start = NOW - timedelta(days=10)
    withhold(sandbox, ids(sandbox)[100:], lambda number: number > 3)
    with pytest.raises(ReadIncomplete):
        bench.backfill(start, NOW)
    assert bench.store.covered() == covered
    recover(sandbox, ids(sandbox)[100:])
    report = bench.backfill(start, NOW)
    again = {shipment for window in report.window_ids for shipment in bench.landed_ids(only=window)}
    held = sandbox.sandbox._store
    assert again >= set(held.ids[held.updated >= start.timestamp() * 1000].tolist())
    assert {window.id for window in early}.isdisjoint(report.window_ids)
