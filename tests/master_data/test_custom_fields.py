from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wms_sync.master_data.json_columns import WHOLE, product_fields, retailer_fields

RETAILER: TypeAdapter[Any] = TypeAdapter(Annotated[dict[str, object], retailer_fields()])
PRODUCT: TypeAdapter[Any] = TypeAdapter(Annotated[list[object], product_fields()])


TAKEN: list[tuple[TypeAdapter[Any], dict[str, str], object]] = [
    # whose fields, the cells of a row by the code of their column, and what is sent
    *(
        (RETAILER, {"x": cell}, {"x": shape})
        for cell, shape in (
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
        )
    ),
    (
        RETAILER,
        {WHOLE: '{"a": {"value": 1}, "b": [{"id": 1, "label": "x"}]}', "c": "true"},
        {"a": {"value": 1}, "b": [{"id": 1, "label": "x"}], "c": {"value": True}},
    ),
    (PRODUCT, {"b": "1", "a": "2"}, [{"code": "a", "value": 2}, {"code": "b", "value": 1}]),
    (
        PRODUCT,
        {
            WHOLE: '[{"code": "a", "value": null}, {"code": "b", "value": [1.5], "label": "B"}]',
            "c": "7",
            "d": '{"value": "x", "label": "D"}',
            "e": '{"anything": [1, {"z": true}]}',
        },
        [
            {"code": "a", "value": None},
            {"code": "b", "value": [1.5], "label": "B"},
            {"code": "c", "value": 7},
            {"code": "d", "value": "x", "label": "D"},
            {"code": "e", "value": {"anything": [1, {"z": True}]}},
        ],
    ),
]
REFUSED: list[tuple[TypeAdapter[Any], dict[str, str], tuple[str, ...], str]] = [
    # whose fields, the cells of a row, the code of the column that is named, and what is said of it
    *(
        (RETAILER, {"x": cell, "y": "fine"}, ("x",), says)
        for says, cells in (
            (
                "Must be true, false, a whole number, text, or JSON",
                (
                    '{"value": 1.5}',
                    '{"value": null}',
                    '{"value": 1, "label": "one"}',
                    '{"id": 3}',
                    '{"id": true, "label": "x"}',
                    '{"id": 3, "label": 4}',
                    "{}",
                ),
            ),
            ("Must be a list of choices", ("[1, 2]", '[{"id": 1}]')),
            (
                "Must have a number as amount, without quotes",
                ('{"amount": "12", "currency": "USD"}', '{"amount": true, "currency": "USD"}'),
            ),
            ("Must be the 3 letters of a currency code", ('{"amount": 12, "currency": "US"}',)),
            ("Must have a currency code in quotes", ('{"amount": 12, "currency": 1}',)),
            ("Is not JSON", ("{no json",)),
        )
        for cell in cells
    ),
    *(
        (RETAILER, {WHOLE: whole, "c": "true"}, (), says)
        for whole, says in (
            ("[]", "Must be a JSON object by code"),
            ('{"a": "flat"}', "Has no shape under a"),
            ('{"c": {"value": 1}}', "Has the field c, which also has its own column"),
        )
    ),
    *(
        (PRODUCT, {WHOLE: json.dumps(whole), "c": "true"}, (), says)
        for whole, says in (
            ({"code": "a", "value": 1}, "Must be a JSON list"),
            ([{"code": "a"}], "Must be a JSON list"),
            ([{"code": "", "value": 1}], "Must be a JSON list"),
            ([{"code": "a", "value": 1, "label": 2}], "Must be a JSON list"),
            ([{"code": "a", "value": 1, "note": ""}], "Must be a JSON list"),
            ([{"code": "a", "value": 1}, {"code": "a", "value": 2}], "Has a code twice"),
            ([{"code": "c", "value": 1}], "Has the field c, which also has its own column"),
        )
    ),
]


@pytest.mark.parametrize(("fields", "cells", "sent"), TAKEN)
def test_which_custom_fields_are_sent(fields, cells, sent):
    assert fields.validate_python(cells) == sent


@pytest.mark.parametrize(("fields", "cells", "column", "says"), REFUSED)
def test_which_custom_fields_are_refused(fields, cells, column, says):
    with pytest.raises(ValidationError, match=says) as caught:
        fields.validate_python(cells)
    assert [error["loc"] for error in caught.value.errors()] == [column]


@pytest.mark.parametrize("fields", [retailer_fields(), product_fields()])
def test_a_cell_decides_its_type_and_says_so(fields):
    assert 'each cell by itself ({"value": "90210"} keeps digits as text)' in fields.single.type
    assert fields.single.parse('{"value": "90210"}') == {"value": "90210"}
    assert fields.single.parse("90210") == {"value": 90210}
