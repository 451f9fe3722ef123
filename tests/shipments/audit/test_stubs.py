"""A deleted shipment that the service keeps in its list as a stub: nothing is replaced, and it is marked as missing."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from tests.conftest import CONFIG, opened_store
from tests.oracle import differences, expected_tables
from tests.shipments.audit.test_audit import DIFFERS, audits, last, night, one_page, slice_read, store, warned
from tests.shipments.audit.test_missing_shipments import marks, proven
from tests.test_sync import first_synced, published, synced
from wms_sandbox.app import Sandbox
from wms_sync.reports.explain import explain, explanation_lines
from wms_sync.shipments.flatten.values import SAYS_DELETED, SAYS_NOTHING
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.upkeep.recovery import recover

NIGHT = 3600


@pytest.fixture
def sandbox(in_process):
    in_process.sandbox = Sandbox(replace(CONFIG, shipments=60, families=20))
    return in_process


def serve_as_stubs(sandbox, *indexes: int, notices: bool = True, **says: object) -> list[int]:
    """Serve shipments as stubs from now on, and let an hour pass; with ``notices``, they changed before that."""
    with store(sandbox) as held:
        ids = [int(held.ids[index]) for index in indexes]
    if notices:
        touch(sandbox, *indexes)

    def rewritten(page):
        page["collection"] = [
            {key: one[key] for key in ("type", "id", "updated_at")} | says if one["id"] in ids else one
            for one in page["collection"]
        ]
        return page

    sandbox.sandbox.rewrite = rewritten
    sandbox.sandbox.advance(seconds=NIGHT)
    return ids


def touch(sandbox, *indexes: int) -> None:
    with store(sandbox) as held:
        held.updated[list(indexes)] = sandbox.sandbox.clock.now()
        held.revision[list(indexes)] += 1


def serve_in_full(sandbox, *indexes: int) -> None:
    """Serve everything in full again, and let an hour pass after these changed."""
    sandbox.sandbox.rewrite = None
    touch(sandbox, *indexes)
    sandbox.sandbox.advance(seconds=NIGHT)


def tables(bench):
    """Every row of the shipments and their parts, and the history, without where they came from."""
    with published(bench) as connection:
        return {
            table: connection.execute(f"select * from {table} order by all").fetchall()
            for table in ("main.shipments", "shipment_items", "packages", "history.shipments")
        }


def put_aside(bench):
    with published(bench) as connection:
        query = "select distinct object_id, why from ops.quarantine where object = 'Shipment' order by all"
        return connection.execute(query).fetchall()


def test_a_stub_that_says_deleted_marks_the_shipment(bench, sandbox, settings_for):
    """It replaces nothing; the mark goes when the shipment comes again, and is there after a rebuild from pages."""
    first_synced(bench, sandbox)
    bench.settings = settings_for(sandbox, audit_pages=0)
    recover(bench.run)
    expected = expected_tables(sandbox)
    gone = serve_as_stubs(sandbox, 3, 40, is_deleted=True)

    read, refreshed = synced(bench)

    assert (read.progress.records, refreshed.merged.get("shipments", 0)) == (2, 0)
    assert (refreshed.quarantined, refreshed.rows["shipments"]) == (2, 60)
    assert put_aside(bench) == [(shipment, SAYS_DELETED) for shipment in gone]
    marked = marks(bench)
    assert list(marked) == gone
    with published(bench) as connection:
        assert [one for one in differences(connection, expected) if one.startswith("shipment")] == []
    lines = "\n".join(explanation_lines(explain(bench.settings, bench.store, str(gone[0]))))
    assert "a page showed it as a stub marked deleted" in lines
    assert SAYS_DELETED in lines

    serve_in_full(sandbox, 3)
    synced(bench)
    assert list(marks(bench)) == gone[1:]

    serve_as_stubs(sandbox, 3, status="deleted")
    synced(bench)
    before, marked, known = tables(bench), marks(bench), proven(bench)
    assert list(marked) == gone
    assert len(known) == 3
    lose_all_but_pages(bench)
    recover(bench.run)
    rebuild(bench.run)
    assert (tables(bench), marks(bench), proven(bench)) == (before, marked, known)


def lose_all_but_pages(bench) -> None:
    """No state store and no tables are left: stub, full and stub are merged at once."""
    bench.store.close()
    for path in (*bench.settings.data_dir.glob("state.db*"), *bench.settings.data_dir.glob("analytics.duckdb*")):
        path.unlink()
    shutil.rmtree(bench.settings.data_dir / "work", ignore_errors=True)
    bench.store = opened_store(bench.settings)


def test_an_audit_meets_stubs_of_which_the_sync_knows_or_not(bench, sandbox, settings_for):
    """One that says nothing replaces and marks nothing: alone on its page, no other record shows what it lacks."""
    first_synced(bench, sandbox)
    one_page(bench, sandbox, settings_for)
    before = tables(bench)
    silent = serve_as_stubs(sandbox, 20)
    _, refreshed = synced(bench)
    assert refreshed.merged.get("shipments", 0) == 0
    assert put_aside(bench) == [(silent[0], SAYS_NOTHING)]
    assert (tables(bench), marks(bench)) == (before, {})

    say_nothing = sandbox.sandbox.rewrite
    touch(sandbox, 3, 40)
    gone = serve_as_stubs(sandbox, 3, 5, 40, 50, deleted_at="2026-04-01T00:00:00Z", notices=False)
    say_deleted = sandbox.sandbox.rewrite
    sandbox.sandbox.rewrite = lambda page: say_nothing(say_deleted(page))
    _, refreshed, _ = night(bench, sandbox)
    found = last(bench)
    assert list(marks(bench)) == gone
    assert (found.compared, found.changed, found.missed) == (55, 0, 0)
    with published(bench) as connection:
        ((absent, missing),) = connection.execute("select absent, missing from ops.audits").fetchall()
    assert (absent, missing) == (2, 2), "of which the sync did not know"
    assert DIFFERS not in warned(refreshed)

    slice_read(bench, sandbox)
    sandbox.sandbox.rewrite = say_nothing
    sandbox.sandbox.delete_shipments(gone)
    _, refreshed, _ = night(bench, sandbox)
    assert ([audit.absent for audit in audits(bench)], warned(refreshed)) == ([2, 0, 0], set())
    assert list(marks(bench)) == gone
