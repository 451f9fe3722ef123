"""Pages with and without persons in them: what is found, what is taken out, what stays as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sync.privacy.fields import KEPT, PERSON, fields_of
from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service.envelope import read_envelope
from wms_sync.service.selection import Selection
from wms_sync.shipments.flatten.shape import create_types, shape_of

ADDRESS = {"type": "OrderAddress", "id": 5, "first_name": "Jane", "street": ["1 Main St"], "is_valid": True}
CANDIDATE = {"type": "OrderAddressCandidate", "id": 6, "address_id": 5, "street": "1 Main St", "country_code": "US"}
LOCATION = {"type": "RetailerShipToLocation", "id": 7, "code": "L7", "city": "Reno", "telephone": "555", "email": None}


def page(order: dict[str, Any] | None = None, **included: Any) -> dict[str, Any]:
    return {
        "collection": [{"type": "Shipment", "id": 1, "order": {"type": "Order", "id": 3}}],
        "included": {"Order": [{"type": "Order", "id": 3, **(order or {})}], **included},
        "has_more": False,
        "next": None,
        "previous": None,
        "meta": {"processing_time": 0.125, "count": 1},
    }


def as_bytes(document: Any) -> bytes:
    return json.dumps(document).encode()


UNASKED: dict[str, dict[str, Any]] = {
    "an included address": page(OrderAddress=[ADDRESS]),
    "an address without a name": page(OrderAddress=[{"type": "OrderAddress", "id": 5, "city": "Jane's Ville"}]),
    "an address inside the order": page({"shipping_address": {"id": 5, "company": "Jane Ltd"}}),
    "the original address": page({"original_address": ADDRESS}),
    "a country that is more than a text": page(OrderAddress=[{"id": 5, "country": {"name": "Jane"}}]),
    "a region that is a list": page({"shipping_address": {"id": 5, "region": ["Jane"]}}),
    "an address as one text": page({"shipping_address": "Jane, 1 Main St"}),
    "an address as a list of lines": page({"shipping_address": ["Jane", "1 Main St"]}),
    "a text among addresses": page(OrderAddress=["Jane, 1 Main St", ADDRESS]),
    "a field of an address that is new": page(OrderAddress=[{"type": "OrderAddress", "id": 5, "nickname": "Jane"}]),
    "an included candidate": page(OrderAddressCandidate=[CANDIDATE | {"street": "Jane's Way"}]),
    "a candidate inside the order": page({"address_candidates": [{"id": 6, "city": "Jane"}]}),
    "the telephone of a place": page(RetailerShipToLocation=[LOCATION | {"telephone": "Jane"}]),
    "the email of a place": page(RetailerShipToLocation=[LOCATION | {"email": "Jane@example.test"}]),
    "a place inside the order": page({"mark_for_location": LOCATION | {"email": "Jane@example.test"}}),
    "a key of the order that is new": page({"billing_address": {"first_name": "Jane", "city": "Reno"}}),
    "a kind that is new": page(Customer=[{"type": "Customer", "id": 9, "email": "Jane@example.test"}]),
    "the user of a status": page(OrderStatusHistory=[{"id": 8, "user": {"id": 4, "email": "Jane@example.test"}}]),
    "a key of the shipment that is new": page() | {"collection": [{"id": 1, "notify": {"email": "Jane@example.test"}}]},
    "a key of the page that is new": page() | {"signed_by": {"last_name": "Jane"}},
    "a key of a kind that holds nobody": page(Warehouse=[{"id": 1, "manager": {"telephone": "Jane"}}]),
    "free-form data": page({"automation_data": {"steps": [{"told": [{"email": "Jane@example.test"}]}]}}),
    "deep in what is new": page({"visits": [[{"by": {"who": [{"first_name": "Jane"}]}}]]}),
    "beside custom fields with the same key": page(
        {"custom_fields": {"email": {"value": "shop@example.test"}}, "buyer": {"email": "Jane@example.test"}}
    ),
    "in the custom fields' name, one object up": page({"custom_fields": {}, "email": "Jane@example.test"}),
    "a key with a blank behind it": page({"buyer": {"NAME ": "Jane"}}),
    "a key written with an escape": page({"buyer": {"ESCAPED": "Jane"}}),
    "a whole order in the shipment": page()
    | {"collection": [{"id": 1, "order": {"id": 3, "shipping_address": ADDRESS}}]},
    "a whole order without a name": page()
    | {"collection": [{"id": 1, "order": {"id": 3, "original_address": {"id": 5, "city": "Jane's Ville"}}}]},
}
SPELT = {b'"NAME "': b'"last_name" \n\t', b'"ESCAPED"': b'"first\\u005Fname"'}


@pytest.mark.parametrize("case", UNASKED)
def test_unrequested_persons_are_taken_out(case):
    content = as_bytes(UNASKED[case])
    for written, spelt in SPELT.items():
        content = content.replace(written, spelt)
    assert b"Jane" in content
    assert read_envelope(content, watched=True).suspect
    assert not read_envelope(content).suspect
    clean = without_persons(content)
    assert clean is not None
    assert b"Jane" not in clean
    assert not PERSON & set(json.loads(clean)["included"]["Order"][0])
    assert without_persons(clean) is None
    assert not read_envelope(clean, watched=True).suspect


SENT = b"""{ "collection" : [ {"id":1 ,"a" :12345678901234567890.10}, %s ], "included":{}, "has_more":false}"""


@pytest.mark.parametrize(
    "hiding",
    [
        b'{"email":1,"email":2}',
        b'{"a":1,"email":"J","a":1}',
        b'{"a":{"email":"J"},"a":0}',
        b'{"\\u0065mail":1}',
        b'{"email":1,"a":"\xff"}',
        b'{"email":1,"a":NaN}',
        b'{"a":' * 50 + b'{"email":1}' + b"}" * 50,
        b'{"a":' * 5000 + b'{"email":1}' + b"}" * 5000,
    ],
    ids=range(8),
)
def test_a_person_hidden_from_parsers_is_taken_out(hiding):
    clean = without_persons(SENT % hiding)
    assert clean is not None
    assert not any(key in clean for key in (b"email", b"J"))


def test_scrubbed_pages_keep_every_digit():
    clean = without_persons(SENT % b'{"id":2,"by":{"email":"J"},"big":123456789012345678901234,"b":1.50e+01,"z":0.1}')
    assert clean is not None
    first, second = json.loads(clean, parse_float=Decimal)["collection"]
    assert first == {"id": 1, "a": Decimal("12345678901234567890.10")}
    assert second == {"id": 2, "by": {}, "big": 123456789012345678901234, "b": Decimal(15), "z": Decimal("0.1")}


@pytest.mark.parametrize("key", sorted(PERSON))
def test_a_key_may_be_written_with_escapes(key):
    for at, letter in enumerate(key):
        for escape in {f"\\u{ord(letter):04x}", f"\\u{ord(letter):04X}"}:
            written = f'"{key[:at]}{escape}{key[at + 1 :]}"'.encode()
            content = as_bytes(page({"buyer": {"KEY": "Jane"}})).replace(b'"KEY"', written)
            assert key in json.loads(content)["included"]["Order"][0]["buyer"]
            assert read_envelope(content, watched=True).suspect, written
            assert b"Jane" not in (without_persons(content) or b"Jane"), written


def test_where_an_order_went_stays_until_forgotten():
    kept = {"type": "OrderAddress", "id": 5, "country": "US", "region": "Nevada", "classification": None}
    content = as_bytes(page({"shipping_address": {"type": "OrderAddress", "id": 5}}, OrderAddress=[kept]))
    assert not read_envelope(content, watched=True).suspect
    clean = without_orders(content, [3])
    assert clean is not None
    assert json.loads(clean)["included"]["OrderAddress"] == [{"type": "OrderAddress", "id": 5}]
    whole = as_bytes(page(OrderAddress=[ADDRESS | kept]))
    assert json.loads(without_persons(whole) or b"")["included"]["OrderAddress"] == [kept]


def test_what_is_not_personal_stays():
    document = page({"address_candidates": [{"id": 6}]}, OrderAddress=[ADDRESS], OrderAddressCandidate=[CANDIDATE])
    document["included"]["RetailerShipToLocation"] = [LOCATION]
    clean = without_persons(as_bytes(document))
    assert clean is not None
    assert json.loads(clean)["included"] == {
        "Order": [{"type": "Order", "id": 3, "address_candidates": [{"id": 6}]}],
        "OrderAddress": [{"type": "OrderAddress", "id": 5}],
        "OrderAddressCandidate": [{"type": "OrderAddressCandidate", "id": 6, "address_id": 5, "country_code": "US"}],
        "RetailerShipToLocation": [{"type": "RetailerShipToLocation", "id": 7, "code": "L7", "city": "Reno"}],
    }


PRODUCT = {"id": 9, "custom_fields": [{"email": "shop@example.test"}]}
OF_NOBODY = [
    # the page, and whether it only looks as if it speaks of somebody
    *(
        (page(order, Zone=[{"id": 1}]), False)
        for order in (
            {"customer_note": "call Jane, email her"},
            {"gift_wrap": {"colour": "red"}},
            {"custom_fields": {"email": {"value": "a@b.test"}, "told": [{"last_name": "Shop", "email": "no"}]}},
            {"notify_by": "email", "ways": ["telephone", "email"]},
            {"customer_note": 'he wrote "email": and \x7f\u00e9'},
            {"shipping_address": {"type": "OrderAddress", "id": 5}, "original_address": None},
        )
    ),
    (page() | {"collection": [{"id": 1, "items": [{"id": 2, "product": PRODUCT}]}]}, True),
    (page({"customer_note": r"it said \u0065mail"}), True),
]


@pytest.mark.parametrize(("document", "suspect"), OF_NOBODY)
def test_a_page_without_persons_stays_as_it_came(document, suspect):
    content = as_bytes(document)
    assert read_envelope(content, watched=True).suspect == suspect
    assert without_persons(content) is None


@pytest.mark.parametrize(
    "odd",
    [b"NaN", b'"M\xfcller"', b'"\\ud83d"', *(b'{"a":[' * 20_000 + inmost + b"]}" * 20_000 for inmost in (b"", b"NaN"))],
    ids=range(5),
)
def test_a_page_of_odd_json_is_scrubbed_too(odd):
    content = as_bytes(page(OrderAddress=[ADDRESS])).replace(b"0.125", odd)
    clean = without_persons(content)
    assert clean is not None
    assert b"Jane" not in clean
    assert without_orders(as_bytes(page()).replace(b"0.125", odd), {3}) is None


SHIPPING = {"shipping_address": {"type": "OrderAddress", "id": 5}}
FORGOTTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "its id is text": ('"3"', page(SHIPPING, OrderAddress=[ADDRESS])),
    "its id has a point": ("3.0", page(SHIPPING, OrderAddress=[ADDRESS])),
    "its id has zeros before it": ('"003"', page(SHIPPING, OrderAddress=[ADDRESS])),
    "a reference is text": ("3", page({"shipping_address": {"id": "5"}}, OrderAddress=[ADDRESS])),
    "an included id is text": ("3", page(SHIPPING, OrderAddress=[ADDRESS | {"id": "5"}])),
    "a reference is a bare id": ("3", page({"shipping_address": 5}, OrderAddress=[ADDRESS])),
    "a candidate inside the order": ("3", page({"address_candidates": [CANDIDATE | {"street": "Jane's Way"}]})),
    "an address that nobody refers to": ("3", page(OrderAddress=[ADDRESS])),
    "an address as a list of lines": ("3", page({"shipping_address": ["Jane", "1 Main St"]})),
    "an address under another key": ("3", page({"billing_address": ADDRESS})),
    "whoever it refers to": ("3", page({"by": {"type": "User", "id": 9}}, User=[{"id": "9", "email": "Jane@x.test"}])),
    "whoever its history refers to": (
        "3",
        page(
            {"status_history": [{"type": "OrderStatusHistory", "id": 8}]},
            OrderStatusHistory=[{"id": 8, "user": {"type": "User", "id": 9}}],
            User=[{"type": "User", "id": 9, "last_name": "Jane"}],
        ),
    ),
    "it is not in a list": ("3", page() | {"included": {"Order": {"0": {"type": "Order", "id": 3, "by": ADDRESS}}}}),
    "it stands in its shipment": (
        "4",
        page() | {"collection": [{"id": 1, "order": {"id": "3", "shipping_address": ADDRESS}}]},
    ),
}


@pytest.mark.parametrize("case", FORGOTTEN)
def test_a_forgotten_order_loses_its_persons(case):
    """Beside it stands an order with a person of its own, and a company's contact: they stay."""
    id_, document = FORGOTTEN[case]
    other = {
        "type": "Order",
        "id": 40,
        "shipping_address": {"type": "OrderAddress", "id": "50"},
        "email": "Joan@x.test",
    }
    document["collection"].append({"type": "Shipment", "id": 2, "order": {"type": "Order", "id": 40}})
    included = document["included"]
    orders = included["Order"]
    orders.update({"1": other}) if isinstance(orders, dict) else orders.append(other)
    included.setdefault("OrderAddress", []).append(ADDRESS | {"id": 50, "first_name": "Joan"})
    own = {"order": {"id": 3}, "email": {"value": "Joan@x.test"}}
    included["Merchant"] = [{"type": "Merchant", "id": 5, "email": "Joan@x.test", "custom_fields": own}]
    included["Zone"] = 7
    content = as_bytes(document).replace(b'{"type": "Order", "id": 3', b'{"type": "Order", "id": %s' % id_.encode())
    clean = without_orders(content, {3})
    assert clean is not None
    assert b"Jane" not in clean
    assert clean.count(b"Joan") == content.count(b"Joan")
    assert without_orders(clean, {3}) is None
    assert without_orders(content, {99}) is None


def test_an_order_with_an_email_keeps_known_fields():
    known = {"type": "Order", "id": 3, "status": "new", "items": [{"id": 4, "sku": "A"}], "custom_fields": {"email": 1}}
    document = page(known | {"email": "Jane@example.test", "nickname": "Jane"})
    for clean in (without_persons(as_bytes(document)), without_orders(as_bytes(document), {3})):
        assert json.loads(clean or b"")["included"]["Order"] == [known]


def test_the_types_are_read_as_duckdb_reads_them():
    with duckdb.connect() as connection:
        create_types(connection)
        for name in ("order", "shipment", "retailer_ship_to_location", "order_address", "included"):
            children = connection.sql(f'select null::"{name}"').types[0].children
            assert [child for child, _ in children] == list(fields_of(name)), name
        kinds = shape_of(connection).included
    assert set(KEPT) <= set(kinds)


def test_nothing_personal_is_asked_for_without_addresses():
    asked = dict(Selection.whole(include_addresses=False).params)
    assert asked["fields:order.shipping_address"].split(",") == ["region", "country", "classification"]
    assert not [path for path in asked if path.endswith("original_address")]
    assert "original_address" not in asked["fields:order"].split(",")
    assert set(asked["fields:order.address_candidates"].split(",")) <= KEPT["OrderAddressCandidate"]
    for path in ("retailer_ship_to_location", "mark_for_location", "order.mark_for_location"):
        assert set(asked[f"fields:{path}"].split(",")) <= KEPT["RetailerShipToLocation"]
        assert not PERSON & set(asked[f"fields:{path}"].split(","))


def large_page() -> bytes:
    from wms_sandbox.query import read_query

    sandbox = Sandbox(SandboxConfig(shipments=200, now=datetime(2026, 3, 31, tzinfo=UTC), families=60))
    query = read_query([("sort", "id"), ("limit", "200"), *Selection.whole(include_addresses=False).params])
    return b"".join(sandbox._pages.write("/api/global/v1/shipping/shipments", query))


def with_email_in_custom_fields(content: bytes) -> bytes:
    document = json.loads(content)
    for order in document["included"]["Order"]:
        order["custom_fields"] = {**(order.get("custom_fields") or {}), "email": {"value": "shop@example.test"}}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("has", [bytes, with_email_in_custom_fields], ids=["nobody", "custom fields"])
def test_a_large_page_without_persons_is_not_suspect(has):
    assert not read_envelope(has(large_page()), watched=True).suspect
