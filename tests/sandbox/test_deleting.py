"""Deleting shipments, and showing them again: the vendor's interface has no path for it, so the sandbox has its own."""

from collections.abc import Callable

import pytest

from tests.sandbox.conftest import Service
from wms_sandbox.app import DELETE_SHIPMENTS, RESTORE_SHIPMENTS

COUNTED = (("count", "1"), ("limit", "1"))


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=120, families=40)


def test_what_is_deleted_is_in_no_listing_and_in_no_count_and_comes_back_as_it_was(fresh: Service):
    before = fresh.ids()
    gone = [before[0], before[50], before[-1]]
    shown = fresh.listing(("filter", f"id:{gone[1]}"), ("fields", "all"))["collection"]
    assert fresh.client.post(DELETE_SHIPMENTS, json={"ids": gone}).status_code == 200
    left = [one for one in before if one not in gone]
    assert fresh.ids() == left
    assert fresh.ids(("filter", f"id{{in:{[*gone, left[0]]}}}")) == [left[0]]
    assert fresh.listing(*COUNTED)["meta"]["count"] == len(left)
    pages = list(fresh.pages(("sort", "id"), ("limit", "10"), ("filter", "updated_at{gt:'2000-01-01'}")))
    assert [one["id"] for page in pages for one in page["collection"]] == left
    assert fresh.client.post(RESTORE_SHIPMENTS, json={"ids": gone}).status_code == 200
    assert fresh.ids() == before
    assert fresh.listing(("filter", f"id:{gone[1]}"), ("fields", "all"))["collection"] == shown


def test_what_is_deleted_does_not_change_when_time_passes(fresh: Service):
    gone = fresh.ids()[10:40]
    fresh.sandbox.delete_shipments(gone)
    done = fresh.sandbox.advance(changed=1000, orders=1000, new=5)
    assert len(done.changed) == 90
    assert not {*done.changed, *done.order_shipments, *done.new} & set(gone)


def test_only_shipments_can_be_deleted(fresh: Service):
    for wrong in ([1], [fresh.ids()[0], 10**12]):
        with pytest.raises(LookupError, match="are shipments"):
            fresh.sandbox.delete_shipments(wrong)
        assert fresh.client.post(DELETE_SHIPMENTS, json={"ids": wrong}).status_code == 404
    assert fresh.client.post(DELETE_SHIPMENTS, json={"ids": ["x"]}).status_code == 400
    assert fresh.client.post(RESTORE_SHIPMENTS, content=b"{").status_code == 400
    assert len(fresh.ids()) == 120
