"""What the service has no longer: marked when it is proven, never before, until a page shows it again."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.responses import Response

from tests.conftest import CONFIG, FEWER, opened_store
from tests.oracle import expected_tables
from tests.shipments.audit.test_audit import (
    COUNTS,
    DIFFERS,
    audits,
    hide,
    last,
    night,
    one_page,
    slice_read,
    store,
    warned,
)
from tests.test_sync import first_synced, published, synced
from wms_sandbox.app import Sandbox
from wms_sync.cli.views import status_lines
from wms_sync.reports.explain import explain, explanation_lines
from wms_sync.reports.status import status
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.recovery import recover

ROUND = "after_a_whole_round_the_tables_equal_the_service"


@pytest.fixture
def sandbox(in_process):
    """A small one: most of what is tested here takes many nights."""
    in_process.sandbox = Sandbox(replace(CONFIG, shipments=120, families=20))
    return in_process


def delete(sandbox, *indexes: int) -> list[int]:
    gone = [int(sandbox.sandbox._store.ids[index]) for index in indexes]
    sandbox.sandbox.delete_shipments(gone)
    return gone


def marks(bench):
    """Since when, by shipment, as analysts see it; then its last version ends, and the status that it had."""
    query = "select id, _missing_since from shipments where _missing_since is not null order by id"
    ended = "select id, valid_to from history.shipments where is_current and valid_to is not null order by id"
    left = "select id, left_at from history.status_changes where is_latest and left_at is not null order by id"
    with published(bench) as connection:
        found, *others = [dict(connection.execute(one).fetchall()) for one in (query, ended, left)]
    assert others == [found, found]
    return found


def proven(bench):
    with published(bench) as connection:
        return connection.execute("select * from ops.missing_shipments order by all").fetchall()


def test_what_is_gone_is_marked_until_it_comes_again(bench, sandbox, settings_for, tmp_path):
    """A rebuild after a lost or older state store keeps the marks, and so does a forget."""
    bench.settings = settings_for(sandbox, page_size=1000, include_addresses=True)
    recover(bench.run)
    synced(bench)
    bench.store.close()
    shutil.copy(bench.settings.data_dir / "state.db", tmp_path / "backup.db")
    bench.store = opened_store(bench.settings)
    gone = delete(sandbox, 3, 60, 119)

    _, refreshed, _ = night(bench, sandbox)

    found, marked = last(bench), marks(bench)
    assert list(marked) == gone
    a_second_later = 1  # than what was read before, by a clock that stands still
    assert {since.timestamp() for since in marked.values()} == {sandbox.sandbox.clock.now() // 1000 + a_second_later}
    assert (found.compared, found.absent) == (117, 3)
    assert found.total_counted == found.total_in_tables == 117
    assert warned(refreshed) == {COUNTS}
    assert refreshed.rows["shipments"] == 120
    with published(bench) as connection:
        there = connection.execute("select id from shipments where _missing_since is null").fetchall()
        assert connection.execute("select absent, missing from ops.audits").fetchall() == [(3, 3)]
    assert set(there) == set(expected_tables(sandbox)["shipments"])

    for copy in (None, tmp_path / "backup.db"):
        assert_kept_by_a_rebuild_with(copy, bench)

    with store(sandbox) as held:
        held.updated[60] -= 1000  # went back: its row is replaced all the same, since an audit shows it
        held.updated[119] = sandbox.sandbox.clock.now()
        held.revision[119] += 1
    sandbox.sandbox.restore_shipments(gone)
    _, refreshed, _ = night(bench, sandbox)
    assert marks(bench) == {}
    assert warned(refreshed) == {DIFFERS}
    assert last(bench).voided == 2  # its gallery too
    assert [shipment for shipment, _, since, back in proven(bench) if back > since] == gone
    explained = explain(bench.settings, bench.store, str(gone[1]))
    (absence,) = explained.missing
    assert absence.returned_at is not None
    assert "when a page showed it again" in "\n".join(explanation_lines(explained))

    sandbox.sandbox.delete_shipments(gone[:1])
    night(bench, sandbox)
    marked, known = marks(bench), proven(bench)
    assert (list(marked), len(known)) == (gone[:1], 4)
    with published(bench) as connection:
        orders = connection.execute("select order_id from shipments where id = ? or id % 10 = 0", gone[:1]).fetchall()
    assert forget(bench.run, [one for (one,) in orders if one]).databases == 1
    assert marks(bench) == marked


def assert_kept_by_a_rebuild_with(copy: Path | None, bench) -> None:
    """What is gone, and what was found, where the state store is replaced by a copy or by none."""
    before = marks(bench), proven(bench), last(bench)
    bench.store.close()
    for path in bench.settings.data_dir.glob("state.db*"):
        path.unlink()
    if copy is not None:
        shutil.copy(copy, bench.layout.state)
    bench.store = opened_store(bench.settings)
    recover(bench.run)
    rebuild(bench.run)
    assert (marks(bench), proven(bench), last(bench)) == before


def nothing_found(_: object) -> Response:
    page = {"collection": [], "included": {}, "has_more": False, "next": None, "meta": {"count": 0}}
    return Response(json.dumps(page))


def test_without_proof_nothing_is_marked(bench, sandbox, settings_for):
    """Night by night: a record is lost while paging, then asking by id answers in ways that prove nothing."""

    def lose(page):
        if len(page["collection"]) > 5:
            page["collection"] = [one for one in page["collection"] if one["id"] != other]
        return page

    def spoil(page):
        for one in page["collection"]:
            one["id"] = "?" if one["id"] == other else one["id"]
        return page

    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)
    gone, other = delete(sandbox, 3), int(sandbox.sandbox._store.ids[40])

    sandbox.sandbox.rewrite = lose
    audit, said = slice_read(bench, sandbox)
    assert audit is None
    assert "counts 119 records" in said[0]
    sandbox.sandbox.rewrite = None
    for answer, reason in ((nothing_found, "proves nothing"), (lambda _: Response("{}", 400), "without proof")):
        sandbox.sandbox.intercept = lambda request, answer=answer: (
            answer(request) if "in%3A" in request.url.query else None
        )
        _, said = slice_read(bench, sandbox)
        assert reason in said[0]
    sandbox.sandbox.intercept = None
    sandbox.sandbox.rewrite = spoil
    _, _, said = night(bench, sandbox)
    assert "does not prove that any shipment is gone" in said[0]
    assert ([found.absent for found in audits(bench)], marks(bench)) == ([1, 1, 2], {})
    sandbox.sandbox.rewrite = None
    night(bench, sandbox)
    assert list(marks(bench)) == gone


def test_what_only_moved_is_absent_and_not_missing(bench, sandbox, settings_for):
    """Its updated_at is before the start date when the slice is read: no page of the slice holds it.

    What was so before is not even asked for. A backfill that was read before the proof and is merged after it shows a
    deleted shipment as it was, and does not take its mark.
    """
    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)
    sandbox.sandbox.advance(seconds=60)
    bench.backfill(bench.settings.start, bench.store.covered()[-1].end)
    gone = delete(sandbox, 3)

    def move(request):
        if "id%7Bgt" in request.url.query and "fields" in request.url.query:
            sandbox.sandbox.intercept = None
            hide(sandbox, 50)

    sandbox.sandbox.intercept = move
    night(bench, sandbox)
    assert sandbox.sandbox.intercept is None
    assert list(marks(bench)) == gone
    assert last(bench).absent == 2
    assert last(bench).total_counted == (last(bench).total_in_tables or 0) - 1
    assert "did not find 1 shipment that the tables have, and could not prove that it is gone" in needs_a_hand(bench)

    bench.settings = settings_for(sandbox, page_size=1000, start_date="2026-03-28")
    sandbox.sandbox.requests.clear()
    night(bench, sandbox)
    assert 0 < (last(bench).compared or 0) < 100
    assert last(bench).absent == 0
    asked = {int(shipment) for listed in asked_by_id(sandbox) for shipment in listed.split(",")}
    store = sandbox.sandbox._store
    assert asked <= set(store.ids[store.updated >= datetime(2026, 3, 28, tzinfo=UTC).timestamp() * 1000].tolist())


def asked_by_id(sandbox) -> list[str]:
    queries = [unquote(request.query) for request in sandbox.sandbox.requests]
    return [ids for query in queries for ids in re.findall(r"id\{in:\[([\d,]+)\]", query)]


def test_that_most_are_gone_is_not_believed(bench, sandbox, settings_for):
    """A token that sees less looks the same. With a larger slice the same shipments are less than half."""
    sandbox.sandbox = Sandbox(FEWER)
    first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, page_size=90)
    delete(sandbox, *range(101))
    sandbox.sandbox.requests.clear()
    _, _, said = night(bench, sandbox)
    assert "found only 90 of 191 shipments" in said[0]
    assert marks(bench) == {}
    asked = {int(shipment) for listed in asked_by_id(sandbox) for shipment in listed.split(",")}
    store = sandbox.sandbox._store
    assert asked <= set(store.ids[store.updated >= datetime(2026, 3, 28, tzinfo=UTC).timestamp() * 1000].tolist())
    assert "did not find 101 shipments" in needs_a_hand(bench)
    bench.settings = settings_for(sandbox, page_size=90, audit_pages=10)
    slice_read(bench, sandbox)
    night(bench, sandbox)
    assert len(marks(bench)) == 101
    longest = max(len(one.query) for one in sandbox.sandbox.requests if "in%3A" in one.query)
    assert longest < 4000


def needs_a_hand(bench) -> str:
    return "\n".join(bench.needs)


def test_after_a_whole_round_the_tables_equal_the_service(bench, sandbox, settings_for):
    """What is deleted behind the round is told by the counts, and found by the next round."""
    first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, page_size=20, audit_pages=3)
    assert status(bench.settings, bench.store).last_audit is None
    gone = delete(sandbox, 90, 40)
    sandbox.sandbox.restore_shipments(gone[1:])
    night(bench, sandbox)
    first = status(bench.settings, bench.store)
    assert first.last_audit is not None
    assert (first.last_audit.after_id, first.last_audit.to_id) == (0, last(bench).to_id)
    assert (first.last_audit.round_shipments, first.last_audit.missing_in_all) == (60, 0)
    text = "\n".join(status_lines(first, ()))
    assert f"ids above 0 up to {first.last_audit.to_id}: 60 shipments compared" in text
    assert "covered 60 of 120 shipments; 0 marked missing in total" in text

    sandbox.sandbox.delete_shipments(gone[1:])
    _, refreshed, _ = night(bench, sandbox)
    assert list(marks(bench)) == gone[:1]
    assert warned(refreshed) == {COUNTS, ROUND}
    found = status(bench.settings, bench.store)
    audit = found.last_audit
    assert audit is not None
    assert (audit.to_id, audit.compared, audit.absent, audit.missing, audit.missing_in_all) == (None, 59, 1, 1, 1)
    assert (audit.round_shipments, audit.shipments) == (120, 120)
    assert "to the end: 59 shipments compared" in "\n".join(status_lines(found, ()))
    assert "could not prove" not in needs_a_hand(bench)

    explained = explain(bench.settings, bench.store, str(gone[0]))
    (absence,) = explained.missing
    assert (absence.window_id, absence.run_id, absence.returned_at) == (audit.window_id, "test", None)
    assert absence.missing_since == marks(bench)[gone[0]]
    lines = "\n".join(explanation_lines(explained))
    assert f"missing     since {absence.missing_since:%Y-%m-%d %H:%M:%S} UTC, until now" in lines
    assert f"audit {audit.window_id} of run test" in lines

    _, refreshed, _ = night(bench, sandbox)
    assert sorted(marks(bench)) == sorted(gone)
    assert warned(refreshed) == {COUNTS, ROUND}
    _, refreshed, _ = night(bench, sandbox)
    assert warned(refreshed) == set()
    assert (last(bench).absent, len(proven(bench))) == (0, 2)
