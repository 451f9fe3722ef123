"""Pages with and without persons in them: what is found, what is taken out, what stays as it was."""

import json

import duckdb
import pytest

from wms_sync.privacy.fields import KEPT, PERSON, fields_of
from wms_sync.privacy.scrub import without_orders, without_persons
from wms_sync.service.envelope import read_envelope
from wms_sync.service.selection import Selection
from wms_sync.shipments.flatten.shape import create_types

ADDRESS = {"type": "OrderAddress", "id": 5, "first_name": "Jane", "street": ["1 Main St"], "is_valid": True}
CANDIDATE = {"type": "OrderAddressCandidate", "id": 6, "address_id": 5, "street": "1 Main St", "country_code": "US"}
LOCATION = {"type": "RetailerShipToLocation", "id": 7, "code": "L7", "city": "Reno", "telephone": "555", "email": None}


def page(order=None, **included):
    return {
        "collection": [{"type": "Shipment", "id": 1, "order": {"type": "Order", "id": 3}}],
        "included": {"Order": [{"type": "Order", "id": 3, **(order or {})}], **included},
        "has_more": False,
        "next": None,
        "previous": None,
        "meta": {"processing_time": 0.125, "count": 1},
    }


UNASKED = {
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
    "a whole order in the shipment": page()
    | {"collection": [{"id": 1, "order": {"id": 3, "shipping_address": ADDRESS}}]},
    "a whole order without a name": page()
    | {"collection": [{"id": 1, "order": {"id": 3, "original_address": {"id": 5, "city": "Jane's Ville"}}}]},
}


SENT = b"""{ "collection" : [ {"id":1 ,"a" :12345678901234567890.10}, %s ], "included":{}, "has_more":false}"""
HIDDEN = {
    "a blank after the key": b'{"id":2,"last_name" \n\t:"Jane"}',
    "an underscore written as an escape": b'{"id":2,"first\\u005Fname":"Jane"}',
    "the first letter written as an escape": b'{"id":2,"\\u0074elephone":"Jane"}',
    "another letter written as an escape": b'{"id":2,"e\\u006dail":"Jane"}',
    "a key that comes twice": b'{"email":1,"email":2}',
    "an object whose key comes twice": b'{"a":{"email":"Jane"},"a":0}',
    "beside a key that comes twice": b'{"a":1,"email":"Jane","a":1}',
    "beside what is no UTF-8": b'{"email":1,"a":"\xff"}',
    "beside half of a Unicode pair": b'{"email":1,"a":"\\ud83d"}',
    "beside NaN": b'{"email":1,"a":NaN}',
    "beside what is nested deep": b'{"email":1}, ' + b'{"a":[' * 20_000 + b"NaN" + b"]}" * 20_000,
    "below 50 levels": b'{"a":' * 50 + b'{"email":1}' + b"}" * 50,
    "below 5,000 levels": b'{"a":' * 5000 + b'{"email":1}' + b"}" * 5000,
}


WITH_PERSONS: dict[str, tuple[bytes, tuple[bytes, ...], bool]] = {
    # a page, what of it must be gone, and whether it is plain then; what is odd besides stays suspect
    **{case: (json.dumps(document).encode(), (b"Jane",), True) for case, document in UNASKED.items()},
    **{case: (SENT % hiding, (b"email", b"Jane"), False) for case, hiding in HIDDEN.items()},
}


@pytest.mark.parametrize(("content", "gone", "is_plain"), WITH_PERSONS.values(), ids=WITH_PERSONS)
def test_unrequested_persons_are_taken_out(content, gone, is_plain):
    """Also those that are hidden from parsers."""
    assert read_envelope(content, watched=True).suspect
    clean = without_persons(content)
    assert clean is not None
    assert [words for words in gone if words in clean] == []
    assert without_persons(clean) is None
    assert not (is_plain and read_envelope(clean, watched=True).suspect)
    assert without_orders(content, {99}) is None


def test_what_mentions_nobody_keeps_its_bytes_and_the_rest_every_digit():
    beside = [b'{ "id" :1, "weight": 1.50e+01, "note":"\\u00e9 \\/" }', b'{ "Zone" : [ {"id": 1.0} ] }']
    edited = b'{"id":2,"items":[{"by":{"email":"J"}},7],"big":123456789012345678901234,"b":1.50e+01,"z":0.1}'
    clean = without_persons(
        b'{"collection":[%s, %s], "included":%s, "has_more":false}' % (beside[0], edited, beside[1])
    )
    assert clean == b'{"collection":[%s,%s],"included":%s,"has_more":false}' % (
        beside[0],
        b'{"id":2,"items":[{"by":{}},7],"big":123456789012345678901234,"b":1.50e+01,"z":0.1}',
        beside[1],
    )


WENT = {"type": "OrderAddress", "id": 5, "country": "US", "region": "Nevada", "classification": None}
SHIPPING = {"shipping_address": {"type": "OrderAddress", "id": 5}}
KNOWN = {"type": "Order", "id": 3, "status": "new", "items": [{"id": 4, "sku": "A"}], "custom_fields": {"email": 1}}
EMAILED = page(KNOWN | {"email": "Jane@example.test", "nickname": "Jane"})
STAYS = {
    # whether the order is forgotten, the page, what stays under included
    "where an order went": (False, page(OrderAddress=[ADDRESS | WENT]), {"OrderAddress": [WENT]}),
    "not where a forgotten order went": (
        True,
        page(SHIPPING, OrderAddress=[WENT]),
        {"Order": [{"type": "Order", "id": 3} | SHIPPING], "OrderAddress": [{"type": "OrderAddress", "id": 5}]},
    ),
    "references, places and countries": (
        False,
        page(OrderAddress=[ADDRESS], OrderAddressCandidate=[CANDIDATE], RetailerShipToLocation=[LOCATION]),
        {
            "OrderAddress": [{"type": "OrderAddress", "id": 5}],
            "OrderAddressCandidate": [
                {"type": "OrderAddressCandidate", "id": 6, "address_id": 5, "country_code": "US"}
            ],
            "RetailerShipToLocation": [{"type": "RetailerShipToLocation", "id": 7, "code": "L7", "city": "Reno"}],
        },
    ),
    "known fields of an order with an email": (False, EMAILED, {"Order": [KNOWN]}),
    "known fields of a forgotten order with an email": (True, EMAILED, {"Order": [KNOWN]}),
}


@pytest.mark.parametrize(("is_forgotten", "document", "stays"), STAYS.values(), ids=STAYS)
def test_what_is_not_personal_stays(is_forgotten, document, stays):
    content = json.dumps(document).encode()
    clean = without_orders(content, {3}) if is_forgotten else without_persons(content)
    assert json.loads(clean or b"{}")["included"] == {"Order": [{"type": "Order", "id": 3}]} | stays


@pytest.mark.parametrize(
    ("document", "suspect"),
    [
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
        (page(SHIPPING, OrderAddress=[WENT]), False),
        (
            page()
            | {
                "collection": [
                    {
                        "id": 1,
                        "items": [{"id": 2, "product": {"id": 9, "custom_fields": [{"email": "shop@example.test"}]}}],
                    }
                ]
            },
            True,
        ),
        (page({"customer_note": r"it said \u0065mail"}), True),
    ],
)
def test_a_page_without_persons_stays_as_it_came(document, suspect):
    content = json.dumps(document).encode()
    assert read_envelope(content, watched=True).suspect == suspect
    assert without_persons(content) is None


FORGOTTEN = {
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


@pytest.mark.parametrize(("id_", "document"), FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_forgotten_order_loses_its_persons(id_, document):
    """Beside it stands an order with a person of its own, and a company's contact: they stay."""
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
    included |= {"Merchant": [{"type": "Merchant", "id": 5, "email": "Joan@x.test", "custom_fields": own}], "Zone": 7}
    content = json.dumps(document).replace('{"type": "Order", "id": 3', f'{{"type": "Order", "id": {id_}').encode()
    clean = without_orders(content, {3})
    assert clean is not None
    assert b"Jane" not in clean
    assert clean.count(b"Joan") == content.count(b"Joan")
    assert without_orders(clean, {3}) is None


def test_the_types_are_read_as_duckdb_reads_them():
    with duckdb.connect() as connection:
        create_types(connection)
        for name in ("order", "shipment", "retailer_ship_to_location", "order_address", "included"):
            children = connection.sql(f'select null::"{name}"').types[0].children
            assert [child for child, _ in children] == list(fields_of(name)), name


def test_nothing_personal_is_asked_for_without_addresses():
    asked = dict(Selection(include_addresses=False).params)
    assert asked["fields:order.shipping_address"].split(",") == ["region", "country", "classification"]
    assert not [path for path in asked if path.endswith("original_address")]
    assert "original_address" not in asked["fields:order"].split(",")
    assert set(asked["fields:order.address_candidates"].split(",")) <= KEPT["OrderAddressCandidate"]
    for path in ("retailer_ship_to_location", "mark_for_location", "order.mark_for_location"):
        assert set(asked[f"fields:{path}"].split(",")) <= KEPT["RetailerShipToLocation"] - PERSON
