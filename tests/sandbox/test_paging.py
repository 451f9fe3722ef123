"""Paging (specification 4.6), limits, counting and sorting (4.4)."""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from wms_sandbox.app import SHIPMENTS


def ids(page: dict[str, Any]) -> list[int]:
    return [shipment["id"] for shipment in page["collection"]]


@pytest.fixture(scope="module")
def all_ids(service) -> list[int]:
    return list(service.ids())


@pytest.mark.parametrize("sort", ["id", "-id"])
@pytest.mark.parametrize("limit", [1, 7, 100, 599, 600, 601, 1000])
def test_forwards_every_item_comes_once(service, all_ids: list[int], sort: str, limit: int):
    filters = [("filter", f"id{{lt:{all_ids[40]}}}")] if limit == 1 else []
    pages = list(service.pages(("sort", sort), ("limit", str(limit)), ("fields", "id"), *filters))
    expected = all_ids[:40] if filters else all_ids
    assert [each for page in pages for each in ids(page)] == (expected if sort == "id" else expected[::-1])
    for page in pages:
        assert (page["next"] is not None) is page["has_more"]
        assert (page["meta"]["cursor_start"] is not None) is page["has_more"]
    assert [len(page["collection"]) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    assert pages[-1]["collection"]


@pytest.mark.parametrize("sort", ["id", "-id"])
def test_backwards_every_item_comes_once(service, all_ids: list[int], sort: str):
    in_order = all_ids if sort == "id" else all_ids[::-1]
    *_, page = service.pages(("sort", sort), ("limit", "64"), ("fields", "id"))
    found = ids(page)
    while page["previous"] is not None:
        page = service.client.get(page["previous"]).json()
        found = ids(page) + found
        assert page["has_more"] is (page["previous"] is not None)
        assert page["next"] is not None
    assert found == in_order


@pytest.mark.parametrize("sort", ["id", "-id"])
def test_cursor_start_is_inclusive_and_cursor_end_exclusive(service, all_ids: list[int], sort: str):
    in_order = all_ids if sort == "id" else all_ids[::-1]
    cursor = str(in_order[50])
    assert ids(service.listing(("sort", sort), ("limit", "5"), ("cursor_start", cursor))) == in_order[50:55]
    assert ids(service.listing(("sort", sort), ("limit", "5"), ("cursor_end", cursor))) == in_order[45:50]


def test_a_cursor_may_be_an_unknown_id(service, all_ids: list[int]):
    gap = next(each + 1 for each in all_ids if each + 1 not in all_ids)
    above = [each for each in all_ids if each > gap]
    below = [each for each in all_ids if each < gap]
    assert ids(service.listing(("sort", "id"), ("limit", "5"), ("cursor_start", str(gap)))) == above[:5]
    assert ids(service.listing(("sort", "-id"), ("limit", "5"), ("cursor_start", str(gap)))) == below[::-1][:5]


def test_past_the_end_there_is_an_empty_page(service, all_ids: list[int]):
    page = service.listing(("sort", "id"), ("cursor_start", str(all_ids[-1] + 1)))
    assert (page["collection"], page["has_more"], page["next"]) == ([], False, None)
    assert ids(service.client.get(page["previous"]).json()) == all_ids[-100:]


def test_next_keeps_every_parameter(service):
    asked = [
        ("filter", "updated_at{gt:'2025-01-01T00:00:00+00:00'}"),
        ("filter", "id[{gt:5},{null:true}]"),
        ("fields:order.items", "sku,product"),
        ("sort", "id"),
        ("limit", "3"),
        ("count", "1"),
    ]
    page = service.listing(*asked)
    for _ in range(3):
        link = urlsplit(page["next"])
        assert (link.scheme, link.netloc, link.path) == ("", "", SHIPMENTS)
        assert parse_qsl(link.query) == [*asked, ("cursor_start", str(page["meta"]["cursor_start"]))]
        page = service.client.get(page["next"]).json()
    assert parse_qsl(urlsplit(page["previous"]).query) == [*asked, ("cursor_end", str(ids(page)[0]))]


def test_count_is_of_the_whole_listing(service, all_ids: list[int]):
    filters = ("filter", f"id{{gt:{all_ids[99]}}}")
    for limit in ("1", "1000"):
        assert service.listing(filters, ("limit", limit), ("count", "1"))["meta"]["count"] == 500
    later = service.listing(filters, ("sort", "id"), ("cursor_start", str(all_ids[550])), ("count", "1"))
    assert later["meta"]["count"] == 500
    for parameters in ([], [("count", "0")]):
        assert "count" not in service.listing(filters, *parameters)["meta"]


SORTS: dict[str, Any] = {
    "unique_id": lambda shipment: shipment["unique_id"],
    "created_at": lambda shipment: datetime.fromisoformat(shipment["created_at"]),
    "updated_at": lambda shipment: datetime.fromisoformat(shipment["updated_at"]),
    "packed_at": lambda shipment: (shipment.get("packed_at") is not None, shipment.get("packed_at") or ""),
}


@pytest.mark.parametrize("field", SORTS)
@pytest.mark.parametrize("sign", ["", "-"])
def test_other_sorts(service, field: str, sign: str):
    found = service.listing(("sort", f"{sign}{field}"), ("limit", "1000"))["collection"]
    values = [SORTS[field](shipment) for shipment in found]
    assert len(values) == 600
    assert values == sorted(values, reverse=sign == "-")


def test_sort_by_merchant_then_id_falling(service):
    page = service.listing(("sort", "merchant_id,-id"), ("limit", "1000"), ("fields:order", "merchant"))
    merchants = {order["id"]: order["merchant"]["id"] for order in page["included"]["Order"]}
    keys = [(merchants[shipment["order"]["id"]], -shipment["id"]) for shipment in page["collection"]]
    assert keys == sorted(keys)
    assert len({merchant for merchant, _ in keys}) > 5
