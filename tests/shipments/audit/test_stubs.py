"""A deleted shipment that the service keeps in its list as a stub: nothing is replaced, and it is marked as missing."""

import pytest

from tests.bench import queried
from tests.oracle import differences, expected_tables
from tests.shipments.audit.test_audit import audits, night, one_page, warned
from tests.shipments.audit.test_missing_shipments import marks, proven, touch
from wms_sync.reports.explain import explain, explanation_lines
from wms_sync.shipments.flatten.values import SAYS_DELETED, SAYS_NOTHING
from wms_sync.shipments.load.refresh import rebuild

SHIPMENTS_HELD = 60


def serve_as_stubs(sandbox, stubs: dict[int, dict[str, object]]) -> None:
    """Serve shipments as stubs from now on: by place, what each says."""
    says = {int(sandbox.sandbox._store.ids[index]): said for index, said in stubs.items()}
    sandbox.sandbox.rewrite = lambda page: (
        page
        | {
            "collection": [
                {key: one[key] for key in ("type", "id", "updated_at")} | says[one["id"]] if one["id"] in says else one
                for one in page["collection"]
            ]
        }
    )


def tables(bench):
    """Every row of the shipments and their parts, and the history, with where they came from."""
    return [
        queried(bench.layout.published, f"from {table} order by all")
        for table in ("main.shipments", "shipment_items", "packages", "history.shipments")
    ]


STUBS: dict[int, dict[str, object]] = {
    3: {"is_deleted": True},
    5: {"deleted_at": "2026-04-01T00:00:00Z"},
    20: {},
    40: {"status": "deleted"},
    50: {"deleted": True},
}
SILENT, NOTICED = 20, (3, 20, 40)
"""The stub that says nothing, and those whose ``updated_at`` changed, so that the sync reads them too."""


@pytest.mark.proof
def test_stubs_replace_nothing_and_mark_what_is_deleted(bench, sandbox, settings_for):
    """Until a page shows the shipment again; and so does a rebuild where nothing but pages is left."""
    bench.first_sync(sandbox)
    one_page(bench, sandbox, settings_for)
    bench.recover()
    expected = expected_tables(sandbox)
    ids = sandbox.sandbox._store.ids.tolist()
    gone = [ids[index] for index in STUBS if index != SILENT]
    touch(sandbox, *NOTICED)
    serve_as_stubs(sandbox, STUBS)

    refreshed = night(bench, sandbox)

    assert (refreshed.merged.get("shipments", 0), refreshed.rows["shipments"], refreshed.quarantined) == (0, 60, 5)
    assert list(marks(bench)) == gone
    with bench.published() as connection:
        assert [text for text in differences(connection, expected) if text.startswith("shipment")] == []
    query = "select distinct object_id, why from ops.quarantine where object = 'Shipment' order by all"
    assert dict(queried(bench.layout.published, query)) == {
        ids[index]: SAYS_NOTHING if index == SILENT else SAYS_DELETED for index in STUBS
    }
    query = "select compared, changed, missed, absent, missing from ops.audits"
    assert queried(bench.layout.published, query) == [(55, 0, 0, 2, 2)], "the sync did not know of two"
    explained = explanation_lines(*explain(bench.settings, bench.store, str(gone[0])))
    assert any("a page showed it as a stub marked deleted" in line for line in explained)

    touch(sandbox, 3)
    serve_as_stubs(sandbox, {index: says for index, says in STUBS.items() if index != 3})
    sandbox.sandbox.advance(seconds=3600)
    bench.read()
    touch(sandbox, 3)
    serve_as_stubs(sandbox, STUBS)
    sandbox.sandbox.delete_shipments([ids[5], ids[50]])
    refreshed = night(bench, sandbox)
    assert ([audit.absent for audit in audits(bench)], warned(refreshed)) == ([2, 0], set())
    before, marked, known = tables(bench), marks(bench), proven(bench)
    assert list(marked) == gone
    assert [shipment for shipment, *_, returned in known if returned] == gone[:1]
    assert len(known) == len(gone) + 1

    bench.lose_the_state_store()
    bench.layout.published.unlink()
    bench.recover()
    rebuild(bench.run)
    assert (tables(bench), marks(bench), proven(bench)) == (before, marked, known)
