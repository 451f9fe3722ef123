from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wms_sync.master_data.json_columns import WHOLE, product_fields, retailer_fields

RETAILER: TypeAdapter[Any] = TypeAdapter(Annotated[dict[str, object], retailer_fields()])
PRODUCT: TypeAdapter[Any] = TypeAdapter(Annotated[list[object], product_fields()])


@pytest.mark.parametrize(
    ("cell", "shape"),
    [
        ("true", {"value": True}),
        ("FALSE", {"value": False}),
        ("42", {"value": 42}),
        ("-7", {"value": -7}),
        ("0", {"value": 0}),
        ("0042", {"value": "0042"}),
        ("1.5", {"value": "1.5"}),
        ("yes", {"value": "yes"}),
        ("9" * 30, {"value": "9" * 30}),
        ('{"value": "90210"}', {"value": "90210"}),
        ('{"id": 3, "label": "Gold"}', {"id": 3, "label": "Gold"}),
        (
            '[{"id": 1, "label": "Web"}, {"id": "2", "label": ""}]',
            [{"id": 1, "label": "Web"}, {"id": "2", "label": ""}],
        ),
        ('{"amount": 12.50, "currency": "usd"}', {"amount": 12.5, "currency": "USD"}),
    ],
)
def test_the_shapes_of_a_retailers_field(cell, shape):
    assert RETAILER.validate_python({"x": cell}) == {"x": shape}


@pytest.mark.parametrize(
    "cell",
    [
        '{"value": 1.5}',
        '{"value": null}',
        '{"value": 1, "label": "one"}',
        '{"id": 3}',
        '{"id": true, "label": "x"}',
        '{"id": 3, "label": 4}',
        "[1, 2]",
        '[{"id": 1}]',
        '{"amount": "12", "currency": "USD"}',
        '{"amount": true, "currency": "USD"}',
        '{"amount": 12, "currency": "US"}',
        '{"amount": 12, "currency": 1}',
        "{}",
        "{no json",
    ],
)
def test_other_shapes_are_refused_at_their_code(cell):
    with pytest.raises(ValidationError) as caught:
        RETAILER.validate_python({"x": cell, "y": "fine"})
    assert [error["loc"] for error in caught.value.errors()] == [("x",)]


def test_the_columns_of_custom_fields_come_together():
    cells = {WHOLE: '{"a": {"value": 1}, "b": [{"id": 1, "label": "x"}]}', "c": "true"}
    assert RETAILER.validate_python(cells) == {
        "a": {"value": 1},
        "b": [{"id": 1, "label": "x"}],
        "c": {"value": True},
    }


@pytest.mark.parametrize(
    ("whole", "says"),
    [
        ("[]", "Must be a JSON object by code"),
        ('{"a": "flat"}', "Has no shape under a"),
        ('{"c": {"value": 1}}', "Has the field c, which also has its own column"),
    ],
)
def test_a_wrong_column_of_json(whole, says):
    with pytest.raises(ValidationError, match=says) as caught:
        RETAILER.validate_python({WHOLE: whole, "c": "true"})
    assert [error["loc"] for error in caught.value.errors()] == [()]


@pytest.mark.parametrize("fields", [retailer_fields(), product_fields()])
def test_a_cell_decides_its_type_and_says_so(fields):
    assert 'each cell by itself ({"value": "90210"} keeps digits as text)' in fields.single.type
    assert fields.single.parse('{"value": "90210"}') == {"value": "90210"}
    assert fields.single.parse("90210") == {"value": 90210}


def test_the_fields_of_a_product_are_in_order():
    assert PRODUCT.validate_python({"b": "1", "a": "2"}) == PRODUCT.validate_python({"a": "2", "b": "1"})


def test_the_fields_of_a_product_are_a_list():
    cells = {
        WHOLE: '[{"code": "a", "value": null}, {"code": "b", "value": [1.5], "label": "B"}]',
        "c": "7",
        "d": '{"value": "x", "label": "D"}',
        "e": '{"anything": [1, {"z": true}]}',
    }
    assert PRODUCT.validate_python(cells) == [
        {"code": "a", "value": None},
        {"code": "b", "value": [1.5], "label": "B"},
        {"code": "c", "value": 7},
        {"code": "d", "value": "x", "label": "D"},
        {"code": "e", "value": {"anything": [1, {"z": True}]}},
    ]


@pytest.mark.parametrize(
    ("whole", "says"),
    [
        ({"code": "a", "value": 1}, "Must be a JSON list"),
        ([{"code": "a"}], "Must be a JSON list"),
        ([{"code": "", "value": 1}], "Must be a JSON list"),
        ([{"code": "a", "value": 1, "label": 2}], "Must be a JSON list"),
        ([{"code": "a", "value": 1, "note": ""}], "Must be a JSON list"),
        ([{"code": "a", "value": 1}, {"code": "a", "value": 2}], "Has a code twice"),
        ([{"code": "c", "value": 1}], "Has the field c, which also has its own column"),
    ],
)
def test_wrong_fields_of_a_product(whole, says):
    with pytest.raises(ValidationError, match=says):
        PRODUCT.validate_python({WHOLE: json.dumps(whole), "c": "true"})
