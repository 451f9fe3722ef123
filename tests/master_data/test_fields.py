from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wms_sync.master_data import fields
from wms_sync.master_data.fields import Broken


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("0.10", 0.1),
        ("12", 12),
        ("-3", -3),
        ("+4", 4),
        ("2.0", 2.0),
        (".5", 0.5),
        ("007", 7),
        ("5.", 5.0),
        ("1,5", 1.5),
        ("0,125", 0.125),
        (",5", 0.5),
        ("1,2340", 1.234),
        ("1.234,50", 1234.5),
        ("-1,234,567.5", -1234567.5),
    ],
)
def test_numbers_are_exact(cell, number):
    found = fields.exact_number(cell)
    assert (found, type(found)) == (number, type(number))
    assert "0.10000" not in json.dumps(found)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("1,234", "Can be read in two ways: write 1234, or 1.2340 with one more digit after the point."),
        ("1,234,567", "Must be a number"),
        ("1.23,5", "Must be a number"),
        ("1,2,3", "Must be a number"),
        ("1e5", "Must be a number"),
        ("1_000", "Must be a number"),
        ("1 lb", "Must be a number"),
        ("١", "Must be a number"),
        ("nan", "Must be a number"),
        ("0.12345678901234567890", "Has more digits than can be sent exactly"),
        ("9" * 400, "Has more digits than can be sent exactly"),
    ],
)
def test_what_is_no_exact_number_is_said(cell, says):
    with pytest.raises(Broken, match=says):
        fields.exact_number(cell)


@settings(max_examples=200, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=5))
def test_a_number_that_passes_has_the_value_that_was_written(number):
    assert Decimal(json.dumps(fields.exact_number(f"{number:f}"))) == number


@pytest.mark.parametrize("cell", ["true", "TRUE", "Yes", "1", "WAHR", "VRAI", "VERDADERO"])
def test_true(cell):
    assert fields.flag().parse(cell) is True


@pytest.mark.parametrize("cell", ["false", "FALSE", "No", "0", "FALSCH", "FAUX", "FALSO"])
def test_false(cell):
    assert fields.flag().parse(cell) is False


@pytest.mark.parametrize("cell", ["2", "on", "wahrscheinlich", "t", "-", "ja", "oui", "nein", "non"])
def test_neither_true_nor_false(cell):
    with pytest.raises(Broken, match="Must be true or false"):
        fields.flag().parse(cell)


def test_whole_numbers_at_the_ends_of_their_range():
    cell = fields.whole(fields.INT32)
    assert [cell.parse("-2147483648"), cell.parse("2147483647")] == [-(2**31), 2**31 - 1]
    for beyond in ("-2147483649", "2147483648", "9" * 5000):
        with pytest.raises(Broken, match="Must be between -2147483648 and 2147483647"):
            cell.parse(beyond)
    assert [cell.parse("12.0"), cell.parse("-3,0")] == [12, -3], (
        "as data frames and spreadsheets write a column with gaps"
    )
    for no_integer in ("1.5", "1.00", "1.000", "1e3", "1,000", "one", "²"):
        with pytest.raises(Broken, match="Must be a whole number"):
            cell.parse(no_integer)


def test_lengths_count_characters_and_not_bytes():
    assert fields.text(3).parse("東京🚚") == "東京🚚"
    with pytest.raises(Broken, match="Has 4 characters; at most 3 are allowed"):
        fields.text(3).parse("abcd")


def test_a_tag_name_is_what_the_service_stores():
    cell = fields.tag_name(230)
    assert cell.parse("<b>Cold</b> room<!-- x -->") == "Cold room"
    assert cell.parse("<b>" + "x" * 230 + "</b>") == "x" * 230
    assert cell.parse("5 < 6 > 4") == "5 < 6 > 4"
    assert cell.parse("<<b>i>Cold") == "Cold"
    with pytest.raises(Broken, match="Has 231 characters without its HTML tags; 1 to 230 are allowed"):
        cell.parse("x" * 231)
    with pytest.raises(Broken, match="Has 0 characters without its HTML tags"):
        cell.parse("<p> </p>")


def test_the_palette_has_45_colours():
    assert (len(fields.PALETTE), fields.PALETTE[0], fields.PALETTE[-1]) == (45, "black1", "yellow5")


def test_a_wrong_choice_is_told_the_nearest():
    cell = fields.one_of(("active", "archived"))
    assert [cell.parse("archived"), cell.parse("Active")] == ["archived", "active"]
    with pytest.raises(Broken, match=r"Must be one of: active, archived. Did you mean active\?"):
        cell.parse("Activ")
    with pytest.raises(Broken, match=r"Must be one of: active, archived.$"):
        cell.parse("42")


@pytest.mark.parametrize("cell", ["ups_GROUND", "dhl_EXPRESS_WORLDWIDE", "fedex_2DAY"])
def test_shipping_methods(cell):
    method = fields.shipping_method(255)
    assert (method.parse(cell), method.doubt(cell)) == (cell, None)


@pytest.mark.parametrize("cell", ["ups", "_GROUND", "ups_", "ups_ground", "ups_GROUND SAVER"])
def test_a_shipping_method_of_another_form_is_sent_with_a_doubt(cell):
    method = fields.shipping_method(255)
    assert method.parse(cell) == cell
    assert "<carrier>_<SERVICE>" in str(method.doubt(cell))


def test_an_option_whose_shape_is_not_shown_is_a_boolean_or_what_is_written_with_a_doubt():
    option = fields.flag_or_text()
    assert [option.parse(cell) for cell in ("Yes", "0", "on_full")] == [True, False, "on_full"]
    assert option.doubt("yes") is None
    assert "sent as text" in str(option.doubt("on_full"))


def test_codes_of_letters_are_sent_in_capitals():
    cell = fields.letters(3, "USD", "currency code")
    assert cell.parse("usd") == "USD"
    for wrong in ("US", "USDX", "U5D", "ÄÖÜ", "US "):
        with pytest.raises(Broken, match="Must be the 3 letters of a currency code, such as USD"):
            cell.parse(wrong)


@pytest.mark.parametrize("cell", ["4.01235E+12", "4,01235E+12", "1E+05", "4.00638e+12", "1.20E-04", "1,2E-10"])
def test_a_number_that_a_spreadsheet_shortened_is_refused(cell):
    with pytest.raises(Broken, match="Was shortened by a spreadsheet"):
        fields.code().parse(cell)


@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("A\u200b1", r"U\+200B \(zero width space\)"),
        ("\u00adA1", "soft hyphen"),
        ("A\n1", "a control character"),
        ("A\ufe0f1", "variation selector-16"),
        ("A\u31641", "hangul filler"),
        ("A\u00a01", r"U\+00A0 \(no-break space\), which looks like a blank"),
    ],
)
def test_a_code_with_a_character_that_nobody_sees_is_refused(cell, named):
    for rule in (fields.code(), fields.barcode(), fields.refers("Product", "x_sku", by="a sku", ids="x_ids")):
        with pytest.raises(Broken, match=named):
            rule.parse(cell)


def test_the_mark_of_a_text_in_a_spreadsheet_is_no_part_of_a_code():
    """An export to .csv writes it before a code that begins like a formula, so that another product was created."""
    for cell in ("'-A1", "'00123"):
        with pytest.raises(Broken, match="Begins with an apostrophe"):
            fields.code().parse(cell)
    assert [fields.code().parse(one) for one in ("-A1", "A'1", "2E-10", "A 1")] == ["-A1", "A'1", "2E-10", "A 1"]


def test_a_formula_that_keeps_zeros_is_no_code():
    with pytest.raises(Broken, match="Is a formula of a spreadsheet"):
        fields.code().parse('="00123"')


def test_a_barcode_that_was_taken_for_a_number_is_refused():
    with pytest.raises(Broken, match=r"Was turned into a number \(\.0\)"):
        fields.barcode().parse("4006381333931.0")
    assert fields.barcode().parse("4006381333931") == "4006381333931"


@pytest.mark.parametrize(
    ("cell", "doubted"),
    [("12345678905", True), ("12345678906", False), ("012345678905", False), ("4006381333931", False), ("A-1", False)],
)
def test_a_barcode_that_lost_its_zero_is_doubted(cell, doubted):
    assert fields.barcode().parse(cell) == cell
    assert ("write 012345678905" in str(fields.barcode().doubt(cell))) == doubted
    assert (fields.listed(fields.barcode()).doubt(f"4006381333931 | {cell}") is not None) == doubted


@pytest.mark.parametrize(("cell", "doubted"), [("40690", True), ("040690", False), ("4069.0", False), ("6912", False)])
def test_a_harmonised_code_that_lost_its_zero_is_doubted(cell, doubted):
    assert fields.hs_code().parse(cell) == cell
    assert ("write 040690" in str(fields.hs_code().doubt(cell))) == doubted


@pytest.mark.parametrize(
    "cell", ["1-Mar", "01-Mar-26", "Mar-01", "Sep 24", "01. Mrz", "Dez 01", "03.01.26", "12/31/26"]
)
def test_a_code_that_a_spreadsheet_took_for_a_date_is_refused(cell):
    with pytest.raises(Broken, match="Is a date, into which a spreadsheet turns"):
        fields.code().parse(cell)


def test_a_code_may_look_like_other_things():
    for cell in ("00123", "1E5", "NA", "20260301.0", "1-3", "MAR1", "MAR-01", "3-MAR", "Mar-1", "Mars-01", "A-1-Mar"):
        assert fields.code().parse(cell) == cell


def test_lists_are_parted_by_a_bar():
    assert fields.listed(fields.code()).parse("0123 | 0456") == ["0123", "0456"]
    for wrong in ("|a", "a|", "a||b"):
        with pytest.raises(Broken, match="Has an empty entry"):
            fields.listed(fields.code()).parse(wrong)


@pytest.mark.parametrize(
    "cell",
    [
        "us:4050 | CA:10",
        '[{"country_id": "US", "extension": "4050"}, {"country_id": "ca", "extension": "10"}]',
    ],
)
def test_country_extensions_in_both_forms(cell):
    assert fields.extensions().parse(cell) == [
        {"country_id": "US", "extension": "4050"},
        {"country_id": "CA", "extension": "10"},
    ]


@pytest.mark.parametrize(
    "cell",
    ["US", "USA:1", "US:", "US:1|CA", "[1]", '[{"country_id": "US"}]', '[{"country_id": "US", "extension": 1}]', "[{"],
)
def test_wrong_country_extensions(cell):
    with pytest.raises(Broken):
        fields.extensions().parse(cell)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("{", "Is not JSON: .* at character 2"),
        ('{"a": 1, "a": 2}', "Has the key a twice"),
        ("[" + "9" * 5000 + "]", "too many digits"),
        ("[NaN]", "Has NaN, which is not valid JSON"),
        ("[0.1234567890123456789]", "Has a number with more digits"),
        ("[" * 100_000, "nested too deep"),
        ("[" * 65 + "]" * 65, "nested too deep; at most 64 levels"),
        (r'[{"a": "\ud83d"}]', "Has half a character"),
        (r'{"\udc00": 1, "\udc00": 2}', "Has half a character"),
    ],
)
def test_wrong_json(cell, says):
    with pytest.raises(Broken, match=says):
        fields.json_value(cell)


def test_json_of_whole_characters_and_64_levels_passes():
    assert fields.json_value(r'["\ud83d\ude9a"]') == ["🚚"]
    assert json.dumps(fields.json_value("[" * 64 + "]" * 64)) == "[" * 64 + "]" * 64


def test_references_by_natural_key():
    skus = fields.refers("Product", "skus", many=True, by="SKU", ids="ids")
    assert skus.parse("A1|B2") == ("A1", "B2")
    assert fields.refers("Retailer", "code", by="code", ids="id").parse("A|B") == ("A|B",)
    with pytest.raises(Broken, match="Has A1 twice"):
        skus.parse("A1|A1")


def test_references_by_id():
    assert fields.refers_by_id("LotType", "id").parse("007") == ("7",)
    ids = fields.refers_by_id("Warehouse", "ids", many=True, field="warehouses")
    assert ids.parse("1 | 12") == ("1", "12")
    with pytest.raises(Broken, match="Has 7 twice"):
        ids.parse("7|07")
    with pytest.raises(Broken, match="Must be a whole number"):
        ids.parse("1|DC")
    with pytest.raises(Broken, match="Must be a whole number"):
        fields.refers_by_id("LotType", "id").parse("1|2")
    with pytest.raises(Broken, match="Must be between 1"):
        fields.refers_by_id("LotType", "id").parse("0")
