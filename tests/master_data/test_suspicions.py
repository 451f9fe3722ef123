"""Which cells are probably not what was meant, which are left alone, and what a push does with their rows."""

import pytest

from tests.master_data.files import checked
from wms_sync.master_data.kind import Kind, column_named
from wms_sync.master_data.kinds import LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sync.master_data.plan import RowStatus

TAG, BOX = (LOCATION_TAGS, "name"), "container_options"
CODES = ((RETAILERS, "code"), (PRODUCTS, "sku"), (PRODUCTS, "external_id"), (PRODUCTS, "barcodes"))
NAMES = (TAG, (RETAILERS, "name"), (PRODUCTS, "name"), (RETAILERS, "dba"))
TEXTS = ((LOCATION_TAGS, "description"), (RETAILERS, "routing_guide_notes"), (RETAILERS, "custom_fields.tier"))
BARCODES = ((PRODUCTS, "barcodes"), (PRODUCTS, f"{BOX}.barcodes"))
METHODS = (
    (RETAILERS, "allowed_shipping_methods"),
    (RETAILERS, "default_shipping_method"),
    (PRODUCTS, f"{BOX}.allow_for_shipping_methods"),
)
EVERYWHERE = (*CODES, *NAMES, *TEXTS, *METHODS[:1], (PRODUCTS, "weight.value"))
Columns = tuple[tuple[Kind, str], ...]

SUSPICIOUS: dict[str, tuple[Columns, tuple[str, ...]]] = {
    # what is said, in which columns, and of which cells
    "Has several codes, but not": (
        BARCODES,
        (
            *(
                "4006381333931,4006381333948",
                "4006381333931; 4006381333948",
                "0123,0456",
                "4006381333931 4006381333948",
            ),
            *("4006381333931/4006381333948", "ABC-1234 ABC-1235", "4006381333931\t4006381333948", "A1;B2"),
        ),
    ),
    "Has several shipping methods": (
        METHODS,
        ("ups_GROUND,fedex_2DAY", "ups_GROUND; fedex_2DAY", "ups_GROUND fedex_2DAY", "ups_GROUND/fedex_2DAY"),
    ),
    "Has a line break": (NAMES, ("Alpha\nB,Beta", "Cold\r\nRoom")),
    "Has U+200B": ((TAG, *CODES), ("Cold\u200bRoom",)),
    "Is not of the form <carrier>_<SERVICE>": (METHODS[1:2], ("ups", "_GROUND", "ups_")),
    "Is a date": (
        (*CODES, *NAMES),
        (
            *(
                "1-Mar",
                "01-Mar-26",
                "Mar-01",
                "Sep 24",
                "01. Mrz",
                "Dez 01",
                "03.01.26",
                "12/31/2026",
                "01-mars",
                "1-mrt",
            ),
            *("3/1/2026", "1/3/2026", "01-janv", "01-févr.", "1-mai", "mars-26", "2026-03-01", "2026/3/1", "3月1日"),
            *("2026-03-01 00:00:00", "1-3-2026", "1.3.2026", "01.мар", "1-ago", "01-okt", "1-Mar-2026"),
        ),
    ),
    "Is the error of a spreadsheet": (
        EVERYWHERE,
        (
            *("#N/A", "#N/D", "#n/a", "#NV", "#NAME?", "#NOM?", "#¿NOMBRE?", "#DIV/0!", "#VALUE!", "#¡VALOR!", "#REF!"),
            *("#SPILL!", "#ÜBERLAUF!", "#CALC!", "#GETTING_DATA", "#ИМЯ?", "########", "Err:508", "Fehler:508"),
        ),
    ),
    "Is the word of a program": (
        EVERYWHERE,
        ("nan", "NaN", "None", "NULL", "null", "(null)", "\\N", "<NA>", "NaT", "undefined"),
    ),
    "Is a word for a missing value": (CODES, ("N/A", "n/a", "none", "-", "--", "?")),
    "Has letters of a wrong code page": (
        EVERYWHERE,
        (
            *("ZŸrich", "ZÃ¼rich", "Ã–sterreich", "SÃ£o Paulo", "CafÃ© Â€", "itâ€™s", "5 â‚¬", "ZĂĽrich", "ZГјrich"),
            *("Z├╝rich", "Z³rich", "B„cker", "M”ller", "CafŽ", "M¸ller", "B‰cker", "Mˆller", "ÐœÐ¾ÑÐºÐ²Ð°"),
        ),
    ),
    "Has ? within a word": ((*NAMES, (PRODUCTS, "sku")), ("Z?rich", "M?ller")),
    "Has U+001A": (EVERYWHERE, ("Alpha\x1a",)),
    "Has U+FFFD (replacement character)": (EVERYWHERE, ("Caf\ufffd",)),
    "Has U+0000": (EVERYWHERE, ("Mug\0",)),
    "Is a spreadsheet formula": (EVERYWHERE, ('="00123"', "=SUM(A1:A2)")),
    "Was shortened": (
        (*CODES, (PRODUCTS, "export.hs_base_code")),
        ("4.01235E+12", "4,01235E+12", "1E+05", "4.00638e+12", "1.20E-04", "1,2E-10"),
    ),
    "Begins with an apostrophe": (CODES, ("'-A1", "'00123")),
    "Was turned into a number": (BARCODES, ("4006381333931.0", "4006381333931,0")),
    "Was turned": (BARCODES[:1], ("0123|4006381333931.0",)),
    "Has an odd number of digits": (((PRODUCTS, "export.hs_base_code"),), ("40690",)),
    **{
        f"Has {named}": ((*CODES, *METHODS[:1]), (cell,))
        for cell, named in {
            "A\u200b1": "U+200B (zero width space)",
            "\u00adA1": "U+00AD (soft hyphen)",
            "A\n1": "U+000A (a control character)",
            "A\ufe0f1": "U+FE0F (variation selector-16)",
            "A\u31641": "U+3164 (hangul filler)",
            "A\u00a01": "U+00A0 (no-break space)",
        }.items()
    },
}
MEANT: list[tuple[Columns, tuple[str, ...]]] = [
    # in which columns, and cells that people mean as they are
    (
        CODES,
        (
            *(
                "00123",
                "1E5",
                "1e3",
                "NA",
                "1-3",
                "MAR1",
                "MAR-01",
                "3-MAR",
                "Mar-1",
                "Mars-01",
                "A-1-Mar",
            ),
            *("-A1", "A'1", "2E-10", "A 1", "100.0", "2026.1", "10-set", "mag-01", "12/24", "#1234", "AB/12", "东京-1"),
        ),
    ),
    (NAMES, ("Null", "Nan", "NA", "Northwind Traders, Inc.", "A/B; C", "Who?", "#WOW", "5 < 6", "March 1", "1 May")),
    (
        TEXTS,
        (
            *("A brand called None", "see https://example.com/a?id=1", "2026-03-01", "1-Mar", "ups_GROUND, fedex_2DAY"),
            *(
                "Arrive on Monday?if not, call",
                "100.0",
                "N/A",
                "none",
                "-",
                "One\nTwo",
                "it’s “fine” – 5 €",
                "'quoted'",
            ),
        ),
    ),
    (
        (*NAMES, *TEXTS),
        (
            *("Zürich", "Čedomir Žižek", "São Paulo", "AÇÃO", "Ångström", "Škoda", "Œuvre", "Владивосток", "Łódź"),
            *("L'HAŸ-LES-ROSES", "Ærø ❄️", "20 °C, 5 m³", "Ελλάδα", "İstanbul", "5”x3”", "Straße", "Đặng", "Ñandú"),
        ),
    ),
    (
        BARCODES,
        ("4006381333931", "0012345678905|0012345678912", "0 12345 67890 5", "4 006381 333931", "LOT/2024", "A-1"),
    ),
    (METHODS, ("ups_GROUND", "ups_GROUND SAVER", "dhl_EXPRESS-WORLDWIDE")),
    (METHODS[:1], ("ups_GROUND|fedex_2DAY", "a|b")),
    (((PRODUCTS, "export.hs_base_code"),), ("040690", "4069.0", "6912.00", "6912", "123456789")),
    (((PRODUCTS, f"{BOX}.allow_for_warehouses"),), ("Reno, NV|Springfield DC 0",)),
    (((PRODUCTS, "inventory.virtual_inventory"),), ("none", "optimistic")),
]


@pytest.mark.parametrize(
    ("says", "columns", "cells"),
    [*((says, *where) for says, where in SUSPICIOUS.items()), *((None, *where) for where in MEANT)],
)
def test_what_is_suspicious_and_what_is_meant(says, columns, cells):
    known = {(str(kind), name): column_named(kind, name) for kind, name in columns}
    assert all(known.values())
    said = {(*where, cell): column.cell.suspicion(cell) for where, column in known.items() if column for cell in cells}
    assert {where: text for where, text in said.items() if not str(text).startswith(str(says))} == {}


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (("100.0", "101.0"), [2, 3]),
        (("100.0", "Code", "101.0"), [2, 4]),
        (("100.0", "A-1"), []),
        (("100.0",), []),
        (("1.1", "2.0"), []),
    ],
)
def test_a_column_of_codes_that_became_numbers(tmp_path, cells, lines):
    found = checked(tmp_path, RETAILERS, "code,name", *(f"{cell},{cell}" for cell in cells)).suspicions
    assert [(one.line, one.column) for one in found] == [(line, "code") for line in lines]


def test_a_suspicious_row_is_created_only_as_written(desk):
    path = desk.file("code,name,parent_retailer_code", "1-Mar,One,", "b,Two,1-Mar", "c,nan,", "d,Four,")
    report = desk.push(RETAILERS, path)
    assert (report.counts, report.exit_code) == ({RowStatus.CREATED: 1, RowStatus.REJECTED: 3}, 3)
    first, second, third = (row["why"] for row in report.rows(RowStatus.REJECTED))
    assert first.startswith("code = '1-Mar': Is a date: spreadsheets")
    assert first.endswith("If it is meant so, push with --as-written.")
    assert "on line 2, which is rejected too" in second
    assert third.startswith("name = 'nan': Is the word of a program for a missing value. Empty the cell.")
    assert desk.push(RETAILERS, path, as_written=True).counts == {RowStatus.CREATED: 3, RowStatus.ALREADY_THERE: 1}
    again = desk.push(RETAILERS, path)
    assert (again.counts, again.exit_code) == ({RowStatus.ALREADY_THERE: 4}, 0), "what was created is not judged again"


def test_all_that_is_wrong_in_a_row_is_said(tmp_path):
    """Of a cell that is suspicious and breaks a rule, only what it probably is."""
    result = checked(tmp_path, PRODUCTS, "sku,name,weight.value,is_enabled", "1-Mar,Mug,#N/A,maybe", "B,Cup,nan,")
    assert [(found.line, found.column, found.rule[:10]) for found in result.violations] == [
        (2, "sku", "Is a date:"),
        (2, "weight.value", "Is the err"),
        (2, "is_enabled", "Must be tr"),
        (3, "weight.value", "Is the wor"),
    ]
