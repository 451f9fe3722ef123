"""What one night finds on one installation: its slice's findings, what it heals, and what the service has no longer."""

import json
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.bench import FEWER, NOW, Bench, opened_store, queried
from tests.oracle import differences, expected_tables
from tests.services import data_of
from tests.shipments.audit.test_audit import BEFORE_START, COUNTS, DIFFERS, ROUND, audits, night, slice_read, warned
from wms_sync.cli.operations import refresh_lines
from wms_sync.reports.explain import explain, explanation_lines
from wms_sync.shipments.load.refresh import RefreshReport, rebuild
from wms_sync.state.audits import Audit
from wms_sync_pipelines.metadata import of_table

YEAR_2999 = 32_472_144_000_000
DAY = 86_400_000
STUB, *GONE = 2, 60, 110, 119
LATE, MOVED_AWAY = 50, 115
CHANGED, BACK = (3, 40, 70), (7, 9)
ORDER_BACK, ORDERS_CHANGED = 20, (100, 200)
MOVING = range(120, 130)
"""The shipments, by their places, to which something happens; those of ``MOVING`` change while the slice is read."""


def marks(bench):
    """Since when, by shipment, as analysts see it; then its last version ends, and the status that it had."""
    query = "select id, _missing_since from shipments where _missing_since is not null order by id"
    ended = "select id, valid_to from history.shipments where is_current and valid_to is not null order by id"
    left = "select id, ended_at from history.status_changes where is_latest and ended_at is not null order by id"
    found, *others = (dict(queried(bench.layout.published, asked)) for asked in (query, ended, left))
    assert others == [found, found]
    return found


def proven(bench):
    return queried(bench.layout.published, "select * from ops.missing_shipments order by all")


def of_shipments(field: str, value: object):
    """Shipments have this value from now on."""
    return lambda page, ids: [one.update({field: value}) for one in page["collection"] if one["id"] in ids]


def items_of_orders_in_words(page, ids):
    """The orders of these shipments count their items in words from now on."""
    orders = {one["order"]["id"] for one in page["collection"] if one["id"] in ids}
    for order in page["included"].get("Order", ()):
        if order["id"] in orders:
            order["total_item_count"] = "many"


POISONS = {
    of_shipments("status", {"a": 1}): (140, 150),
    of_shipments("updated_at", "yesterday"): (141, 151),
    of_shipments("items", "none"): (142, 152),
    items_of_orders_in_words: (144, 154),
    of_shipments("unique_id", {"a": 1}): (145, 155),
    of_shipments("is_deleted", True): (STUB,),
}
"""What does not fit, and which shipments have it: the last two changed, so that the sync reads them too."""
READ_TWICE = (145, 155)


def before_the_first_sync(sandbox) -> tuple[int, int, int]:
    """A commit that is late, further back than the overlap reads again; a clock that says 2999 for a while."""
    with data_of(sandbox) as held:
        late, right, before = held.updated[[LATE, *BACK]].tolist()
        held.updated[LATE] = BEFORE_START
        held.updated[7] = YEAR_2999
        held.order_updated[held.order_first[ORDER_BACK]] = YEAR_2999
    return late, right, before


def an_eventful_day(sandbox, late: int, right: int, before: int) -> None:
    """What no sync can see, deletions, and values that do not fit. A backup was put back, and a clock put right."""
    ids = sandbox.sandbox._store.ids.tolist()
    sandbox.sandbox.delete_shipments([ids[index] for index in GONE])
    with data_of(sandbox) as held:
        held.updated[LATE] = late
        held.step[list(CHANGED[:2])] += 1
        held.shown[CHANGED[2]] = 0 if held.shown[CHANGED[2]] else 1
        held.order_revision[[held.order_first[index] for index in ORDERS_CHANGED]] += 1
        held.updated[list(BACK)] = right, before - DAY
        held.step[list(BACK)] += 1
        held.order_updated[held.order_first[ORDER_BACK]] = right
        held.updated[list(READ_TWICE)] = sandbox.sandbox.clock.now()
        held.revision[list(READ_TWICE)] += 1

    def rewritten(page):
        for poison, indexes in POISONS.items():
            poison(page, [ids[index] for index in indexes])
        return page

    def while_the_slice_is_read(request):
        if "id%7Bgt" in request.url.query and "fields" in request.url.query:
            sandbox.sandbox.intercept = None
            sandbox.sandbox.advance(seconds=600, new=10)
            touch(sandbox, *MOVING)
            with data_of(sandbox) as held:
                held.updated[MOVED_AWAY] = BEFORE_START

    sandbox.sandbox.rewrite = rewritten
    sandbox.sandbox.intercept = while_the_slice_is_read


def touch(sandbox, *indexes: int) -> None:
    with data_of(sandbox) as held:
        held.updated[list(indexes)] = sandbox.sandbox.clock.now()
        held.revision[list(indexes)] += 1


@dataclass
class Found:
    """What a night found, and how the installation shows it."""

    bench: Bench
    ids: list[int]
    refreshed: RefreshReport
    audit: Audit
    marks: dict[int, Any]

    @property
    def examples(self) -> dict[str, list[int]]:
        return dict(json.loads(self.audit.examples or ""))

    def of(self, indexes) -> list[int]:
        return [self.ids[index] for index in indexes]

    def asked(self, query: str) -> list[tuple[Any, ...]]:
        return queried(self.bench.layout.published, query)

    def explained(self, index: int):
        return explain(self.bench.settings, self.bench.store, str(self.ids[index]))[0]


SHOWN = "456 shipments compared, 3 changed, 2 orders changed, 1 missed, 5 absent, 3 updated_at moved back"
A_NIGHT = {
    "what changed without a sign": lambda night: night.examples["changed"] == night.of(CHANGED),
    "orders that changed without a sign": lambda night: night.audit.orders_changed == len(ORDERS_CHANGED),
    "a commit that was late": lambda night: night.examples["missed"] == night.of([LATE]),
    "shipments that moved back": lambda night: night.examples["voided_shipments"] == night.of(BACK),
    "an order that moved back": lambda night: len(night.examples["voided_orders"]) == 1,
    "of each a count": lambda night: (
        (night.audit.changed, night.audit.missed, night.audit.absent, night.audit.voided) == (3, 1, 5, 3)
    ),
    "what is gone, marked": lambda night: list(night.marks) == night.of([STUB, *GONE]),
    "since the request, by the service's clock": lambda night: (
        set(night.marks.values()) == {NOW + timedelta(hours=2, minutes=10)}
    ),
    "what moved away, absent": lambda night: night.examples["absent"] == sorted(night.of([STUB, *GONE, MOVED_AWAY])),
    "what moved away, as a finding": lambda night: any(
        "did not find 1 shipment that the tables have. It is not marked as missing" in line
        for line in night.bench.needs
    ),
    "the service's count, with the stub and what is late": lambda night: (
        night.audit.total_counted == (night.audit.total_in_tables or 0) + 2 - 1  # but for what moved away
    ),
    "the checks that warn": lambda night: warned(night.refreshed) == {DIFFERS, COUNTS, ROUND},
    "rows of what is gone, kept": lambda night: night.refreshed.rows["shipments"] == FEWER.shipments + 10,
    "absent and missing, as published": lambda night: (
        night.asked("select absent, missing from ops.audits order by read_at") == [(0, 0), (5, 4)]
    ),
    "why a row moved back": lambda night: (
        night.explained(BACK[0]).versions[0].verdict.startswith("void: the audit")
        and night.explained(BACK[0]).versions[-1].verdict.startswith("in the table: the newest since the audit")
    ),
    "why a shipment is marked": lambda night: (
        f"audit {night.audit.window_id} of run test" in "\n".join(explanation_lines(night.explained(GONE[0])))
    ),
    "since when it is missing": lambda night: (
        f"missing     since {night.marks[night.ids[GONE[0]]]:%Y-%m-%d %H:%M:%S} UTC, until now"
        in "\n".join(explanation_lines(night.explained(GONE[0])))
    ),
    "values that do not fit, in quarantine": lambda night: (
        night.asked("select distinct regexp_extract(path, '[a-z_]*$') from ops.quarantine order by all")
        == [(field,) for field in ["", "status", "total_item_count", "unique_id", "updated_at"]]
    ),
    "values read twice, counted once": lambda night: (
        {
            one.offending
            for one in night.refreshed.checks
            if one.check.name == "nothing_was_quarantined_in_the_latest_load"
        }
        == {night.refreshed.quarantined}
        == {night.refreshed.rows["ops_quarantine"] - len(READ_TWICE)}
    ),
    "apart from what the sync merged": lambda night: list(refresh_lines(night.refreshed))[1] == f"audit     {SHOWN}",
    "in the metadata of the run": lambda night: (
        night.refreshed.audited == of_table("shipments", night.refreshed, None)["audit"] == SHOWN
    ),
    "rows merged by the sync alone": lambda night: (
        of_table("shipments", night.refreshed, None)["rows_merged"] == len(READ_TWICE)
    ),
}
THE_NIGHT_AFTER = {
    "what came again, unmarked": lambda night: list(night.marks) == night.of(GONE[1:2]),
    "when it came again": lambda night: (
        sorted(shipment for shipment, _, since, back in proven(night.bench) if back and back > since)
        == night.of([STUB, GONE[0], GONE[2]])
    ),
    "what came again with an earlier time": lambda night: night.examples["voided_shipments"] == night.of(GONE[:1]),
    "what fits again": lambda night: {*night.of([140])} <= {*night.examples["changed"]},
    "why it is unmarked": lambda night: (
        "when a page showed it again" in "\n".join(explanation_lines(night.explained(GONE[0])))
    ),
}


def assert_finds(expected, bench, sandbox):
    refreshed = night(bench, sandbox)
    assert sandbox.sandbox.intercept is None
    found = Found(bench, sandbox.sandbox._store.ids.tolist(), refreshed, audits(bench)[-1], marks(bench))
    assert [what for what, holds in expected.items() if not holds(found)] == [], found.audit
    return found


@pytest.mark.proof
def test_what_one_night_finds_and_the_next_heals(bench, sandbox, settings_for, tmp_path):
    """And what is kept where the state store is lost or an older one, and by a rebuild."""
    times = before_the_first_sync(sandbox)
    bench.settings = settings_for(sandbox, page_size=1000, include_addresses=True)
    bench.recover()
    bench.sync()
    bench.store.close()
    shutil.copy(bench.layout.state, tmp_path / "backup.db")
    bench.store = opened_store(bench.settings)
    slice_read(bench, sandbox)  # which finds what the year 2999 hides
    an_eventful_day(sandbox, *times)
    found = assert_finds(A_NIGHT, bench, sandbox)

    before = marks(bench), proven(bench)
    assert rebuild(bench.run).audits == ()
    assert (marks(bench), proven(bench), audits(bench)[-1]) == (*before, found.audit)
    for copy in (None, tmp_path / "backup.db"):
        bench.lose_the_state_store(copy)
        bench.recover()
        restored = bench.store.audits
        assert (restored.last(), len(restored.missing())) == (found.audit, len(found.marks))

    sandbox.sandbox.rewrite = None
    sandbox.sandbox.delete_shipments(found.of([GONE[0], GONE[2]]), deleted=False)
    with data_of(sandbox) as held:
        held.updated[GONE[0]] -= 1000
    touch(sandbox, GONE[2], MOVED_AWAY)
    found = assert_finds(THE_NIGHT_AFTER, bench, sandbox)
    with bench.published() as connection:
        orders = {order for (order,) in found.asked("select order_id from shipments where _missing_since is not null")}
        assert differences(connection, expected_tables(sandbox), {*found.of(GONE[1:2]), *orders}) == []
