"""The cases of the listing (4.4 to 4.6, 5.1, 8)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.sandbox.case import Case, gives, has_ids, has_status, is_sorted, listing, refused, walks
from wms_sandbox.app import ADVANCE, SHIPMENTS, STATUS

EMPTY = {"collection": [], "included": {}, "has_more": False, "next": None, "previous": None}
LIMITS = (7, 64, 100, 599, 600, 601, 1000)
SORTS: dict[str, Callable[[Any], Any]] = {
    "unique_id": lambda shipment: shipment["unique_id"],
    "created_at": lambda shipment: datetime.fromisoformat(shipment["created_at"]),
    "updated_at": lambda shipment: datetime.fromisoformat(shipment["updated_at"]),
    "packed_at": lambda shipment: (shipment.get("packed_at") is not None, shipment.get("packed_at") or ""),
}


def at_cursor(sort: str, name: str, cursor: int) -> Case:
    """Five shipments from a cursor on, with its own; or the five before it."""

    def select(ids: list[int]) -> list[int]:
        before = [key for key in ids if key < cursor] if sort == "id" else [key for key in ids[::-1] if key > cursor]
        after = [key for key in (ids if sort == "id" else ids[::-1]) if key not in before]
        return after[:5] if name == "cursor_start" else before[-5:]

    return listing("4.6", f"sort={sort}&limit=5&{name}={cursor}", has_ids(select))


CASES = [
    # tokens
    *(
        Case("5.1", "GET", path, has_status(401), headers={"Authorization": token})
        for token in (
            None,
            "",
            "Bearer",
            "Bearer wrong",
            "bearer a-token",
            "Bearer  a-token",
            "Basic a-token",
            "a-token",
        )
        for path in (SHIPMENTS, f"{SHIPMENTS}?limit=wrong", STATUS, ADVANCE, "/nowhere")
    ),
    Case("facts", "GET", STATUS, has_status(200)),
    Case("4", "GET", "/api/global/v1/shipping/shipment", has_status(404)),
    Case("4.4", "POST", SHIPMENTS, has_status(405)),
    # parameters
    *(listing("8", f"limit={value}", refused("limit")) for value in ("0", "1001", "-1", "x", "", "1.5", "1e2")),
    *(listing("8", f"count={value}", refused("count")) for value in ("2", "-1", "true", "")),
    *(
        listing("4.4", f"{name}={value}", refused(name))
        for name in ("cursor_start", "cursor_end")
        for value in ("x", "-5", "", "9" * 20)
    ),
    *(
        listing("4.4", f"sort={value}", refused("sort"))
        for value in ("", "status", "id,", "--id", "+id", "ID", "id,nothing", "target_ship_date")
    ),
    *(listing("4.4", f"{name}=2", refused(name)) for name in ("page", "field", "cursor")),
    listing("4.4", "limit=5&limit=6", refused("limit")),
    listing("4.4", "cursor_start=1&cursor_end=2", refused("cursor_end")),
    *(
        listing("facts", f"sort={sort}&{name}=5", refused(name))
        for sort in ("updated_at", "-created_at", "id,updated_at", "merchant_id")
        for name in ("cursor_start", "cursor_end")
    ),
    listing("4.5", "fields=nothing", refused("fields")),
    *(
        listing("4.5", f"fields:{path}=all", refused(f"fields:{path}"))
        for path in ("", "orders", "order.shipments", "items.order_item", "order.items.product.merchant")
    ),
    # pages
    listing("4.4", "count=0", has_ids(lambda ids: ids[::-1][:100])),
    listing("4.6", "sort=id&limit=5&cursor_start=1", has_ids(lambda ids: ids[:5])),
    listing(
        "4.4", "filter=id:1&count=1", gives(lambda page: EMPTY.items() <= page.items() and not page["meta"]["count"])
    ),
    listing("4.6", "count=1&limit=1", gives(lambda page: page["meta"]["count"] == 600)),
    listing(
        "4.6", "limit=1", gives(lambda page: sorted(page["meta"]) == ["cursor_end", "cursor_start", "processing_time"])
    ),
    listing("2.6", "limit=1", gives(lambda page: list(page) == [*EMPTY, "meta"])),
    listing("facts", "sort=updated_at&limit=5", gives(lambda page: page["has_more"])),
    listing("facts", "sort=updated_at&limit=1000", gives(lambda page: page["next"] is page["previous"] is None)),
    listing(
        "4.5",
        "fields=status,order&limit=1",
        gives(lambda page: list(page["collection"][0]) == ["type", "id", "status", "order"]),
    ),
    listing("4.5", "fields=id&limit=1", gives(lambda page: list(page["collection"][0]) == ["type", "id"])),
    # from page to page
    *(listing("4.6", f"sort=id&limit={limit}&fields=id", walks(lambda ids: ids)) for limit in LIMITS),
    *(listing("4.6", f"sort=-id&limit={limit}&fields=id", walks(lambda ids: ids[::-1])) for limit in LIMITS),
    listing("4.6", "sort=id&limit=1&filter=id{lt:100200}", walks(lambda ids: [key for key in ids if key < 100200])),
    listing(
        "4.6",
        'filter=updated_at{gt:"2025-01-01T00:00:00+00:00"}&filter=id[{gt:5},{null:true}]&fields:order.items=sku,product'
        "&sort=id&limit=50&count=1",
        walks(lambda ids: ids),
    ),
    *(
        at_cursor(sort, name, cursor)
        for sort in ("id", "-id")
        for name in ("cursor_start", "cursor_end")
        for cursor in range(100_500, 100_508)  # some are the id of a shipment, and some of none
    ),
    listing(
        "4.6",
        "sort=id&cursor_start=900000",
        gives(lambda page: (page["collection"], page["has_more"], page["next"]) == ([], False, None)),
    ),
    *(
        listing("4.4", f"filter=id{{gt:100500}}&count=1&{more}", gives(lambda page: page["meta"]["count"] == 433))
        for more in ("limit=1", "limit=1000", "sort=id&cursor_start=101000")
    ),
    *(
        listing("4.4", f"sort={sign}{field}&limit=1000", is_sorted(key, falling=sign == "-"))
        for field, key in SORTS.items()
        for sign in ("", "-")
    ),
]
