from __future__ import annotations

from tests.master_data.files import checked, offences
from wms_sync.master_data.check import check
from wms_sync.master_data.csv_file import read_csv
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.table import LOCATION_TAGS, RETAILERS


def test_everything_that_is_wrong_with_a_header_is_named_at_once(tmp_path):
    result = checked(tmp_path, RETAILERS, "id,Codee,name,NAME ,created_at", "1,A,Alpha,Alpha,2026-01-01")
    assert offences(result) == [
        (1, "id", "Is set by the service and cannot be sent. Remove the column."),
        (1, "Codee", "Is not a column of retailers. Did you mean code?"),
        (1, "NAME", "Is the same column as name; keep one."),
        (1, "created_at", "Is set by the service and cannot be sent. Remove the column."),
        (1, "code", "The column is missing: retailers need it."),
    ]


def test_rows_under_a_wrong_header_are_checked_and_none_becomes_a_record(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "name,color,colour", "Cold,blue1,", "Hot,pink1,")
    assert result.header_is_wrong
    assert result.records == ()
    assert [(line, column) for line, column, _ in offences(result)] == [(1, "colour"), (3, "color")]


def test_a_missing_column_is_said_once_and_not_for_each_row(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "name", "Cold", "Hot")
    assert offences(result) == [(1, "color", "The column is missing: location tags need it.")]


def test_the_line_of_the_header_is_that_of_the_file(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "", "sep", "Cold")
    assert [(one.line, one.column) for one in result.offences] == [(2, "sep"), (2, "name"), (2, "color")]


def test_units_of_products_are_the_services(tmp_path):
    result = checked(tmp_path, PRODUCTS, "sku,name,weight.value,weight.unit", "A,Alpha,1,kg")
    assert offences(result) == [
        (
            1,
            "weight.unit",
            "Cannot be sent: a create has no units, and the service uses its own, which its answers show "
            "(lb, in, in^3). Convert the values if needed, and remove the column.",
        )
    ]


def test_case_and_blanks_are_forgiven_and_columns_without_name_and_cells_too(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, " Name ,COLOR,,", "Cold,blue1,, ")
    assert [record.body for record in result.records] == [{"name": "Cold", "color": "blue1"}]


def test_cells_under_no_name_are_an_offence(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "name,color,", "Cold,blue1,Zone A")
    assert offences(result) == [(1, "", "Column 3 has cells but no name. Name or remove it.")]


def test_the_vendors_columns_that_cannot_be_sent_are_noted(tmp_path):
    result = checked(
        tmp_path, PRODUCTS, "sku,name,Valid_Containers,special_other", "A,Alpha,box,", "B,Beta,,", "C,Gamma,bag,"
    )
    assert len(result.records) == 3
    assert result.notes == (
        "Not sent, because the create endpoint has no such fields: Valid_Containers (2 cells filled), "
        "special_other (0 cells filled).",
    )


def test_a_vendors_column_and_ours_for_the_same_are_one_too_many(tmp_path):
    result = checked(tmp_path, PRODUCTS, "sku,name,weight,weight.value", "A,Alpha,1,2")
    assert offences(result) == [(1, "weight.value", "Is the same column as weight; keep one.")]


def test_a_header_without_rows_has_nothing_to_send_and_nothing_wrong(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "name,color")
    assert (result.records, result.offences) == ((), ())


def test_a_guessed_encoding_is_noted(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_bytes("name,color\nKühl,blue1\n".encode("cp1252"))
    result = check(read_csv(path), LOCATION_TAGS)
    assert [record.key for record in result.records] == ["Kühl"]
    assert [note[:50] for note in result.notes] == ["The file is not UTF-8 and was read as Windows-1252"]
