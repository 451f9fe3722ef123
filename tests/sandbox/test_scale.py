"""Many shipments: the store keeps their columns only, and pages anywhere are right."""

from collections.abc import Callable
from typing import Any

import pytest

from wms_sandbox.config import SandboxConfig


@pytest.fixture(scope="module")
def many(start: Callable[..., Any]) -> Any:
    return start(shipments=200_000, families=40)


def test_every_shipment_is_counted(many):
    assert many.listing(("count", "1"), ("limit", "1"))["meta"]["count"] == 200_000


def test_windows_part_the_whole(many):
    days = [("2000-01-01", "2025-04-01"), ("2025-04-01", "2025-05-31"), ("2025-05-31", "2025-06-02")]
    counts = [
        many.listing(("filter", f"updated_at{{from:'{day}',lt:'{end}'}}"), ("count", "1"), ("limit", "1"))["meta"][
            "count"
        ]
        for day, end in days
    ]
    assert sum(counts) == 200_000
    assert all(counts)


def test_pages_at_both_ends_and_between(many):
    last = many.listing(("limit", "3"))["collection"]
    highest = last[0]["id"]
    for cursor in (1, highest // 2, highest - 10):
        page = many.listing(("sort", "id"), ("limit", "1000"), ("cursor_start", str(cursor)))
        ids = [shipment["id"] for shipment in page["collection"]]
        assert ids == sorted(set(ids))
        assert cursor <= ids[0] <= max(cursor + 6, 100_006)
        assert page["has_more"] is (len(ids) == 1000)


def test_ids_are_unique_across_shipments(many):
    seen: set[str] = set()
    page = many.listing(("sort", "id"), ("limit", "1000"), ("fields:items", "sku"), ("fields:order", "unique_id"))
    for things in (page["collection"], *page["included"].values()):
        ids = [thing["id"] for thing in things]
        assert len(set(ids)) == len(ids)
    seen.update(shipment["unique_id"] for shipment in page["collection"])
    assert len(seen) == 1000


@pytest.mark.parametrize("wrong", [{"shipments": -1}, {"days": 0}, {"families": 3}])
def test_impossible_settings_are_refused(wrong: dict[str, int]):
    with pytest.raises(ValueError, match="needs"):
        SandboxConfig(**wrong)  # type: ignore[arg-type]
