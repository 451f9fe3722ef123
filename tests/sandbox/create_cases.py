"""The cases of creates (4.1 to 4.3, with 2.0 to 2.3, 7 and 8): what is taken and held, refused, and in conflict."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from httpx import Response

from tests.deferred import deferred
from tests.sandbox.case import Answer, Case, gives, has_status, refused, violations
from tests.sandbox.conftest import LONGEST_NAME, Service
from tests.sandbox.create_bodies import (
    ALWAYS,
    HIGHEST,
    LEAST,
    LOWEST,
    MERCHANT,
    MISSING,
    MOMENT,
    MONEY,
    OPTION_VALUES,
    PARENT,
    WHOLE_PRODUCT,
    WHOLE_RETAILER,
    WRONG_IN_AN_OPTION,
    Body,
)
from wms_sandbox.app import LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sandbox.definitions import RETAILER_REQUIRED
from wms_sandbox.identities import RETAILERS as POOL, product_id, retailer_id
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.options import OPTIONS

Refusal = tuple[str, Any, set[str]]
SECTIONS = {LOCATION_TAGS: "4.1", RETAILERS: "4.2", PRODUCTS: "4.3"}


def body(path: str, change: Body) -> Body:
    """The least that is taken, changed; without what is ``MISSING``."""
    fields = {name: value for name, value in (LEAST[path] | change).items() if value is not MISSING}
    return {"resource": fields} if path == PRODUCTS else fields


def options_of(kind: str, **otherwise: Body) -> Body:
    name, fields = OPTIONS[kind]
    return {"type": kind, name: {field: (OPTION_VALUES | otherwise).get(field, True) for field in fields}}


OPTION_UNITS: Body = {
    "weight": {"value": 1, "unit": "lb"},
    "volume": {"value": 1, "unit": "in^3"},
    "dimensions": {"length": 1, "width": 1, "height": 1, "unit": "in"},
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
    *(
        (LOCATION_TAGS, {"color": f"{family}{shade}"}, {})
        for family in ("black", "blue", "brown", "gray", "green", "orange", "purple", "red", "yellow")
        for shade in range(1, 6)
    ),
    (RETAILERS, {}, {"status": "active", "parent_retailer": None} | MOMENT),
    (RETAILERS, WHOLE_RETAILER, {}),
    *((RETAILERS, {"code": code}, {}) for code in ("x", "ü" * 64)),
    *((RETAILERS, {"name": name}, {}) for name in ("x", "ü" * 255)),
    *((RETAILERS, {name: text}, {}) for name in ("legal_name", "dba") for text in ("", "ü" * 255)),
    (RETAILERS, {"default_shipping_method": "ups_".ljust(255, "G")}, {}),
    *((RETAILERS, {"routing_guide_notes": text}, {}) for text in ("", "ü" * 65_535)),
    *((PRODUCTS, {"type": kind}, {}) for kind in PRODUCT_KINDS),
    (
        PRODUCTS,
        WHOLE_PRODUCT,
        {
            "weight": {"value": 1.5, "unit": "lb"},
            "dimensions": WHOLE_PRODUCT["dimensions"] | {"unit": "in"},
            "volume": {"value": 28, "unit": "in^3"},
            "regulated_goods": WHOLE_PRODUCT["regulated_goods"] | {"net_weight": {"value": 0.1, "unit": "lb"}},
        },
    ),
    *((PRODUCTS, options_of(kind), options_of(kind, **OPTION_UNITS)) for kind in OPTIONS),
]


def each(path: str, name: str, *values: object, key: str | None = None) -> list[Refusal]:
    """These wrong values of a field, which the refusal names, or a place in it."""
    prefix = "resource." if path == PRODUCTS else ""
    return [(path, body(path, {name: value}), {prefix + (key or name)}) for value in values]


wrong_tag, wrong_retailer, wrong_product = (partial(each, path) for path in (LOCATION_TAGS, RETAILERS, PRODUCTS))


def wrong_option(kind: str, field: str, value: Any, place: str = "") -> Refusal:
    """This wrong value of an option, or of a place in it."""
    name, _ = OPTIONS[kind]
    key = ".".join(("resource", name, field, place)).rstrip(".")
    return PRODUCTS, body(PRODUCTS, {"type": kind, name: {field: value}}), {key}


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
    *wrong_retailer("default_shipping_method", "ups", "_GROUND", "ups_", 5, "ups_".ljust(256, "G")),
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
    *(
        wrong_option(kind, field, "high" if field == "infill_priority" else 5)
        for kind, (_, fields) in OPTIONS.items()
        for field in fields
    ),
    *(wrong_option("PackagingContainer", *row) for row in WRONG_IN_AN_OPTION),
    # all violations at once
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

CREATED_PRODUCT = {"type": "PackagingSupplies", "id": product_id(550)}
"""The one that the fixture creates, after those that there are."""

CONFLICTS: list[tuple[str, Body, set[str], str]] = [
    # endpoint, change of the least body, the keys that are named, what is said
    *(
        (LOCATION_TAGS, {"name": name, "color": "red1"}, {"name"}, "already in use")
        for name in ("Cold", "  Cold ", "<i>Cold</i>", LONGEST_NAME)
    ),
    *((RETAILERS, {"code": code}, {"code"}, "already in use") for code in ("ACME", "OLD", "RET-0007")),
    (
        RETAILERS,
        {"code": "C", "parent_retailer": {"type": "Retailer", "id": retailer_id(POOL + 1)}},  # the second in `used`
        {"parent_retailer"},
        "archived",
    ),
    *(
        (RETAILERS, {"code": "C", "parent_retailer": PARENT | {"id": id_}}, {"parent_retailer"}, "no Retailer")
        for id_ in (100, 10**30)
    ),
    (RETAILERS, {"parent_retailer": PARENT | {"id": 100}}, {"code", "parent_retailer"}, ""),
    (PRODUCTS, {"merchant": MERCHANT | {"id": 10}}, {"resource.merchant"}, "There is no "),
]

NO_JSON = (
    *(b"", b" ", b"{", b"{}x", b"{'name': 1}", b'{"a": 1,}', b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}'),
    *(b'{"a": "\xff"}', b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16")),
    b'{"a": ' + b"1" * 5000 + b"}",
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
        (b"[]", {"Content-Type": kind}, 400, "The type object is expected.")
        for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON")
    ),
    (b"null", {}, 400, "The type object is expected."),
]


def stored(service: Service) -> dict[str, list[Body]]:
    return {
        LOCATION_TAGS: service.sandbox.location_tags(),
        RETAILERS: service.sandbox.retailers(),
        PRODUCTS: service.sandbox.products(),
    }


@deferred
def holds(response: Response, service: Service, path: str, fields: Body) -> None:
    """A 201 with the identity of what is held now, which has these fields."""
    assert response.status_code == 201, response.text
    [held] = stored(service)[path]
    assert held | fields == held
    resource = response.json()["resource"]
    assert list(resource) == (ALWAYS if path == LOCATION_TAGS else ["type", "id"])
    assert resource.items() <= held.items()


@deferred
def breaks(response: Response, service: Service, keys: set[str]) -> None:
    """A 400 that names these keys; nothing is held."""
    assert (set(violations(response)), any(stored(service).values())) == (keys, False)


def create(path: str, answer: Answer, sent: Any, on: str = "fresh", **more: Any) -> Case:
    return Case(SECTIONS[path], "POST", path, answer, body=sent, on=on, **more)


CASES = [
    *(create(path, holds(path, LEAST[path] | change | other), body(path, change)) for path, change, other in TAKEN),
    *(create(path, breaks(keys), sent) for path, sent, keys in REFUSED),
    *(
        create(path, refused(*keys, says=says, status=422), body(path, change), "used")
        for path, change, keys, says in CONFLICTS
    ),
    *(
        create(path, has_status(status, says), content, headers=headers)
        for path in LEAST
        for content, headers, status, says in CONTENTS
    ),
    *(
        Case(SECTIONS[path], verb, path, has_status(405, allow="POST"), on="fresh")
        for path in LEAST
        for verb in ("GET", "PUT", "PATCH", "DELETE")
    ),
    *(
        create(path, refused(name), body(path, {}), params=((name, value),))
        for path in LEAST
        for name, value in (("page", "1"), ("fields", "id"), ("fields", "name,"), ("fields", ""))
    ),
    *(
        create(
            LOCATION_TAGS,
            gives(lambda answer, shown=shown: list(answer["resource"]) == shown, 201),
            LEAST[LOCATION_TAGS],
            params=(("fields", fields),),
        )
        for fields, shown in (
            ("basic", ALWAYS),
            ("all", [*ALWAYS, "created_at", "updated_at"]),
            ("basic,created_at", [*ALWAYS, "created_at"]),
            ("updated_at", ["type", "id", "updated_at"]),
            ("color,name", ["type", "id", "name", "color"]),
        )
    ),
    create(
        PRODUCTS, gives(lambda answer: "SKU-1" in answer["resource"]["warnings"][0], 201), body(PRODUCTS, {}), "used"
    ),
    create(
        PRODUCTS,
        gives(lambda answer: "warnings" not in answer["resource"], 201),
        body(
            PRODUCTS,
            {
                "type": "PackagingInstruction",
                "sku": "SKU-2",
                "instruction_options": {"associated_products": [CREATED_PRODUCT]},
            },
        ),
        "used",
    ),
]
