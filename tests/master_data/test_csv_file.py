import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.master_data.files import read
from wms_sync.master_data.csv_file import (
    LARGEST,
    MOST_CELLS,
    MOST_ROWS,
    UnreadableFile,
    canonical,
    digest_of,
    read_csv,
)
from wms_sync.master_data.kinds import PRODUCTS, RETAILERS


def test_names_lose_case_and_blanks():
    """But for the code of a custom field."""
    assert [canonical(name) for name in (" Code ", "Sort Order", "Sort_Order", "Custom_Fields. EdiId ")] == [
        "code",
        "sort order",
        "sort_order",
        "custom_fields.EdiId",
    ]


KUEHL = "code\nKühl 東京\n"
READ: dict[str, tuple[str | bytes, dict[int, tuple[str, ...]], dict[int, tuple[tuple[str, ...], str]]]] = {
    # a file, its rows by line, and the lines that are set aside with their cells and what is said of them
    "everything stays text": (
        "code,name,n\n00123,NA,null\n1.50,,nan\nTRUE,None,-\n",
        {2: ("00123", "NA", "null"), 3: ("1.50", "", "nan"), 4: ("TRUE", "None", "-")},
        {},
    ),
    "the header alone tells the delimiter": (
        "code;name\nA;one, two, three, four\n",
        {2: ("A", "one, two, three, four")},
        {},
    ),
    "tabs": ("code\tname\nA\tone, two; three\n", {2: ("A", "one, two; three")}, {}),
    "lines that end with a carriage return": (
        'code,name\rA,"one\rtwo"\rB,Beta\r',
        {2: ("A", "one\rtwo"), 4: ("B", "Beta")},
        {},
    ),
    "a header in quotes": ('"code";"a, b, c, d"\nA;B\n', {2: ("A", "B")}, {}),
    "a header of one name": ("code\nA;B\n", {2: ("A;B",)}, {}),
    "UTF-8": (KUEHL.encode(), {2: ("Kühl 東京",)}, {}),
    "UTF-8 with a mark": (f"\ufeff{KUEHL}".encode(), {2: ("Kühl 東京",)}, {}),
    "UTF-16": (f"\ufeff{KUEHL}".encode("utf-16-le"), {2: ("Kühl 東京",)}, {}),
    "Windows-1252": ("code\nKühl – 5 €\n".encode("cp1252"), {2: ("Kühl – 5 €",)}, {}),
    "accents in either encoding, and a letter that would become the delimiter": (
        "code;name\nKu\u0308hl;K\u00fchl\u037e\n",
        {2: ("K\u00fchl", "K\u00fchl;")},
        {},
    ),
    "a line break inside quotes": (
        'code,name\nA,"one\r\ntwo\n\nfour"\nB,"say ""hi"""\n',
        {2: ("A", "one\r\ntwo\n\nfour"), 6: ("B", 'say "hi"')},
        {},
    ),
    "a header over two lines": ('\n\n"code","na\nme"\nA,B\n', {5: ("A", "B")}, {}),
    "empty lines and lines of delimiters": (
        ",,\ncode,name\n\nA,Alpha\n,\n  ,\t\n\r\nB,Beta",
        {4: ("A", "Alpha"), 8: ("B", "Beta")},
        {},
    ),
    "marks of files that were joined": (
        '\ufeff"code","name"\r\nA,Alpha\r\n\ufeff"code","name"\r\nB,\ufeffBeta\r\n'.encode(),
        {2: ("A", "Alpha"), 3: ("code", "name"), 4: ("B", "\ufeffBeta")},
        {},
    ),
    "rows of another width": (
        "code,name\nA\nB,Beta\nC,Gamma, Inc.\n",
        {3: ("B", "Beta")},
        {
            2: (
                ("A",),
                "Has 1 cell where the header has 2: a cell is missing. If Excel left out empty cells at the end",
            ),
            4: (("C", "Gamma", " Inc."), "quote a cell that contains the delimiter"),
        },
    ),
    "blank cells beyond the header": ("code,name\nA,Alpha,, \n", {2: ("A", "Alpha")}, {}),
    "a quote that is never closed": (
        'code,name\nA,Alpha\nB,"Beta\nC,Gamma\n',
        {2: ("A", "Alpha")},
        {3: ((), "Lines 3 to 4 are not readable as one record")},
    ),
    "a quote in the wrong place": (
        'code,name\nA,"5" pipe\nB,5" pipe\n',
        {3: ("B", '5" pipe')},
        {2: ((), "The line is not readable as one record")},
    ),
    "lines of a cell after a quote in the wrong place": (
        'code,name\nA,"a" b,"c\nD,E\nf"\nB,Beta\n',
        {5: ("B", "Beta")},
        {2: ((), "Lines 2 to 4 are not readable as one record")},
    ),
    "a cell that is far too long": (
        f"code,name\nA,{'x' * 140_000}\nB,Beta\n",
        {3: ("B", "Beta")},
        {2: ((), "(field larger than field limit (65536))")},
    ),
    "a header without rows": ("code,name", {}, {}),
}


@pytest.mark.parametrize(("raw", "read_as", "set_aside"), READ.values(), ids=READ)
def test_what_is_read_of_a_file(tmp_path, raw, read_as, set_aside):
    file = read(tmp_path, raw)
    assert dict(zip(file.frame.index, file.frame.itertuples(index=False, name=None), strict=True)) == read_as
    assert {row.line: row.cells for row in file.malformed} == {line: cells for line, (cells, _) in set_aside.items()}
    assert [row.rule for row in file.malformed if set_aside[row.line][1] not in row.rule] == []
    assert file.cells == read_as | {line: cells for line, (cells, _) in set_aside.items() if cells}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "it is empty"),
        (b"\n\n,,\n", "it is empty"),
        ("\ufeff".encode(), "it is empty"),
        (b"PK\x03\x04rest", "it is a workbook"),
        (b"\xd0\xcf\x11\xe0rest", "it is a workbook"),
        ("code\nA\n".encode("utf-16-le"), "NUL characters"),
        ("\ufeffcode\nA\n".encode("utf-16-be"), "NUL characters"),
        (b"\xff\xfec\x00o\x00d", "byte 6 is not utf-16-le."),
        (b"code\n\x81\xff\n", "byte 5 is not utf-8 or cp1252."),
        ("code\nKühl ".encode() + b"\xe9\n", "byte 11 is not utf-8."),
        (b'"code,name\nA,B\n', "its header, on line 1, has a quote that is not closed"),
        (b"code" + b",x" * 3_000, "its header, on line 1, has 3,001 columns; at most 2,000 are allowed"),
        (b"code,name\n" + b"A,B\n" * (MOST_ROWS + 1), "it has more than 100,000 rows"),
        (b'code,name\nA,"x\n' + b"x\n" * 6_000_000, "it has more than 100,000 rows"),
        (b"code,name\n" + (b"," * 1_000_000 + b"x\n") * 3, "2,000,000 cells"),
        (b"code,name\nA," + b"[]," * (MOST_CELLS + 1), "lists and objects of JSON"),
        (b"code,name\n" + b" " * LARGEST, "it has more than 32 MiB"),
    ],
)
def test_what_is_no_csv_is_said(tmp_path, raw, says):
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, raw)
    assert str(caught.value).startswith(f"{tmp_path / 'given.csv'} cannot be read: ")
    assert (says in str(caught.value), caught.value.exit_code) == (True, 2), caught.value


def test_as_much_as_is_allowed_is_read(tmp_path):
    """Blank rows, which a spreadsheet leaves by the million, do not count."""
    assert len(read(tmp_path, b"code,name\n" + b"A,B\n" * MOST_ROWS + b",\n" * 1_000_000).cells) == MOST_ROWS


PUSH = """
import re, sys
from pathlib import Path
from wms_sync.layout import Layout
from wms_sync.master_data.check import check
from wms_sync.master_data.csv_file import read_csv
from wms_sync.master_data.existing import Existing
from wms_sync.master_data.kinds import kind_named
from wms_sync.master_data.plan import make_plan
from wms_sync.master_data.push import write_rejects
path = Path(sys.argv[2])
checked = check(read_csv(path), kind_named(sys.argv[1]))
plan = make_plan(checked, Existing("service", {}, {}))
write_rejects(Layout(path.parent), checked, "run", {step.line: step.why for step in plan.steps})
print(int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""
"""Checks and plans a file and writes its rejected rows; the most memory that this took, in MiB.

What ``getrusage`` says begins with the memory of the process that started this one.
"""


@pytest.mark.proof
@pytest.mark.parametrize(
    ("kind", "header", "row"),
    [
        (RETAILERS, "code,name,routing_guide_notes", f"Name,\N{DELIVERY TRUCK}{'x' * 65_000}"),
        (RETAILERS, "code,name,status,routing_guide_notes", f"Name,wrong,\N{DELIVERY TRUCK}{'x' * 65_000}"),
        (PRODUCTS, "sku,name,custom_fields.a", 'Name,"[' + '""ab"",' * 9_000 + '1]"'),
    ],
)
def test_a_push_takes_less_than_a_gibibyte(tmp_path, kind, header, row):
    path, count = tmp_path / "given.csv", LARGEST // (len(row) + 10)
    path.write_text(f"{header}\n" + "".join(f"C{number},{row}\n" for number in range(count)), encoding="utf-8")
    ended = subprocess.run([sys.executable, "-c", PUSH, str(kind), path], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 1024


def test_only_a_regular_file_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    given = {
        **dict.fromkeys(
            (tmp_path / "pipe.csv", tmp_path, Path("/dev/zero")), "it is a folder, pipe or device.*Give one CSV file"
        ),
        tmp_path / "nothing.csv": "the file does not exist",
        Path("/proc/self/mem"): "Input/output error. Check its permissions",
    }
    for path, says in given.items():
        with pytest.raises(UnreadableFile, match=f"{path} cannot be read: {says}"):
            read_csv(path)
    assert digest_of(tmp_path) == "unreadable: Is a directory"
