from __future__ import annotations

import pytest

from tests.master_data.files import checked, violations
from wms_sync.master_data.check import check
from wms_sync.master_data.csv_file import read_csv
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import LOCATION_TAGS, RETAILERS
from wms_sync.master_data.products import PRODUCTS

BY_THE_SERVICE = "Is set by the service and cannot be sent. Remove the column."
UNITS = (
    "Cannot be sent: a create has no units, and the service uses its own, which its answers show "
    "(lb, in, in^3). Convert the values if needed, and remove the column."
)
HEADERS: dict[str, tuple[Kind, tuple[str, ...], list[tuple[int, str | None, str]]]] = {
    # a file, and what is said of it
    "all that is wrong at once": (
        RETAILERS,
        ("id,Codee,name,NAME ,created_at", "1,A,Alpha,Alpha,2026-01-01"),
        [
            (1, "id", BY_THE_SERVICE),
            (1, "Codee", "Is not a column of retailers. Did you mean code?"),
            (1, "NAME", "Is the same column as name; keep one."),
            (1, "created_at", BY_THE_SERVICE),
            (1, "code", "The column is missing: retailers need it."),
        ],
    ),
    "rows are checked too": (
        LOCATION_TAGS,
        ("name,color,id", "Cold,blue1,", "Hot,,"),
        [(1, "id", BY_THE_SERVICE), (3, "color", "Must be filled.")],
    ),
    "a missing column, once": (
        LOCATION_TAGS,
        ("name", "Cold", "Hot"),
        [(1, "color", "The column is missing: location tags need it.")],
    ),
    "the line of the file": (
        LOCATION_TAGS,
        ("", "name,id", "Cold,1"),
        [(2, "id", BY_THE_SERVICE), (2, "color", "The column is missing: location tags need it.")],
    ),
    "units of the service": (
        PRODUCTS,
        ("sku,name,weight.value,weight.unit", "A,Alpha,1,kg"),
        [(1, "weight.unit", UNITS)],
    ),
    "cells under no name": (
        LOCATION_TAGS,
        ("name,color,", "Cold,blue1,Zone A"),
        [(1, "", "Column 3 has cells but no name. Name or remove it.")],
    ),
    "a vendor's column and ours": (
        PRODUCTS,
        ("sku,name,weight,weight.value", "A,Alpha,1,2"),
        [(1, "weight.value", "Is the same column as weight; keep one.")],
    ),
    "case, blanks and columns without name": (LOCATION_TAGS, (" Name ,COLOR,,", "Cold,blue1,, "), []),
    "no rows": (LOCATION_TAGS, ("name,color",), []),
}


@pytest.mark.parametrize(("kind", "lines", "said"), HEADERS.values(), ids=HEADERS)
def test_what_is_said_of_a_header(tmp_path, kind, lines, said):
    result = checked(tmp_path, kind, *lines)
    assert (violations(result), result.header_is_wrong) == (said, bool(said))
    assert len(result.records) == (0 if said else len(lines) - 1)


def test_vendor_columns_that_cannot_be_sent_are_noted(tmp_path):
    result = checked(
        tmp_path, PRODUCTS, "sku,name,Valid_Containers,special_other", "A,Alpha,box,", "B,Beta,,", "C,Gamma,bag,"
    )
    assert len(result.records) == 3
    assert result.notes == (
        "Not sent, because the create endpoint has no such fields: Valid_Containers (2 cells filled), "
        "special_other (0 cells filled).",
    )


def test_a_guessed_encoding_is_noted(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_bytes("name,color\nKühl,blue1\n".encode("cp1252"))
    result = check(read_csv(path), LOCATION_TAGS)
    assert [record.key for record in result.records] == ["Kühl"]
    assert [note[:50] for note in result.notes] == ["The file is not UTF-8 and was read as Windows-1252"]
