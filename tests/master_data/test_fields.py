import json
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st

from wms_sync.master_data import fields
from wms_sync.master_data.fields import Broken
from wms_sync.master_data.json_columns import json_value, product_fields, retailer_fields

NUMBER, FLAG, WHOLE, TAG = (
    fields.exact_number,
    fields.flag().parse,
    fields.whole(fields.INT32).parse,
    fields.tag_name(230).parse,
)
CHOICE = fields.one_of(("active", "archived")).parse
CURRENCY = fields.letters(3, "USD", "currency code").parse
OPTION, BARCODE = (
    fields.flag_or_text(),
    fields.barcode(),
)
SKUS = fields.refers("x", "Product", key="x_skus", ids="x_ids", by="SKU", many=True)["x_skus"].parse
ID, IDS = (
    fields.refers_by_id("lot_type", "LotType").parse,
    fields.refers_by_id("warehouses", "Warehouse", many=True).parse,
)
RETAILER, PRODUCT = retailer_fields(), product_fields()
DEEPEST = "[" * 64 + "]" * 64
Parse = Callable[[str], object]

TAKEN: dict[str, tuple[Parse, dict[str, object]]] = {
    # what is read, and what each cell becomes, of the same type
    "numbers": (
        NUMBER,
        {"0.10": 0.1, "1.250": 1.25, "12": 12, "-3": -3, "+4": 4, "2.0": 2.0, ".5": 0.5, "007": 7, "5.": 5.0},
    ),
    "numbers with a comma": (
        NUMBER,
        {"1,5": 1.5, "0,125": 0.125, ",5": 0.5, "1,2340": 1.234},
    ),
    "true": (FLAG, dict.fromkeys(("true", "TRUE", "Yes", "1", "WAHR", "VRAI", "VERDADERO"), True)),
    "false": (FLAG, dict.fromkeys(("false", "FALSE", "No", "0", "FALSCH", "FAUX", "FALSO"), False)),
    "the ends of a range": (WHOLE, {"-2147483648": -(2**31), "2147483647": 2**31 - 1}),
    "whole numbers of a column with gaps": (WHOLE, {"12.0": 12, "-3,0": -3}),
    "characters and not bytes": (fields.text(3).parse, {"東京🚚": "東京🚚"}),
    "the name of a tag": (
        TAG,
        {
            "<b>Cold</b> room<!-- x -->": "Cold room",
            "<b>" + "x" * 230 + "</b>": "x" * 230,
            "5 < 6 > 4": "5 < 6 > 4",
            "<<b>i>Cold": "Cold",
        },
    ),
    "a choice": (CHOICE, {"archived": "archived", "Active": "active"}),
    "a boolean or a text": (OPTION.parse, {"Yes": True, "0": False, "on_full": "on_full"}),
    "a currency": (CURRENCY, {"usd": "USD"}),
    "a barcode": (BARCODE.parse, {"4006381333931": "4006381333931"}),
    "a list": (fields.listed(fields.text()).parse, {"0123 | 0456": ["0123", "0456"]}),
    "countries": (
        fields.extensions().parse,
        {"us:4050 | CA:10": [{"country_id": "US", "extension": "4050"}, {"country_id": "CA", "extension": "10"}]},
    ),
    "JSON": (json_value, {r'["\ud83d\ude9a"]': ["🚚"], DEEPEST: json.loads(DEEPEST)}),
    "natural keys": (SKUS, {"A1|B2": ("A1", "B2")}),
    "a natural key with a bar": (
        fields.refers("x", "Product", key="x_sku", ids="x_id", by="a sku")["x_sku"].parse,
        {"A|B": ("A|B",)},
    ),
    "ids": (IDS, {"1 | 12": ("1", "12")}),
    "an id": (ID, {"007": ("7",)}),
    "a custom field of a retailer": (
        RETAILER.single.parse,
        {
            "true": {"value": True},
            "FALSE": {"value": False},
            "42": {"value": 42},
            "-7": {"value": -7},
            "0": {"value": 0},
            "0042": {"value": "0042"},
            "1.5": {"value": "1.5"},
            "yes": {"value": "yes"},
            "9" * 30: {"value": "9" * 30},
            '{"value": "90210"}': {"value": "90210"},
            '{"id": 3, "label": "Gold"}': {"id": 3, "label": "Gold"},
            '[{"id": 1, "label": "Web"}, {"id": "2", "label": ""}]': [
                {"id": 1, "label": "Web"},
                {"id": "2", "label": ""},
            ],
            '{"amount": 12.50, "currency": "usd"}': {"amount": 12.5, "currency": "USD"},
        },
    ),
    "custom fields of a retailer": (
        RETAILER.parse,
        {'{"a": {"value": 1}, "b": [{"id": 1, "label": "x"}]}': {"a": {"value": 1}, "b": [{"id": 1, "label": "x"}]}},
    ),
    "a custom field of a product": (
        PRODUCT.single.parse,
        {
            "7": {"value": 7},
            '{"value": "x", "label": "D"}': {"value": "x", "label": "D"},
            '{"anything": [1, {"z": true}]}': {"value": {"anything": [1, {"z": True}]}},
            '{"code": "x", "value": 1}': {"value": {"code": "x", "value": 1}},
        },
    ),
    "custom fields of a product": (
        PRODUCT.parse,
        {
            '[{"code": "a", "value": null}, {"code": "b", "value": [1.5], "label": "B"}]': {
                "a": {"value": None},
                "b": {"value": [1.5], "label": "B"},
            }
        },
    ),
}
REFUSED: dict[str, tuple[Parse, str, tuple[str, ...]]] = {
    # what is read, what is said, and the cells of which it is said
    "two numbers": (
        NUMBER,
        "Can be read in two ways: write 1234, or 1.2340 with one more digit after the point.",
        ("1,234",),
    ),
    "no number": (
        NUMBER,
        "Must be a number",
        ("1,234,567", "1.234,50", "-1,234,567.5", "1.23,5", "1,2,3", "1e5", "1_000", "1 lb", "١", "nan"),
    ),
    "too many digits": (NUMBER, "Has more digits than can be sent exactly", ("0.12345678901234567890", "9" * 400)),
    "neither true nor false": (
        FLAG,
        "Must be true or false",
        ("2", "on", "wahrscheinlich", "t", "-", "ja", "oui", "nein", "non"),
    ),
    "beyond the range": (
        WHOLE,
        "Must be between -2147483648 and 2147483647",
        ("-2147483649", "2147483648", "9" * 5000),
    ),
    "no whole number": (WHOLE, "Must be a whole number", ("1.5", "1.00", "1.000", "1e3", "1,000", "one", "²")),
    "too long": (fields.text(3).parse, "Has 4 characters; at most 3 are allowed", ("abcd",)),
    "a long tag": (TAG, "Has 231 characters without its HTML tags; 1 to 230 are allowed", ("x" * 231,)),
    "an empty tag": (TAG, "Has 0 characters without its HTML tags", ("<p> </p>",)),
    "nearly a choice": (CHOICE, r"Must be one of: active, archived. Did you mean active\?", ("Activ",)),
    "no choice": (CHOICE, r"Must be one of: active, archived.$", ("42",)),
    "no currency": (
        CURRENCY,
        "Must be the 3 letters of a currency code, such as USD",
        ("US", "USDX", "U5D", "ÄÖÜ", "US "),
    ),
    "an empty entry": (fields.listed(fields.text()).parse, "Has an empty entry", ("|a", "a|", "a||b")),
    "no countries": (
        fields.extensions().parse,
        "Must be a 2-letter country and its extension",
        ("US", "USA:1", "US:", "US:1|CA"),
    ),
    **{
        f"JSON: {says}": (json_value, f"Is not JSON that can be sent as it is written: .*{says}", cells)
        for says, cells in {
            "line 1 column 2": ("{",),
            r"repeats a key \(b, a, a\)": ('[{"b": 0, "a": 1, "a": 2}]',),
            "cannot be sent exactly": ("[NaN]", "[-Infinity]", "[1e999]", "[0.1234567890123456789]"),
            "5000 digits": ("[" + "9" * 5000 + "]",),
            "recursion": ("[" * 100_000,),
            "more than 64 levels": ("[" * 65 + "]" * 65,),
            "surrogates": (r'[{"a": "\ud83d"}]', r'{"\udc00": 1}'),
        }.items()
    },
    **{
        f"no custom field of a retailer: {says}": (RETAILER.single.parse, says, cells)
        for says, cells in {
            'Must be {"value": ...} with true, false, a whole number or text': (
                '{"value": 1.5}',
                '{"value": null}',
                '{"value": 1, "label": "one"}',
                '{"id": 3}',
                '{"id": true, "label": "x"}',
                '{"id": 3, "label": 4}',
                "{}",
            ),
            "Must be a list of choices": ("[1, 2]", '[{"id": 1}]'),
            "Must have a number as amount, without quotes": (
                '{"amount": "12", "currency": "USD"}',
                '{"amount": true, "currency": "USD"}',
            ),
            "Must be the 3 letters of a currency code": ('{"amount": 12, "currency": "US"}',),
            "Must have a currency code in quotes": ('{"amount": 12, "currency": 1}',),
            "Is not JSON": ("{no json",),
        }.items()
    },
    "no object by code": (RETAILER.parse, "Must be a JSON object by code", ("[]",)),
    "a code without a shape": (RETAILER.parse, r'b: Must be {"value": ...}', ('{"a": {"value": 1}, "b": "flat"}',)),
    "no list of codes": (
        PRODUCT.parse,
        "Must be a JSON list",
        (
            '{"code": "a", "value": 1}',
            '[{"code": "a"}]',
            '[{"code": "", "value": 1}]',
            '[{"code": "a", "value": 1, "label": 2}]',
            '[{"code": "a", "value": 1, "note": ""}]',
        ),
    ),
    "a code twice": (PRODUCT.parse, "Has a code twice", ('[{"code": "a", "value": 1}, {"code": "a", "value": 2}]',)),
    "a key named twice": (SKUS, "Has A1 twice", ("A1|A1",)),
    "an id named twice": (IDS, "Has 7 twice", ("7|07",)),
    "ids that are none": (IDS, "Must be a whole number", ("1|DC",)),
    "two ids for one": (ID, "Must be a whole number", ("1|2",)),
    "the id 0": (ID, "Must be between 1", ("0",)),
}
DOUBTED: dict[str, tuple[fields.Cell, str, tuple[str, ...], tuple[str, ...]]] = {
    # a kind of cell, what is said of it, what is sent with a doubt and what without one
    "an option whose shape is not shown": (OPTION, "sent as text", ("on_full",), ("yes",)),
    "a barcode that lost its zero": (
        BARCODE,
        "write 012345678905",
        ("12345678905",),
        ("12345678906", "012345678905", "4006381333931", "A-1"),
    ),
    "a barcode in a list": (
        fields.listed(BARCODE),
        "write 012345678905",
        ("4006381333931 | 12345678905",),
        ("4006381333931 | A-1",),
    ),
}


@pytest.mark.parametrize(("parse", "cells"), TAKEN.values(), ids=TAKEN)
def test_what_a_cell_becomes(parse, cells):
    for cell, value in cells.items():
        found = parse(cell)
        assert (found, type(found)) == (value, type(value)), cell


@pytest.mark.parametrize(("parse", "says", "cells"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(parse, says, cells):
    for cell in cells:
        with pytest.raises(Broken, match=says):
            parse(cell)


@pytest.mark.parametrize(("kind", "says", "doubted", "sure"), DOUBTED.values(), ids=DOUBTED)
def test_what_is_sent_with_a_doubt(kind, says, doubted, sure):
    assert [cell for cell in doubted if says not in str(kind.doubt(cell))] == []
    assert [cell for cell in sure if kind.doubt(cell) is not None] == []
    assert [cell for cell in (*doubted, *sure) if kind.parse(cell) not in (cell, True, cell.split(" | "))] == []


@settings(max_examples=200)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=5))
def test_a_number_keeps_the_value_that_was_written(number):
    assert Decimal(json.dumps(fields.exact_number(f"{number:f}"))) == number


def test_the_palette_has_45_colours():
    assert (len(fields.PALETTE), fields.PALETTE[0], fields.PALETTE[-1]) == (45, "black1", "yellow5")
