"""What creates take, hold and refuse, line by line of the specification (2.0 to 2.3, 4.1 to 4.3, 5.1, 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.responses import Response

from tests.sandbox.conftest import AUTHORISED, Service, conflicts, offences
from wms_sandbox.app import DELETE_TAG, DESCRIPTION, LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sandbox.body import LARGEST
from wms_sandbox.definitions import PALETTE, RETAILER, RETAILER_REQUIRED
from wms_sandbox.definitions import PRODUCTS as DEFINITIONS
from wms_sandbox.identities import RETAILERS as POOL
from wms_sandbox.identities import retailer_id
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.options import OPTIONS

Body = dict[str, Any]
Refusal = tuple[str, Any, set[str]]

MISSING = object()
MOMENT = {"created_at": "2025-06-01T00:00:00Z", "updated_at": "2025-06-01T00:00:00Z"}
MERCHANT, WAREHOUSE = {"type": "Merchant", "id": 11}, {"type": "Warehouse", "id": 1}
PARENT = {"type": "Retailer", "id": 101}
KNOWN_PRODUCT = {"type": "Product", "id": 2_147_483_000}
MONEY = {"amount": 1.25, "currency": "USD"}
WITH_UNIT, WITHOUT_UNIT = {"value": 2.5, "unit": "lb"}, {"value": 2.5}
LOWEST, HIGHEST = -2_147_483_648, 2_147_483_647
ALWAYS = ["type", "id", "name", "description", "color", "sort_order", "is_deleted"]
LEAST: dict[str, Body] = {
    LOCATION_TAGS: {"name": "Cold", "color": "blue3"},
    RETAILERS: {"code": "ACME", "name": "Acme Stores"},
    PRODUCTS: {"type": "Product", "sku": "SKU-1", "name": "Thing"},
}
"""A body that is taken, by endpoint. That of a product is wrapped in ``resource``."""

WHOLE_PRODUCT: dict[str, Any] = {
    "type": "Product",
    "sku": "SKU-1",
    "name": "Mug",
    "is_enabled": True,
    "vendor_sku": "V1",
    "manufacturer_part_number": "M1",
    "external_id": "E1",
    "barcodes": ["0012345678905"],
    "is_available": True,
    "is_visible": False,
    "goods_type": "NORMAL",
    "lot_type": {"type": "LotType", "id": 1},
    "weight": {"value": 1.5},
    "dimensions": {"length": 4, "width": 3.5, "height": 2},
    "volume": {"value": 28},
    "inventory": {"backorders": True, "dynamic_allocation": False, "virtual_inventory": "optimistic"},
    "export": {
        "description": "A mug",
        "customs_value": MONEY,
        "country_of_manufacture": "PT",
        "hs_base_code": "691110",
        "hs_country_extension": [{"country_id": "US", "extension": "0010"}],
    },
    "regulated_goods": {
        "regulation": {"type": "Regulation", "id": 90},
        "technical_name": "Lithium",
        "additional_information": "",
        "net_weight": {"value": 0.1},
        "container_type": "box",
        "container_meets_hazmat_specs": True,
        "regulation_units": 2,
    },
    "packaging": {
        "require_packaging": True,
        "require_weight_check": True,
        "require_confirmation_per_item": True,
        "unit_quantity": 1,
        "bulk_quantity": 12,
        "max_per_package": 6,
        "is_ship_separately": True,
        "ship_separately_tag": "glass",
        "can_tip": True,
        "can_contain_other_items": True,
        "is_handling_surcharge": True,
    },
    "custom_fields": [{"code": "color", "value": {"type": "x", "id": 5}, "label": "Red"}, {"code": "n", "value": None}],
    "merchant": MERCHANT,
}

OPTION_VALUES: dict[str, Any] = {
    "associated_products": [KNOWN_PRODUCT],
    "allow_for_brands": [MERCHANT],
    "disallow_for_brands": [],
    "allow_for_warehouses": [WAREHOUSE],
    "allow_for_shipping_methods": ["ups_GROUND"],
    "billing_amount": MONEY,
    "barcodes": "0012345678905",
    "weight": {"value": 1},
    "volume": {"value": 1},
    "dimensions": {"length": 1, "width": 1, "height": 1},
    "infill_priority": 3,
    **dict.fromkeys(("weight_capacity", "apply_only_above_weight", "infill_horizontal", "infill_vertical"), WITH_UNIT),
    "use_for_bin_packing": "yes",
    "container_style": "rigid_box",
    "require_packaging_type": "overbox",
    "one_per": "order",
    "require_scan_timing": "after_product_scan|on_full",
    "apply_to_goods_type": "any",
    "never_apply_to_goods_type": "any",
    "apply_to_region": "US-CA",
    "collect_data_pattern": "^[0-9]+$",
}
"""Those that are not here are flags."""

WRONG_OPTION: dict[str, Any] = {
    "associated_products": [MERCHANT],
    "allow_for_brands": [{"type": "Brand", "id": 2000}],
    "disallow_for_brands": MERCHANT,
    "allow_for_warehouses": [1],
    "allow_for_shipping_methods": "ups_GROUND",
    "barcodes": ["0012345678905"],
    "weight": 1,
    "volume": {},
    "dimensions": {"length": 1, "width": 1},
    "infill_priority": "high",
    **dict.fromkeys(
        ("weight_capacity", "apply_only_above_weight", "infill_horizontal", "infill_vertical"), WITHOUT_UNIT
    ),
    "billing_amount": 1.25,
}

WHOLE_RETAILER: dict[str, Any] = {
    "type": "Retailer",
    "code": "WHOLE",
    "name": "Whole & Sons",
    "status": "active",
    "fulfillment_model": "mixed",
    "parent_retailer": PARENT,
    "legal_name": "Whole Holdings, LLC",
    "dba": "Whole",
    "default_duties_payor": "third_party",
    "default_shipping_method": "ups_GROUND",
    "allowed_shipping_methods": ["ups_GROUND", "fedex_2DAY"],
    "routing_guide_notes": "Ring the bell.\nTwice.",
    "custom_fields": {
        "is_vip": {"value": True},
        "limit": {"value": 40},
        "note": {"value": "x"},
        "tier": {"id": 1, "label": "Gold"},
        "days": [{"id": 1, "label": "Mon"}, {"id": "2", "label": "Tue"}],
        "none": [],
        "deposit": {"amount": 12.5, "currency": "USD"},
    },
}


def body(path: str, change: Body) -> Body:
    """The least that is taken, changed; without what is ``MISSING``."""
    fields = {name: value for name, value in (LEAST[path] | change).items() if value is not MISSING}
    return {"resource": fields} if path == PRODUCTS else fields


def stored(service: Service) -> dict[str, list[Body]]:
    sandbox = service.sandbox
    return {LOCATION_TAGS: sandbox.location_tags(), RETAILERS: sandbox.retailers(), PRODUCTS: sandbox.products()}


def method(length: int) -> str:
    return "ups_".ljust(length, "G")


def options_of(kind: str, **otherwise: Body) -> Body:
    name, fields = OPTIONS[kind]
    return {"type": kind, name: {field: (OPTION_VALUES | otherwise).get(field, True) for field in fields}}


OPTION_UNITS: Body = {
    "weight": {"value": 1, "unit": "lb"},
    "volume": {"value": 1, "unit": "in^3"},
    "dimensions": {"length": 1, "width": 1, "height": 1, "unit": "in"},
}
UNITS: Body = {
    "weight": {"value": 1.5, "unit": "lb"},
    "dimensions": WHOLE_PRODUCT["dimensions"] | {"unit": "in"},
    "volume": {"value": 28, "unit": "in^3"},
    "regulated_goods": WHOLE_PRODUCT["regulated_goods"] | {"net_weight": {"value": 0.1, "unit": "lb"}},
}
TAKEN: list[tuple[str, Body, Body]] = [
    # endpoint, change of the least body, what is held otherwise than it was sent
    (
        LOCATION_TAGS,
        {},
        {"type": "LocationTag", "id": 1, "description": None, "sort_order": 1, "is_deleted": False} | MOMENT,
    ),
    *((LOCATION_TAGS, {"name": name}, {}) for name in ("x", "n" * 230, "ü" * 230, "👩‍👩‍👧‍👦" * 32, "1 < 2 > 0")),
    (LOCATION_TAGS, {"name": "  Cold  "}, {"name": "Cold"}),
    (LOCATION_TAGS, {"name": "<b>Cold</b> room<br/>"}, {"name": "Cold room"}),
    (LOCATION_TAGS, {"name": "\t<p> Frozen </p>\n"}, {"name": "Frozen"}),
    (LOCATION_TAGS, {"name": "<!-- <b>note</b> -->Dry"}, {"name": "Dry"}),
    (LOCATION_TAGS, {"name": "<b>" + "n" * 230 + "</b>"}, {"name": "n" * 230}),
    (LOCATION_TAGS, {"name": " " * 300 + "far"}, {"name": "far"}),
    *((LOCATION_TAGS, {"description": text}, {}) for text in ("", None, "日" * 255)),
    *((LOCATION_TAGS, {"sort_order": number}, {}) for number in (LOWEST, HIGHEST, 0, 7.0)),
    *((LOCATION_TAGS, {"color": color}, {}) for color in PALETTE),
    (RETAILERS, {}, {"status": "active", "parent_retailer": None} | MOMENT),
    (RETAILERS, WHOLE_RETAILER, {}),
    *((RETAILERS, {"code": code}, {}) for code in ("x", "ü" * 64)),
    *((RETAILERS, {"name": name}, {}) for name in ("x", "ü" * 255)),
    *((RETAILERS, {name: text}, {}) for name in ("legal_name", "dba") for text in ("", "ü" * 255)),
    (RETAILERS, {"default_shipping_method": method(255)}, {}),
    *((RETAILERS, {"routing_guide_notes": text}, {}) for text in ("", "ü" * 65_535)),
    *((PRODUCTS, {"type": kind}, {}) for kind in PRODUCT_KINDS),
    (PRODUCTS, WHOLE_PRODUCT, UNITS),
    *((PRODUCTS, options_of(kind), options_of(kind, **OPTION_UNITS)) for kind in OPTIONS),
]


def each(path: str, name: str, *values: object, key: str | None = None) -> list[Refusal]:
    """These wrong values of a field, which the refusal names, or a place in it."""
    prefix = "resource." if path == PRODUCTS else ""
    return [(path, body(path, {name: value}), {prefix + (key or name)}) for value in values]


def wrong_tag(name: str, *values: object) -> list[Refusal]:
    return each(LOCATION_TAGS, name, *values)


def wrong_retailer(name: str, *values: object, key: str | None = None) -> list[Refusal]:
    return each(RETAILERS, name, *values, key=key)


def wrong_product(name: str, *values: object, key: str | None = None) -> list[Refusal]:
    return each(PRODUCTS, name, *values, key=key)


NO_OBJECTS: tuple[Any, ...] = ([], [{}], "text", 5, True)
REFUSED: list[Refusal] = [
    # endpoint, body, the keys that are named
    *((path, sent, {"body"}) for path in LEAST for sent in NO_OBJECTS),
    *((path, body(path, {}) | {"": 1}, {""}) for path in LEAST),
    *wrong_tag("name", MISSING, "", " \t\n", "<b></b>", "n" * 231, "ü" * 231, None, 5, True, [], {}),
    *wrong_tag("color", MISSING, "blue0", "blue6", "blue", "BLUE3", "pink1", "", None, 3, "blue3 "),
    *wrong_tag("description", "d" * 256, "ü" * 256, 5, False, [], {}),
    *wrong_tag("sort_order", LOWEST - 1, HIGHEST + 1, "1", 1.5, None, True, 10**400),
    *(
        row
        for name in ("id", "type", "is_deleted", "created_at", "updated_at", "colour")
        for row in wrong_tag(name, "x")
    ),
    (RETAILERS, {}, set(RETAILER_REQUIRED)),
    *wrong_retailer("code", MISSING, "", "ü" * 65, None, 5),
    *wrong_retailer("name", MISSING, "", "ü" * 256, None, 5),
    *wrong_retailer("status", "ACTIVE", "deleted", "", None),
    *wrong_retailer("fulfillment_model", "retail", "dropship", "", None),
    *wrong_retailer("default_duties_payor", "sender", "", None),
    *wrong_retailer("default_shipping_method", "ups", "_GROUND", "ups_", 5, method(256)),
    *wrong_retailer("allowed_shipping_methods", "ups_GROUND", {}, None),
    *wrong_retailer("allowed_shipping_methods", ["ups_GROUND", 5], key="allowed_shipping_methods.1"),
    *(row for name in ("legal_name", "dba") for row in wrong_retailer(name, 5, "ü" * 256)),
    *wrong_retailer("routing_guide_notes", 5, "ü" * 65_536),
    *wrong_retailer("parent_retailer", 101, "RET-0001", [], None),
    *wrong_retailer("parent_retailer", {"type": "Retailer"}, PARENT | {"id": "101"}, key="parent_retailer.id"),
    *wrong_retailer("parent_retailer", {"id": 101}, PARENT | {"type": "Merchant"}, key="parent_retailer.type"),
    *wrong_retailer("parent_retailer", PARENT | {"code": "x"}, key="parent_retailer.code"),
    *wrong_retailer("custom_fields", [], "x", None),
    *wrong_retailer("custom_fields", {"a": 5}, {"a": None}, {"a": {}}, {"a": {"value": 1.5}}, key="custom_fields.a"),
    *wrong_retailer(
        "custom_fields", {"a": {"value": None}}, {"a": {"id": 1}}, {"a": [{"id": 1}]}, key="custom_fields.a"
    ),
    *wrong_retailer("custom_fields", {"a": {"id": 1, "label": "x", "more": 1}}, key="custom_fields.a"),
    *wrong_retailer("custom_fields", {"a": {"amount": "5", "currency": "USD"}}, key="custom_fields.a"),
    *wrong_retailer("custom_fields", {"a": {"amount": 5, "currency": "usd"}}, key="custom_fields.a"),
    *wrong_retailer("custom_fields", {"a": {"amount": 5, "currency": "USDT"}}, key="custom_fields.a"),
    *(row for name in ("id", "created_at", "updated_at", "resource", "codes") for row in wrong_retailer(name, "x")),
    *wrong_retailer("type", "Merchant"),
    (PRODUCTS, {}, {"resource"}),
    (PRODUCTS, {"resource": None}, {"resource"}),
    (PRODUCTS, {"resource": []}, {"resource"}),
    (PRODUCTS, LEAST[PRODUCTS], {"name", "sku", "type", "resource"}),
    (PRODUCTS, body(PRODUCTS, {}) | {"meta": {}}, {"meta"}),
    (PRODUCTS, {"resource": {"type": None}}, {"resource.type"}),
    (PRODUCTS, {"resource": {"type": ["Product"]}}, {"resource.type"}),
    *wrong_product("type", MISSING, "Retailer", "product", ""),
    *(row for name in ("sku", "name") for row in wrong_product(name, MISSING, "", None, 5)),
    *(row for name in ("is_enabled", "is_available", "is_visible") for row in wrong_product(name, "yes")),
    *(
        row
        for name in ("vendor_sku", "manufacturer_part_number", "external_id", "goods_type")
        for row in wrong_product(name, 5)
    ),
    *wrong_product("barcodes", "001"),
    *wrong_product("barcodes", [1], key="barcodes.0"),
    *wrong_product("lot_type", {"type": "Lot", "id": 1}, key="lot_type.type"),
    *wrong_product("weight", 5),
    *wrong_product("weight", {"value": "5"}, {}, key="weight.value"),
    *wrong_product("weight", {"value": 5, "unit": "lb"}, key="weight.unit"),
    *wrong_product("dimensions", {"length": 1, "width": 1, "height": 1, "unit": "in"}, key="dimensions.unit"),
    *wrong_product("dimensions", {"length": 1, "width": 1}, key="dimensions.height"),
    *wrong_product("volume", {"value": None}, key="volume.value"),
    *wrong_product("inventory", []),
    *wrong_product("inventory", {"backorders": "no"}, key="inventory.backorders"),
    *wrong_product("inventory", {"backorder": True}, key="inventory.backorder"),
    *wrong_product("export", {"customs_value": {"amount": 5}}, key="export.customs_value.currency"),
    *wrong_product("export", {"customs_value": MONEY | {"currency": "usd"}}, key="export.customs_value.currency"),
    *(
        row
        for country in ("USA", "us", "", "US\n")
        for row in wrong_product("export", {"country_of_manufacture": country}, key="export.country_of_manufacture")
    ),
    *wrong_product("export", {"hs_base_code": 691110}, key="export.hs_base_code"),
    *wrong_product(
        "export", {"hs_country_extension": [{"country_id": "US"}]}, key="export.hs_country_extension.0.extension"
    ),
    *wrong_product(
        "regulated_goods", {"regulation": {"type": "Regulation", "id": "1"}}, key="regulated_goods.regulation.id"
    ),
    *wrong_product("regulated_goods", {"regulation_units": 1.5}, key="regulated_goods.regulation_units"),
    *wrong_product("packaging", {"can_tip": 1}, key="packaging.can_tip"),
    *wrong_product("packaging", {"unit_quantity": "1"}, key="packaging.unit_quantity"),
    *wrong_product("packaging", {"bulk_quantity": "1"}, key="packaging.bulk_quantity"),
    *wrong_product("packaging", {"max_per_package": 0.5}, key="packaging.max_per_package"),
    *wrong_product("packaging", {"ship_separately_tag": 5}, key="packaging.ship_separately_tag"),
    *wrong_product("custom_fields", {"code": "a"}),
    *wrong_product("custom_fields", [{"code": "a"}], key="custom_fields.0.value"),
    *wrong_product("custom_fields", [{"value": 1}], key="custom_fields.0.code"),
    *wrong_product("custom_fields", [{"code": "a", "value": 1, "label": 5}], key="custom_fields.0.label"),
    *wrong_product("merchant", 11),
    *(row for name in ("id", "created_at", "updated_at", "colour") for row in wrong_product(name, "x")),
    *(
        (PRODUCTS, body(PRODUCTS, {"type": kind, name: {}}), {f"resource.{name}"})
        for kind in PRODUCT_KINDS
        for other, (name, _) in OPTIONS.items()
        if other != kind
    ),
    *(
        (
            PRODUCTS,
            {"resource": WHOLE_PRODUCT | {"type": kind}},
            {f"resource.{name}" for name in set(WHOLE_PRODUCT) - {"type", "sku", "name", "is_enabled", "merchant"}},
        )
        for kind in OPTIONS
    ),
    # all offences at once
    (
        LOCATION_TAGS,
        {"color": "pink", "description": "d" * 256, "sort_order": 2**31, "is_deleted": True, "note": 1},
        {"name", "color", "description", "sort_order", "is_deleted", "note"},
    ),
    (RETAILERS, {"name": "", "status": "x", "more": 1}, {"code", "more", "name", "status"}),
    (
        PRODUCTS,
        {"resource": {"type": "Product", "weight": {"value": "x", "unit": "lb"}, "id": 1}, "extra": 1},
        {"extra", *(f"resource.{name}" for name in ("sku", "name", "id", "weight.value", "weight.unit"))},
    ),
]
MAY_LACK_TOO = {"resource.export.country_of_manufacture"}

ARCHIVED = {"type": "Retailer", "id": retailer_id(POOL + 1)}
"""The second one that the fixture creates."""

CONFLICTS: list[tuple[str, Body, set[str], str]] = [
    # endpoint, change of the least body, the keys that are named, what is said
    *(
        (LOCATION_TAGS, {"name": name, "color": "red1"}, {"name"}, "already in use")
        for name in ("Cold", "  Cold ", "<i>Cold</i>")
    ),
    *((RETAILERS, {"code": code}, {"code"}, "already in use") for code in ("ACME", "OLD", "RET-0007")),
    (RETAILERS, {"code": "C", "parent_retailer": ARCHIVED}, {"parent_retailer"}, "archived"),
    *(
        (RETAILERS, {"code": "C", "parent_retailer": PARENT | {"id": id_}}, {"parent_retailer"}, "no Retailer")
        for id_ in (100, 10**30)
    ),
    (RETAILERS, {"parent_retailer": PARENT | {"id": 100}}, {"code", "parent_retailer"}, ""),
    (PRODUCTS, {"merchant": MERCHANT | {"id": 10}}, {"resource.merchant"}, "There is no "),
    (PRODUCTS, {"lot_type": {"type": "LotType", "id": 5}}, {"resource.lot_type"}, "There is no "),
    (
        PRODUCTS,
        {"regulated_goods": {"regulation": {"type": "Regulation", "id": 0}}},
        {"resource.regulated_goods.regulation"},
        "There is no ",
    ),
    (
        PRODUCTS,
        {
            "type": "PackagingContainer",
            "container_options": {
                "associated_products": [KNOWN_PRODUCT, {"type": "Product", "id": 1}],
                "allow_for_brands": [{"type": "Merchant", "id": 99}],
                "disallow_for_brands": [{"type": "Merchant", "id": 98}],
                "allow_for_warehouses": [{"type": "Warehouse", "id": 7}],
            },
        },
        {
            "resource.container_options.associated_products.1",
            "resource.container_options.allow_for_brands.0",
            "resource.container_options.disallow_for_brands.0",
            "resource.container_options.allow_for_warehouses.0",
        },
        "There is no ",
    ),
    (
        PRODUCTS,
        {
            "type": "PackagingInfill",
            "infill_options": {"associated_products": [KNOWN_PRODUCT | {"type": "PackagingInfill"}]},
        },
        {"resource.infill_options.associated_products.0"},
        "There is no ",
    ),
]

NO_JSON = (
    *(b"", b" ", b"{", b"{}x", b"{'name': 1}", b'{"a": 1,}', b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}'),
    *(b'{"a": "\xff"}', b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16")),
    *(b'{"a": ' + b"1" * 5000 + b"}", b"[" * 65 + b"]" * 65, b"[" * 90_000 + b"]" * 90_000),
)
CONTENTS: list[tuple[bytes, Mapping[str, str | None], int, str]] = [
    # content, headers besides the token and the type of JSON, status, what the answer says
    *((b"{", {"Authorization": token}, 401, "") for token in (None, "Bearer wrong", "Bearer", "Basic YTpi")),
    *((content, {}, 400, "The body is not valid JSON: ") for content in NO_JSON),
    *(
        (b'{"a": 1}', {"Content-Type": kind}, 400, "The content type must be application/json.")
        for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx")
    ),
    *(
        (b"[]", {"Content-Type": kind}, 400, "An object is expected.")
        for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON")
    ),
    (b"null", {}, 400, "An object is expected."),
    *(
        (b'{"x":"' + b"x" * (size - 8) + b'"}', {}, status, "")
        for size, status in ((LARGEST, 400), (LARGEST + 1, 413), (5 * LARGEST, 413))
    ),
]


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


@pytest.fixture(scope="module")
def bare(start: Callable[..., Service]) -> Service:
    """Nothing is ever created in it."""
    return start(shipments=0, families=20)


@pytest.fixture(scope="module")
def used(start: Callable[..., Service]) -> Service:
    """Has the tag and the retailer already, and an archived one."""
    service = start(shipments=0, families=20)
    for path, change in ((LOCATION_TAGS, {}), (RETAILERS, {}), (RETAILERS, {"code": "OLD", "status": "archived"})):
        service.post(path, body(path, change)).raise_for_status()
    return service


@pytest.fixture(scope="module")
def form(bare: Service) -> Draft202012Validator:
    """Of the body of every 400 and 422 (7.1)."""
    return Draft202012Validator(bare.client.get(DESCRIPTION).json()["components"]["schemas"]["Errors"])


def test_the_tables_have_every_field_and_color():
    assert set(RETAILER["properties"]) == set(WHOLE_RETAILER)
    assert set(DEFINITIONS["Product"]["properties"]) == set(WHOLE_PRODUCT)
    assert {"black1", "brown2", "gray3", "green4", "orange5", "purple1", "red2", "blue5", "yellow5"} < set(PALETTE)
    assert len(set(PALETTE)) == 45


@pytest.mark.parametrize(("path", "change", "otherwise"), TAKEN)
def test_what_is_taken_is_held(fresh: Service, path: str, change: Body, otherwise: Body):
    response = fresh.post(path, body(path, change))
    assert response.status_code == 201, response.text
    [held] = stored(fresh)[path]
    assert held | LEAST[path] | change | otherwise == held
    answer = response.json()
    assert list(answer) == (["resource"] if path == LOCATION_TAGS else ["resource", "meta"])
    assert list(answer["resource"]) == (ALWAYS if path == LOCATION_TAGS else ["type", "id"])
    assert answer["resource"].items() <= held.items()


@pytest.mark.parametrize(("path", "sent", "keys"), REFUSED)
def test_what_breaks_a_rule_is_refused_and_named(
    bare: Service, form: Draft202012Validator, path: str, sent: Any, keys: set[str]
):
    response = bare.post(path, sent)
    found = set(offences(response))
    assert found - MAY_LACK_TOO <= keys <= found
    form.validate(response.json())
    assert not any(stored(bare).values())


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, (_, fields) in OPTIONS.items() for field in fields]
)
def test_every_option_has_a_shape(bare: Service, kind: str, field: str):
    name, _ = OPTIONS[kind]
    change = {"type": kind, name: {field: WRONG_OPTION.get(field, 5)}}
    (key,) = offences(bare.post(PRODUCTS, body(PRODUCTS, change)))
    assert key.startswith(f"resource.{name}.{field}")


@pytest.mark.parametrize(("path", "change", "keys", "says"), CONFLICTS)
def test_what_conflicts_is_refused_and_named(
    used: Service, form: Draft202012Validator, path: str, change: Body, keys: set[str], says: str
):
    before = stored(used)
    response = used.post(path, body(path, change))
    found = conflicts(response)
    assert set(found) == keys
    assert all(says in message for message in found.values())
    form.validate(response.json())
    assert stored(used) == before


@pytest.mark.parametrize("path", LEAST)
@pytest.mark.parametrize(
    ("content", "headers", "status", "says"),
    CONTENTS,
    ids=lambda value: str(value[:12]) if isinstance(value, bytes) else None,
)
def test_a_body_is_json_of_whoever_may_send_it(
    bare: Service, path: str, content: bytes, headers: Mapping[str, str | None], status: int, says: str
):
    given = {**AUTHORISED, "Content-Type": "application/json", **headers}
    with bare.stranger() as client:
        response = client.post(path, content=content, headers={name: text for name, text in given.items() if text})
    assert (response.status_code, says in response.text) == (status, True)
    if says.startswith("The "):
        [error] = response.json()["errors"]
        assert (list(error), error["type"]) == (["type", "message"], "parser")
    assert not any(stored(bare).values())


@pytest.mark.parametrize("path", LEAST)
def test_what_else_a_create_refuses(bare: Service, path: str):
    """Other methods and parameters; and with an answer that tests put in its place nothing was done."""
    for verb in ("GET", "PUT", "PATCH", "DELETE"):
        response = bare.client.request(verb, path)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
    for name, value in (("page", "1"), ("fields", "id"), ("fields", "name,"), ("fields", "")):
        assert list(offences(bare.post(path, body(path, {}), params={name: value}))) == [name]
    for status in (429, 409, 500, 503):
        bare.sandbox.intercept = lambda _, status=status: Response(status_code=status)
        assert bare.post(path, body(path, {})).status_code == status
    bare.sandbox.intercept = None
    assert not any(stored(bare).values())


def test_an_offence_says_what_is_allowed(bare: Service):
    assert set(offences(bare.post(RETAILERS, {})).values()) == {"Required."}
    found = offences(bare.post(LOCATION_TAGS, body(LOCATION_TAGS, {"description": "d" * 256, "sort_order": 2**31})))
    assert set(found.values()) == {"At most 255 characters are allowed.", "At most 2147483647 is allowed."}


def test_what_is_odd_is_taken_with_a_warning(fresh: Service):
    odd = {"default_shipping_method": "ups_GROUND", "allowed_shipping_methods": ["dhl_EXPRESS"]}
    (warning,) = fresh.post(RETAILERS, body(RETAILERS, odd)).json()["resource"]["warnings"]
    assert "ups_GROUND" in warning
    first, second = (fresh.post(PRODUCTS, body(PRODUCTS, {})).json()["resource"] for _ in range(2))
    assert "warnings" not in first
    assert "SKU-1" in second["warnings"][0]
    assert first["id"] != second["id"]


def test_what_is_not_shown_is_a_setting(start: Callable[..., Service]):
    """The status of a create, and whether an SKU may repeat."""
    service = start(shipments=0, families=20, create_status=200, unique_skus=True)
    assert [service.post(path, body(path, {})).status_code for path in (RETAILERS, PRODUCTS)] == [200, 200]
    for change in ({}, {"type": "PackagingSupplies"}, {"sku": "SKU-00000-S"}):
        assert "already in use" in conflicts(service.post(PRODUCTS, body(PRODUCTS, change)))["resource.sku"]
    assert len(service.sandbox.products()) == 1


def test_a_created_product_can_be_referred_to(fresh: Service):
    created = fresh.post(PRODUCTS, body(PRODUCTS, {})).json()["resource"]
    referring = {"type": "PackagingInstruction", "instruction_options": {"associated_products": [created]}}
    assert fresh.post(PRODUCTS, body(PRODUCTS, referring)).status_code == 201


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ("basic", ALWAYS),
        ("all", [*ALWAYS, "created_at", "updated_at"]),
        ("basic,created_at", [*ALWAYS, "created_at"]),
        ("updated_at", ["type", "id", "updated_at"]),
        ("color,name", ["type", "id", "name", "color"]),
    ],
)
def test_fields_of_the_answer(fresh: Service, fields: str, shown: list[str]):
    response = fresh.post(LOCATION_TAGS, LEAST[LOCATION_TAGS], params={"fields": fields})
    assert list(response.json()["resource"]) == shown


def test_a_deleted_tag_stays_and_frees_its_name(fresh: Service):
    named = body(LOCATION_TAGS, {"name": "n" * 230})
    other, first = (fresh.post(LOCATION_TAGS, sent).json()["resource"]["id"] for sent in (LEAST[LOCATION_TAGS], named))
    assert fresh.post(LOCATION_TAGS, named).status_code == 422
    fresh.sandbox.advance(seconds=60)
    assert fresh.client.post(DELETE_TAG, json={"id": first}).status_code == 200
    assert fresh.post(LOCATION_TAGS, named).status_code == 201
    assert fresh.post(LOCATION_TAGS, named).status_code == 422
    tags = fresh.sandbox.location_tags()
    ids = [tag["id"] for tag in tags]
    assert ids == sorted(set(ids))
    assert ids[:2] == [other, first]
    deleted = MOMENT | {
        "updated_at": "2025-06-01T00:01:00Z",
        "name": f"{'n' * 230} (Deleted ID: {first})",
        "is_deleted": True,
    }
    assert tags[1] | deleted == tags[1]
    assert len(tags[1]["name"]) + len(str(HIGHEST)) - len(str(first)) <= 255
    for identity in (first, 99, 0):
        with pytest.raises(LookupError, match="no live location tag"):
            fresh.sandbox.delete_location_tag(identity)
    assert fresh.client.post(DELETE_TAG, json={"id": first}).status_code == 404
    assert fresh.client.post(DELETE_TAG, json={"id": "1"}).status_code == 400
    assert fresh.client.post(DELETE_TAG, content=b"{").status_code == 400
