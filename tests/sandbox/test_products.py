"""Creating products and packaging items (specification 2.0, 2.3, 4.3, 7)."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service, conflicts, offences
from wms_sandbox.app import PRODUCTS
from wms_sandbox.definitions import PRODUCTS as DEFINITIONS
from wms_sandbox.kinds import PRODUCT_KINDS
from wms_sandbox.options import OPTIONS

MERCHANT, WAREHOUSE = {"type": "Merchant", "id": 11}, {"type": "Warehouse", "id": 1}
KNOWN_PRODUCT = {"type": "Product", "id": 2_147_483_000}
MONEY = {"amount": 1.25, "currency": "USD"}
WITH_UNIT, WITHOUT_UNIT = {"value": 2.5, "unit": "lb"}, {"value": 2.5}

WHOLE: dict[str, Any] = {
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


def least(kind: str = "Product", **more: Any) -> dict[str, Any]:
    return {"resource": {"type": kind, "sku": "SKU-1", "name": "Thing", **more}}


def options_of(kind: str) -> dict[str, Any]:
    _, fields = OPTIONS[kind]
    return {field: OPTION_VALUES.get(field, True) for field in fields}


@pytest.fixture(scope="module")
def products(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


@pytest.mark.parametrize("kind", PRODUCT_KINDS)
@pytest.mark.parametrize("status", [200, 201])
def test_each_kind_is_created(start: Callable[..., Service], kind: str, status: int):
    service = start(shipments=0, families=20, create_status=status)
    response = service.post(PRODUCTS, least(kind))
    assert response.status_code == status
    body = response.json()
    assert (list(body), list(body["resource"])) == (["resource", "meta"], ["type", "id"])
    assert body["resource"]["type"] == kind
    (held,) = service.sandbox.products()
    assert held | body["resource"] | {"sku": "SKU-1", "name": "Thing"} == held


def test_every_field_of_a_product_is_held_with_its_units(fresh: Service):
    response = fresh.post(PRODUCTS, {"resource": WHOLE})
    assert response.status_code == 201, response.text
    assert set(DEFINITIONS["Product"]["properties"]) == set(WHOLE)
    (held,) = fresh.sandbox.products()
    assert held["weight"] == {"value": 1.5, "unit": "lb"}
    assert held["dimensions"]["unit"] == "in"
    assert held["volume"]["unit"] == "in^3"
    assert held["regulated_goods"]["net_weight"] == {"value": 0.1, "unit": "lb"}
    plain = {name for name in WHOLE if name not in ("weight", "dimensions", "volume", "regulated_goods")}
    assert {name: held[name] for name in plain} == {name: WHOLE[name] for name in plain}


@pytest.mark.parametrize("kind", OPTIONS)
def test_every_option_of_a_kind_is_held(fresh: Service, kind: str):
    name, fields = OPTIONS[kind]
    response = fresh.post(PRODUCTS, least(kind, **{name: options_of(kind)}))
    assert response.status_code == 201, response.text
    held = fresh.sandbox.products()[0][name]
    assert tuple(held) == fields
    assert held["associated_products"] == [KNOWN_PRODUCT]


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, (_, fields) in OPTIONS.items() for field in fields]
)
def test_every_option_has_a_shape(products: Service, kind: str, field: str):
    name, _ = OPTIONS[kind]
    (key,) = offences(products.post(PRODUCTS, least(kind, **{name: {field: WRONG_OPTION.get(field, 5)}})))
    assert key.startswith(f"resource.{name}.{field}")


@pytest.mark.parametrize("kind", PRODUCT_KINDS)
def test_an_options_object_of_another_kind_is_refused(products: Service, kind: str):
    for other, (name, _) in OPTIONS.items():
        if other != kind:
            assert list(offences(products.post(PRODUCTS, least(kind, **{name: {}})))) == [f"resource.{name}"]


@pytest.mark.parametrize("kind", OPTIONS)
def test_packaging_has_none_of_the_fields_of_a_product(products: Service, kind: str):
    own = set(WHOLE) - {"type", "sku", "name", "is_enabled", "merchant"}
    found = offences(products.post(PRODUCTS, {"resource": WHOLE | {"type": kind}}))
    assert set(found) == {f"resource.{name}" for name in own}


@pytest.mark.parametrize("missing", ["type", "sku", "name"])
def test_required_fields(products: Service, missing: str):
    resource = {name: value for name, value in least()["resource"].items() if name != missing}
    assert offences(products.post(PRODUCTS, {"resource": resource})) == {f"resource.{missing}": "Required."}


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ([], ["body"]),
        ("x", ["body"]),
        ({}, ["resource"]),
        ({"resource": None}, ["resource"]),
        ({"resource": []}, ["resource"]),
        ({"type": "Product", "sku": "S", "name": "N"}, ["name", "sku", "type", "resource"]),
        (least() | {"meta": {}}, ["meta"]),
        *((least(kind), ["resource.type"]) for kind in ("Retailer", "product", "")),
        ({"resource": {"type": None}}, ["resource.type"]),
        ({"resource": {"type": ["Product"]}}, ["resource.type"]),
    ],
)
def test_the_body_is_wrapped_and_of_one_kind(products: Service, body: Any, keys: list[str]):
    assert list(offences(products.post(PRODUCTS, body))) == keys


WRONG: list[tuple[dict[str, Any], str]] = [
    *(({name: value}, name) for name in ("sku", "name") for value in ("", None, 5)),
    *(({name: "yes"}, name) for name in ("is_enabled", "is_available", "is_visible")),
    *(({name: 5}, name) for name in ("vendor_sku", "manufacturer_part_number", "external_id", "goods_type")),
    ({"barcodes": "001"}, "barcodes"),
    ({"barcodes": [1]}, "barcodes.0"),
    ({"lot_type": {"type": "Lot", "id": 1}}, "lot_type.type"),
    ({"weight": 5}, "weight"),
    ({"weight": {"value": "5"}}, "weight.value"),
    ({"weight": {"value": 5, "unit": "lb"}}, "weight.unit"),
    ({"weight": {}}, "weight.value"),
    ({"dimensions": {"length": 1, "width": 1, "height": 1, "unit": "in"}}, "dimensions.unit"),
    ({"dimensions": {"length": 1, "width": 1}}, "dimensions.height"),
    ({"volume": {"value": None}}, "volume.value"),
    ({"inventory": {"backorders": "no"}}, "inventory.backorders"),
    ({"inventory": {"backorder": True}}, "inventory.backorder"),
    ({"inventory": []}, "inventory"),
    ({"export": {"customs_value": {"amount": 5}}}, "export.customs_value.currency"),
    ({"export": {"customs_value": MONEY | {"currency": "usd"}}}, "export.customs_value.currency"),
    *(({"export": {"country_of_manufacture": value}}, "export.country_of_manufacture") for value in ("USA", "us", "")),
    ({"export": {"country_of_manufacture": "US\n"}}, "export.country_of_manufacture"),
    ({"export": {"hs_base_code": 691110}}, "export.hs_base_code"),
    ({"export": {"hs_country_extension": [{"country_id": "US"}]}}, "export.hs_country_extension.0.extension"),
    ({"regulated_goods": {"regulation": {"type": "Regulation", "id": "1"}}}, "regulated_goods.regulation.id"),
    ({"regulated_goods": {"regulation_units": 1.5}}, "regulated_goods.regulation_units"),
    ({"packaging": {"can_tip": 1}}, "packaging.can_tip"),
    *(({"packaging": {name: "1"}}, f"packaging.{name}") for name in ("unit_quantity", "bulk_quantity")),
    ({"packaging": {"max_per_package": 0.5}}, "packaging.max_per_package"),
    ({"packaging": {"ship_separately_tag": 5}}, "packaging.ship_separately_tag"),
    ({"custom_fields": {"code": "a"}}, "custom_fields"),
    ({"custom_fields": [{"code": "a"}]}, "custom_fields.0.value"),
    ({"custom_fields": [{"value": 1}]}, "custom_fields.0.code"),
    ({"custom_fields": [{"code": "a", "value": 1, "label": 5}]}, "custom_fields.0.label"),
    ({"merchant": 11}, "merchant"),
    *(({name: "x"}, name) for name in ("id", "created_at", "updated_at", "colour")),
]


@pytest.mark.parametrize(("change", "key"), WRONG, ids=str)
def test_what_breaks_a_rule_is_refused_and_named(products: Service, change: dict[str, Any], key: str):
    found = set(offences(products.post(PRODUCTS, {"resource": least()["resource"] | change})))
    assert found - {"resource.export.country_of_manufacture"} <= {f"resource.{key}"}
    assert f"resource.{key}" in found
    assert products.sandbox.products() == []


def test_all_offences_are_reported_at_once(products: Service):
    body = {"resource": {"type": "Product", "weight": {"value": "x", "unit": "lb"}, "id": 1}, "extra": 1}
    found = offences(products.post(PRODUCTS, body, params={"fields": "all"}))
    assert set(found) == {
        "fields",
        "extra",
        "resource.sku",
        "resource.name",
        "resource.id",
        "resource.weight.value",
        "resource.weight.unit",
    }


@pytest.mark.parametrize(
    ("kind", "change", "keys"),
    [
        ("Product", {"merchant": {"type": "Merchant", "id": 10}}, ["merchant"]),
        ("Product", {"lot_type": {"type": "LotType", "id": 5}}, ["lot_type"]),
        (
            "Product",
            {"regulated_goods": {"regulation": {"type": "Regulation", "id": 0}}},
            ["regulated_goods.regulation"],
        ),
        (
            "PackagingContainer",
            {
                "container_options": {
                    "associated_products": [KNOWN_PRODUCT, {"type": "Product", "id": 1}],
                    "allow_for_brands": [{"type": "Merchant", "id": 99}],
                    "disallow_for_brands": [{"type": "Merchant", "id": 98}],
                    "allow_for_warehouses": [{"type": "Warehouse", "id": 7}],
                }
            },
            [
                "container_options.associated_products.1",
                "container_options.allow_for_brands.0",
                "container_options.disallow_for_brands.0",
                "container_options.allow_for_warehouses.0",
            ],
        ),
        (
            "PackagingInfill",
            {"infill_options": {"associated_products": [KNOWN_PRODUCT | {"type": "PackagingInfill"}]}},
            ["infill_options.associated_products.0"],
        ),
    ],
)
def test_references_must_exist(products: Service, kind: str, change: dict[str, Any], keys: list[str]):
    found = conflicts(products.post(PRODUCTS, least(kind, **change)))
    assert list(found) == [f"resource.{key}" for key in keys]
    assert all("There is no " in message for message in found.values())
    assert products.sandbox.products() == []


def test_a_created_product_can_be_referred_to(fresh: Service):
    created = fresh.post(PRODUCTS, least()).json()["resource"]
    options = {"associated_products": [created]}
    assert fresh.post(PRODUCTS, least("PackagingInstruction", instruction_options=options)).status_code == 201


def test_a_sku_may_repeat_with_a_warning(fresh: Service):
    assert "warnings" not in fresh.post(PRODUCTS, least()).json()["resource"]
    second = fresh.post(PRODUCTS, least())
    assert second.status_code == 201
    (warning,) = second.json()["resource"]["warnings"]
    assert "SKU-1" in warning
    assert len({product["id"] for product in fresh.sandbox.products()}) == 2


def test_or_skus_are_unique(start: Callable[..., Service]):
    service = start(shipments=0, families=20, unique_skus=True)
    assert service.post(PRODUCTS, least()).status_code == 201
    for body in (least(), least("PackagingSupplies"), least(sku="SKU-00000-S")):
        assert "already in use" in conflicts(service.post(PRODUCTS, body))["resource.sku"]
    assert len(service.sandbox.products()) == 1
