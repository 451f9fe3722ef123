"""Files that a spreadsheet saved, with what it made of what was typed.

``libreoffice-german.csv`` and ``libreoffice-english.csv`` were saved by LibreOffice 7.4, with the locale of their name:
as Windows-1252 with semicolons, and as UTF-8 with commas. Typed were the codes M-1, MAR1 (MRZ1), 12E5, 3/1 (3.1.), two
formulas and a barcode of 17 digits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from wms_sync.master_data.check import check
from wms_sync.master_data.csv_file import read_csv
from wms_sync.master_data.products import PRODUCTS

SAVED = Path(__file__).parent / "spreadsheets"
DAMAGED = [
    (4, "sku", "shortened"),
    (5, "sku", "date"),
    (6, "name", "error"),
    (7, "name", "error"),
    (8, "barcodes", "shortened"),
]


@pytest.mark.parametrize("locale", ["german", "english"])
def test_each_damage_is_refused_alone(locale):
    result = check(read_csv(SAVED / f"libreoffice-{locale}.csv"), PRODUCTS)
    found = [(violation.line, violation.column, violation.rule) for violation in result.violations]
    assert [(line, column) for line, column, _ in found] == [(line, column) for line, column, _ in DAMAGED]
    for (_, _, rule), (_, _, word) in zip(found, DAMAGED, strict=True):
        assert word in rule
    assert result.records[0].body == {
        "type": "Product",
        "sku": "M-1",
        "name": 'Müller "Löffel", groß',
        "is_enabled": True,
        "barcodes": ["4006381333931"],
        "weight": {"value": 1.5},
        "export": {"customs_value": {"amount": 1234.5, "currency": "EUR"}},
    }
    assert [record.body["is_enabled"] for record in result.records] == [True, False]
