"""History: what the tables held at a moment stands there, and it is the same however it was made.

``survival/test_model.py`` loses the published file and the state store.
"""

from datetime import datetime

import pytest

from tests.bench import let_pass, queried
from tests.changed_files import change
from tests.services import data_of
from tests.shipments.audit.test_audit import night
from wms_sandbox.clock import as_datetime
from wms_sync.catalogue import history_tables, quote, tracked
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.upkeep.forget import forget

SHIPMENTS_HELD = 120


def history(bench):
    return [queried(bench.layout.published, f"from {past.qualified} order by all") for past in history_tables()]


def columns(past):
    return ", ".join(map(quote, ("id", *tracked(past))))


def three_nights(bench, sandbox):
    """What the tables held after each of them. The last has an audit that voids: what it reads went back in time."""
    held = {}
    for number in range(3):
        if number == 2:
            with data_of(sandbox) as data:
                data.step[7:9] += 1
                data.updated[7:9] = data.created[7:9]
            night(bench, sandbox)
        else:
            bench.sync()
        sandbox.sandbox.advance(seconds=10)
        held[as_datetime(sandbox.sandbox.clock.now())] = [
            queried(bench.layout.published, f"select {columns(past)} from {past.name} order by id")
            for past in history_tables()
        ]
        let_pass(sandbox.sandbox, seconds=7200, changed=30, new=5, orders=10)
    return held


def drops_raw_pages(bench) -> None:
    for window in bench.store.windows():
        assert drop_pages(bench.store.lease, bench.layout, window.id, datetime.now().astimezone()) > 0


def had_a_column_less(bench) -> None:
    change(
        bench.layout.published,
        "alter table history.orders drop column priority",
        "update ops.latest_load set definitions = 'of that release'",
    )


def forgets_an_order(bench) -> None:
    before = history(bench)
    [order] = queried(bench.layout.published, "select min(order_id) from pii.order_addresses")
    assert forget(bench.run, order).databases == 1
    assert history(bench) == before


@pytest.mark.proof
def test_history_holds_what_the_tables_held_however_it_is_made(bench, sandbox, settings_for):
    bench.settings = settings_for(sandbox, page_size=1000, include_addresses=True)
    bench.recover()
    for moment, held in three_nights(bench, sandbox).items():
        for past, rows in zip(history_tables(), held, strict=True):
            query = f"""
                select {columns(past)} from {past.qualified}
                where valid_from <= $1 and (valid_to > $1 or valid_to is null) order by id
            """
            assert queried(bench.layout.published, query, moment) == rows, (moment, past.name)
    for past in history_tables():
        [(versions, objects)] = queried(
            bench.layout.published, f"select count(*), count(distinct id) from {past.qualified}"
        )
        assert versions > objects > 0
    before = history(bench)
    for load, *losses in ((refresh, had_a_column_less), (rebuild, forgets_an_order, drops_raw_pages)):
        for happens in losses:
            happens(bench)
        assert load(bench.run).published
        assert history(bench) == before, losses


def test_no_tracked_column_is_personal_or_free_text():
    types = {column.type for one in history_tables() for column in one.columns if column.name in tracked(one)}
    assert types <= {"varchar", "bigint", "boolean", "date", "timestamptz", "double", "decimal(18, 4)"}
    assert {name for one in history_tables() for name in tracked(one)}.isdisjoint(
        {"customer_note", "custom_greeting", "custom_fields", "automation_data", "submitted_by", "order_ref"}
    )
