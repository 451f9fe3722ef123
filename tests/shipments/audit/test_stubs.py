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
def test_stubs_replace_nothing_and_mark_what_is_deleted(synced, sandbox, settings_for):
    """Until a page shows the shipment again; and so does a rebuild where nothing but pages is left."""
    one_page(synced, sandbox, settings_for)
    synced.recover()
    expected = expected_tables(sandbox)
    ids = sandbox.sandbox._store.ids.tolist()
    gone = [ids[index] for index in STUBS if index != SILENT]
    touch(sandbox, *NOTICED)
    serve_as_stubs(sandbox, STUBS)

    refreshed = night(synced, sandbox)

    assert (refreshed.merged.get("shipments", 0), refreshed.rows["shipments"], refreshed.quarantined) == (0, 60, 5)
    assert list(marks(synced)) == gone
    with synced.published() as connection:
        assert [text for text in differences(connection, expected) if text.startswith("shipment")] == []
    query = "select distinct object_id, why from ops.quarantine where object = 'Shipment' order by all"
    assert dict(queried(synced.layout.published, query)) == {
        ids[index]: SAYS_NOTHING if index == SILENT else SAYS_DELETED for index in STUBS
    }
    assert queried(synced.layout.published, "select compared, changed, missed, absent, missing from ops.audits") == [
        (55, 0, 0, 2, 2)
    ], "the sync did not know of two"
    explained = explanation_lines(*explain(synced.settings, synced.store, str(gone[0])))
    assert any("a page showed it as a stub marked deleted" in line for line in explained)

    touch(sandbox, 3)
    serve_as_stubs(sandbox, {index: says for index, says in STUBS.items() if index != 3})
    sandbox.sandbox.advance(seconds=3600)
    synced.read()
    touch(sandbox, 3)
    serve_as_stubs(sandbox, STUBS)
    sandbox.sandbox.delete_shipments([ids[5], ids[50]])
    refreshed = night(synced, sandbox)
    assert ([audit.absent for audit in audits(synced)], warned(refreshed)) == ([2, 0], set())
    before, marked, known = tables(synced), marks(synced), proven(synced)
    came_back = [shipment for shipment, *_, returned in known if returned]
    assert (list(marked), came_back, len(known)) == (gone, gone[:1], len(gone) + 1)

    synced.lose_the_state_store()
    synced.layout.published.unlink()
    synced.recover()
    rebuild(synced.run)
    assert (tables(synced), marks(synced), proven(synced)) == (before, marked, known)
