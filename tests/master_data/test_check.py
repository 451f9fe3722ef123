import csv
import io
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from tests.master_data.files import SAMPLES, checked, read
from wms_sync.master_data.check import MOST_WRONG, check
from wms_sync.master_data.csv_file import UnreadableFile, read_csv
from wms_sync.master_data.kind import Kind, columns_of
from wms_sync.master_data.kinds import KINDS, LOCATION_TAGS, PRODUCTS, RETAILERS

BOX, TAPE, SERIAL, WRAP, PAPER = (
    "PackagingContainer",
    "PackagingSupplies",
    "PackagingDataCollection",
    "PackagingInstruction",
    "PackagingInfill",
)
MISTAKES: list[tuple[str, dict[str, str], str, str]] = [
    # type of the row, what is wrong in it, the column that must be named, what must be said
    ("Product", {"sku": ""}, "sku", "Must be filled."),
    ("Product", {"name": "  "}, "name", "Must be filled."),
    ("Produkt", {}, "type", "Did you mean Product?"),
    ("Product", {"is_enabled": "x"}, "is_enabled", "Must be true or false"),
    ("Product", {"barcodes": "0123|"}, "barcodes", "Has an empty entry"),
    ("Product", {"is_available": "2"}, "is_available", "Must be true or false"),
    ("Product", {"lot_type_id": "FIFO"}, "lot_type_id", "Must be a whole number"),
    ("Product", {"lot_type_id": "0"}, "lot_type_id", "Must be between 1 and"),
    ("Product", {"weight.value": "1,500"}, "weight.value", "Can be read in two ways: write 1500, or 1.5000"),
    ("Product", {"weight.value": "-1"}, "weight.value", "Must not be below zero"),
    ("Product", {"weight.value": "2 lb"}, "weight.value", "Must be a number"),
    ("Product", {"weight.value": "0.1234567890123456789"}, "weight.value", "more digits than can be sent exactly"),
    ("Product", {"dimensions.length": "1", "dimensions.width": "2"}, "dimensions.height", "Must be filled, because"),
    (
        "Product",
        {"dimensions.length": "1", "dimensions.width": "x", "dimensions.height": "3"},
        "dimensions.width",
        "Must be a number",
    ),
    ("Product", {"volume.value": "1e3"}, "volume.value", "Must be a number"),
    ("Product", {"inventory.backorders": "maybe"}, "inventory.backorders", "Must be true or false"),
    (
        "Product",
        {"export.customs_value.amount": "5"},
        "export.customs_value.currency",
        "Must be filled, because another cell of export.customs_value is.",
    ),
    ("Product", {"export.customs_value.currency": "USD"}, "export.customs_value.amount", "Must be filled, because"),
    (
        "Product",
        {"export.customs_value.amount": "5", "export.customs_value.currency": "US"},
        "export.customs_value.currency",
        "3 letters of a currency code",
    ),
    (
        "Product",
        {"export.customs_value.amount": "$5", "export.customs_value.currency": "USD"},
        "export.customs_value.amount",
        "Must be a number",
    ),
    ("Product", {"export.country_of_manufacture": "USA"}, "export.country_of_manufacture", "2 letters of a country"),
    ("Product", {"export.hs_country_extension": "US4050"}, "export.hs_country_extension", "US:4050|CA:10"),
    ("Product", {"regulated_goods.regulation_id": "-3"}, "regulated_goods.regulation_id", "Must be between 1 and"),
    ("Product", {"regulated_goods.net_weight.value": "heavy"}, "regulated_goods.net_weight.value", "Must be a number"),
    ("Product", {"regulated_goods.regulation_units": "1.5"}, "regulated_goods.regulation_units", "whole number"),
    ("Product", {"packaging.unit_quantity": "a dozen"}, "packaging.unit_quantity", "Must be a whole number"),
    ("Product", {"packaging.bulk_quantity": "9" * 30}, "packaging.bulk_quantity", "Must be between"),
    ("Product", {"packaging.can_tip": "x"}, "packaging.can_tip", "Must be true or false"),
    ("Product", {"custom_fields": '{"code": "x"}'}, "custom_fields", "Must be a JSON list"),
    ("Product", {"custom_fields": "[{"}, "custom_fields", "Is not JSON"),
    ("Product", {"custom_fields.season": "[spring"}, "custom_fields.season", "Is not JSON"),
    (
        "Product",
        {"custom_fields": '[{"code": "season", "value": 1}]', "custom_fields.season": "fall"},
        "custom_fields.season",
        "Fills the same field as custom_fields; fill it once.",
    ),
    ("Product", {"container_options.container_style": "bag"}, "container_options.container_style", f"Belongs to {BOX}"),
    (
        BOX,
        {"weight.value": "1"},
        "weight.value",
        "this row is a PackagingContainer. The column for it is container_options.weight.value.",
    ),
    (BOX, {"goods_type": "NORMAL"}, "goods_type", "Belongs to Product, but this row is a PackagingContainer. Empty"),
    (BOX, {"custom_fields.season": "fall"}, "custom_fields.season", "Belongs to Product"),
    ("", {"container_options.volume.value": "1"}, "container_options.volume.value", "but this row is a Product"),
    (
        BOX,
        {"container_options.associated_product_skus": "OK|OK"},
        "container_options.associated_product_skus",
        "Has OK twice",
    ),
    (
        BOX,
        {"container_options.weight_capacity.value": "40"},
        "container_options.weight_capacity.unit",
        "Must be filled, because another cell of container_options.weight_capacity is.",
    ),
    (
        TAPE,
        {"supplies_options.allow_for_shipping_methods": "ups_GROUND||"},
        "supplies_options.allow_for_shipping_methods",
        "Has an empty entry",
    ),
    (
        TAPE,
        {"supplies_options.billing_amount.amount": "1", "supplies_options.billing_amount.currency": "€UR"},
        "supplies_options.billing_amount.currency",
        "3 letters of a currency code",
    ),
    (
        SERIAL,
        {"data_collection_options.associated_product_ids": "MUG"},
        "data_collection_options.associated_product_ids",
        "Must be a whole number",
    ),
    (WRAP, {"infill_options.infill_priority": "1"}, "infill_options.infill_priority", f"Belongs to {PAPER}"),
    (
        WRAP,
        {"instruction_options.apply_only_above_weight.unit": "lb"},
        "instruction_options.apply_only_above_weight.value",
        "Must be filled, because",
    ),
    (PAPER, {"infill_options.infill_priority": "first"}, "infill_options.infill_priority", "Must be a whole number"),
    ("Product", {"merchant_code": "m01", "merchant_id": "12"}, "merchant_id", "Fills the same field as merchant_code"),
]


@pytest.mark.proof
def test_a_file_that_is_wrong_all_over_is_refused(tmp_path):
    """The reasons of two million cells would fill the memory."""
    flags = [column.name for column in columns_of(PRODUCTS) if column.cell.type == "true or false"][:12]
    row = f"A,Mug,{','.join(['x'] * len(flags))}"
    with pytest.raises(
        UnreadableFile, match=rf"300,000 cells are wrong.*, the first on line 2: {flags[0]} = 'x': Must"
    ):
        checked(tmp_path, PRODUCTS, f"sku,name,{','.join(flags)}", *[row] * (MOST_WRONG // len(flags) + 1))


LONGEST: dict[Kind, dict[str, str]] = {
    LOCATION_TAGS: {"name": "Cold", "description": "x" * 255, "color": "yellow5", "sort_order": "-2147483648"},
    RETAILERS: {
        "code": "c" * 64,
        "name": "東" * 255,
        "status": "active",
        "fulfillment_model": "mixed",
        "legal_name": "x" * 255,
        "dba": "x" * 255,
        "default_duties_payor": "shipper",
        "default_shipping_method": "ups_" + "G" * 251,
        "allowed_shipping_methods": "a|b",
        "routing_guide_notes": "x" * 65_535,
        "custom_fields.tier": "1",
    },
    PRODUCTS: {"type": "Product", "sku": "GOOD", "name": "Fine"},
}
"""Rows that break no rule, with as much in each cell as is allowed."""
WRONG = [
    (LOCATION_TAGS, "name", "x" * 231, "1 to 230 are allowed"),
    (LOCATION_TAGS, "name", "<br>", "Has 0 characters"),
    (LOCATION_TAGS, "description", "ö" * 256, "Has 256 characters; at most 255 are allowed."),
    (
        LOCATION_TAGS,
        "color",
        "pink1",
        "blue, brown, gray, green, orange, purple, red, yellow, each with a shade",
    ),
    (LOCATION_TAGS, "color", "black6", "Did you mean black"),
    (LOCATION_TAGS, "color", "", "Must be filled."),
    (LOCATION_TAGS, "sort_order", "2147483648", "Must be between -2147483648 and 2147483647."),
    (LOCATION_TAGS, "sort_order", "1.5", "Must be a whole number"),
    (RETAILERS, "code", "x" * 65, "Has 65 characters; at most 64 are allowed."),
    (RETAILERS, "name", "x" * 256, "at most 255"),
    (RETAILERS, "status", "Activ", "Did you mean active?"),
    (RETAILERS, "fulfillment_model", "dropship", "Did you mean drop_ship?"),
    (RETAILERS, "legal_name", "x" * 256, "at most 255"),
    (RETAILERS, "dba", "x" * 256, "at most 255"),
    (RETAILERS, "default_duties_payor", "me", "Must be one of: shipper, recipient, third_party."),
    (RETAILERS, "default_shipping_method", "ups_" + "G" * 252, "at most 255"),
    (RETAILERS, "allowed_shipping_methods", "|", "Has an empty entry"),
    (RETAILERS, "routing_guide_notes", "x" * 65_536, "Has 65,536 characters; at most 65,535 are allowed."),
    (RETAILERS, "custom_fields.tier", "{1}", "Is not JSON"),
    (PRODUCTS, "sku", "é" * 501, "Has more than 1,000 bytes"),
    (PRODUCTS, "sku", "A\0B", "Has U+0000"),
]


@pytest.mark.parametrize(
    ("kind", "wrong", "column", "says"),
    [
        *((PRODUCTS, {"type": type_} | wrong, column, says) for type_, wrong, column, says in MISTAKES),
        *((kind, {column: cell}, column, says) for kind, column, cell, says in WRONG),
    ],
)
def test_each_mistake_is_one_violation(tmp_path, kind, wrong, column, says):
    names = list(dict.fromkeys([*LONGEST[kind], *wrong, column]))
    rows = (LONGEST[kind], LONGEST[kind] | {kind.key: "other"} | wrong)
    text = io.StringIO(newline="")
    csv.writer(text).writerows([names, *([row.get(name, "") for name in names] for row in rows)])
    result = check(read(tmp_path, text.getvalue()), kind)
    assert [record.line for record in result.records] == [2]
    [found] = result.violations
    assert (found.line, found.column, found.value) == (3, column, wrong.get(column, ""))
    assert says in found.rule


@pytest.mark.parametrize("kind", KINDS)
def test_the_samples_become_the_bodies_of_the_specification(kind):
    result = check(read_csv(SAMPLES / f"{kind}.csv"), kind)
    assert (result.violations, result.notes) == ((), ())
    assert {one.name for one in columns_of(kind) if not one.name.endswith("<code>")} <= set(result.file.frame.columns)
    assert (result.file.frame != "").any().all()
    found = msgspec.json.decode(msgspec.json.encode(sorted(result.records, key=lambda record: record.line)))
    assert found == json.loads(Path(__file__).with_name("golden").joinpath(f"{kind}.json").read_text(encoding="utf-8"))


def test_the_vendors_own_file(tmp_path):
    result = checked(
        tmp_path,
        PRODUCTS,
        "sku,name,barcode,goods_type,weight,length,width,height,country_of_manufacture,hts_base_code,hts_country_code,"
        "requires_packaging,can_contain_other_items,allowed_container_styles,valid_containers,disallowed_containers,"
        "special_supplies,special_other,unit_qty",
        "MUG,Mug,012|013,NORMAL,0.10,1,2.50,3,us,6912.00,US:4050|CA:10,yes,0,rigid_box,,,,,12",
        'CUP,Cup,012,NORMAL,"1,500",1,2,3,US,6912.00,US,yes,0,,,,,,1.5',
    )
    assert [record.body for record in result.records] == [
        {
            "type": "Product",
            "sku": "MUG",
            "name": "Mug",
            "barcodes": ["012", "013"],
            "goods_type": "NORMAL",
            "weight": {"value": 0.1},
            "dimensions": {"length": 1, "width": 2.5, "height": 3},
            "export": {
                "country_of_manufacture": "US",
                "hs_base_code": "6912.00",
                "hs_country_extension": [
                    {"country_id": "US", "extension": "4050"},
                    {"country_id": "CA", "extension": "10"},
                ],
            },
            "packaging": {"require_packaging": True, "can_contain_other_items": False, "unit_quantity": 12},
        }
    ]
    assert [(one.line, one.column, one.value) for one in result.violations] == [
        (3, "weight", "1,500"),
        (3, "hts_country_code", "US"),
        (3, "unit_qty", "1.5"),
    ]
    assert "allowed_container_styles (1 cell filled), valid_containers (0 cells filled)" in result.notes[0]


DONE = [
    # the line, the column, what was typed, and what is said of the cell
    (4, "export.hs_base_code", "040690", "odd number"),
    (6, "sku", "12E5", "shortened"),
    (7, "sku", "3/1 or 3.1.", "date"),
    (8, "name", "=1/0", "error"),
    (9, "name", "=FOO()", "error"),
    (10, "name", "=NA()", "error"),
    (11, "name", "=SQRT(-1)", "error"),
    (12, "barcodes", "40063813339312345", "shortened"),
    (13, "barcodes", "4006381333931, shown with one decimal", "number with decimals"),
    (3, "export.customs_value.amount", "1234.5, shown with thousands", "Must be a number"),
    (14, "export.customs_value.amount", "1234, shown with thousands", "two ways"),
    (4, "barcodes", "012345678905", "0 in front"),
]


@pytest.mark.parametrize("locale", ["german", "english"])
def test_what_a_spreadsheet_did_to_a_file(locale):
    """LibreOffice 7.4 saved each in the language of its name: as Windows-1252 with semicolons, or as UTF-8 with commas.

    Each begins and ends with a blank row, and has another blank row and a blank column.
    """
    result = check(read_csv(Path(__file__).with_name("spreadsheets") / f"libreoffice-{locale}.csv"), PRODUCTS)
    guessed = ["The file is not UTF-8 and was read as Windows-1252"] if locale == "german" else []
    assert [note[:50] for note in result.notes] == guessed
    for found, (line, column, _, word) in zip(
        (*result.suspicions, *result.violations, *result.warnings), DONE, strict=True
    ):
        assert (found.line, found.column, word in found.rule) == (line, column, True), found.rule
    assert 'Müller "Löffel", groß' in result.file.cells[3]
    assert result.records[0].body == {
        "type": "Product",
        "sku": "MRZ1" if locale == "german" else "MAR1",
        "name": "Tasse" if locale == "german" else "Cup",
        "is_enabled": False,
        "barcodes": ["12345678905"],
        "weight": {"value": 0.25},
        "export": {"customs_value": {"amount": 12, "currency": "EUR"}, "hs_base_code": "40690"},
    }
    assert {record.line for record in result.records} == {found.line for found in result.suspicions}


COLUMNS = {
    kind: [one.name for one in columns_of(kind) if not one.name.endswith("<code>")]
    + (["custom_fields.x"] if kind is not LOCATION_TAGS else [])
    for kind in KINDS
}
UGLY = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "", "", "1", "0.5", "true", "A|B", "{}", "[]", '{"a": {"value": 1}}', "USD", "9" * 5000]),
    st.sampled_from(
        [*PRODUCTS.bodies, "R1", "R2", "black1", '[{"code": "x", "value": 1}]', "US:1|CA:2", "ups_GROUND", "\0"]
    ),
)


@settings(max_examples=100)
@given(st.data())
def test_each_row_is_a_record_or_an_violation(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(KINDS))
    required = [one.name for one in columns_of(kind) if one.required]
    names = required + data.draw(
        st.lists(st.sampled_from([one for one in COLUMNS[kind] if one not in required]), unique=True)
    )
    table = data.draw(st.lists(st.lists(UGLY, min_size=len(names), max_size=len(names)), max_size=4))
    text = io.StringIO(newline="")
    csv.writer(text).writerows([names, *table])
    result = check(read(tmp_path_factory.mktemp("ugly"), text.getvalue().encode("utf-8", "replace")), kind)
    right, wrong = [record.line for record in result.records], {violation.line for violation in result.violations}
    assert not result.header_is_wrong
    assert sorted([*right, *wrong]) == sorted(result.file.cells)
    json.dumps([record.body for record in result.records], allow_nan=False)
