import pytest

from tests.master_data.files import checked
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import LOCATION_TAGS, PRODUCTS, RETAILERS

TREE = "code,name,parent_retailer_code"
BOXES = "type,sku,name,container_options.associated_product_skus"
CIRCLE = "Refers in a circle: "
OF_CASE = "The same code, apart from case, is on line"
REPEATED = "Repeats the header. Remove the line."
BY_THE_SERVICE = "Is set by the service and cannot be sent. Remove the column."
UNITS = (
    "Cannot be sent: a create has no units, and the service uses its own, which its answers show "
    "(lb, in, in^3). Convert the values if needed, and remove the column."
)
TOGETHER: dict[str, tuple[Kind, tuple[str, ...], str, list[tuple[int, str | None, str]]]] = {
    # a file, the keys in the order in which they are sent, and what is said of its header and of the other rows
    "all that is wrong at once": (
        RETAILERS,
        ("id,Codee,name,NAME ,created_at", "1,A,Alpha,Alpha,2026-01-01"),
        "",
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
        "",
        [(1, "id", BY_THE_SERVICE), (3, "color", "Must be filled.")],
    ),
    "a missing column, once": (
        LOCATION_TAGS,
        ("name", "Cold", "Hot"),
        "",
        [(1, "color", "The column is missing: location tags need it.")],
    ),
    "the line of the file": (
        LOCATION_TAGS,
        ("", "name,id", "Cold,1"),
        "",
        [(2, "id", BY_THE_SERVICE), (2, "color", "The column is missing: location tags need it.")],
    ),
    "units of the service": (
        PRODUCTS,
        ("sku,name,weight.value,weight.unit", "A,Alpha,1,kg"),
        "",
        [(1, "weight.unit", UNITS)],
    ),
    "cells under no name": (
        LOCATION_TAGS,
        ("name,color,", "Cold,blue1,Zone A"),
        "",
        [(1, "", "Column 3 has cells but no name. Name or remove it.")],
    ),
    "a vendor's column and ours": (
        PRODUCTS,
        ("sku,name,weight,weight.value", "A,Alpha,1,2"),
        "",
        [(1, "weight.value", "Is the same column as weight; keep one.")],
    ),
    "case, blanks and columns without name": (LOCATION_TAGS, (" Name ,COLOR,,", "Cold,blue1,, "), "Cold", []),
    "no rows": (LOCATION_TAGS, ("name,color",), "", []),
    "parents go first": (
        RETAILERS,
        (TREE, "Z,Z,", "C,C,B", "Y,Y,ELSEWHERE", "B,B,A", "A,A,", "X,X,"),
        "Z A X Y B C",
        [],
    ),
    "products go before their boxes": (
        PRODUCTS,
        (BOXES, "PackagingContainer,BOX,Box,MUG|ELSEWHERE|CUP", "Product,CUP,Cup,", "Product,MUG,Mug,"),
        "MUG CUP BOX",
        [],
    ),
    "a circle costs its descendants": (
        RETAILERS,
        (TREE, "A,A,B", "B,B,C", "C,C,A", "D,D,A", "E,E,"),
        "E",
        [
            (2, "parent_retailer_code", f"{CIRCLE}A -> B -> C -> A. Remove one of these references."),
            (3, "parent_retailer_code", f"{CIRCLE}A -> B -> C -> A."),
            (4, "parent_retailer_code", f"{CIRCLE}A -> B -> C -> A."),
            (5, "parent_retailer_code", "The retailer A on line 2 is rejected too. Correct that line first."),
        ],
    ),
    "its own parent": (
        RETAILERS,
        (TREE, "A,A,A"),
        "",
        [(2, "parent_retailer_code", "The retailer A refers to itself.")],
    ),
    "two circles": (
        RETAILERS,
        (TREE, "A,A,B", "B,B,A", "C,C,D", "D,D,C"),
        "",
        [
            (2, "parent_retailer_code", CIRCLE),
            (3, "parent_retailer_code", CIRCLE),
            (4, "parent_retailer_code", "The retailer D on line 5 is rejected too."),
            (5, "parent_retailer_code", "The retailer C on line 4 is rejected too."),
        ],
    ),
    "two circles that share a member": (
        PRODUCTS,
        (BOXES, *(f"PackagingContainer,{row}" for row in ("A,A,B|C", "B,B,A", "C,C,B", "D,D,"))),
        "D",
        [(line, "container_options.associated_product_skus", "") for line in (2, 3, 4)],
    ),
    "a child of a rejected row": (
        RETAILERS,
        ("code,name,status,Parent_Retailer_Code", "GRANDCHILD,G,,CHILD", "CHILD,C,,PARENT", "PARENT,P,asleep,"),
        "",
        [
            (2, "Parent_Retailer_Code", "The retailer CHILD on line 3 is rejected too. Correct that line first."),
            (3, "Parent_Retailer_Code", "The retailer PARENT on line 4 is rejected too. Correct that line first."),
            (4, "status", "Must be one of: active, archived."),
        ],
    ),
    "an archived parent": (
        RETAILERS,
        ("code,name,status,parent_retailer_code", "OLD,Old,archived,", "NEW,New,active,OLD"),
        "OLD",
        [(3, "parent_retailer_code", "The retailer OLD on line 2 is archived and cannot be a parent.")],
    ),
    **{
        f"a {key} that is there twice": (
            kind,
            (header, *rows),
            left,
            [
                (2, key, f"The same {key} is on line 3. Keep one of the rows."),
                (3, key, f"The same {key} is on line 2. Keep one of the rows."),
            ],
        )
        for kind, header, rows, key, left in (
            (RETAILERS, "code,name", ("A1,x", " A1 ,y", "B,z"), "code", "B"),
            (LOCATION_TAGS, "name,color", ("Cold,blue1", "<b>Cold</b> ,blue2", "Hot,red1"), "name", "Hot"),
            (PRODUCTS, "sku,name", ("00123,x", "00123,y", "123,z"), "sku", "123"),
        )
    },
    "keys that differ in case": (
        RETAILERS,
        ("code,name", "acme,x", "ACME,y", "acme,z"),
        "",
        [
            (2, "code", f"{OF_CASE}s 3, 4. Keep one of the rows."),
            (3, "code", f"{OF_CASE}s 2, 4. Keep one of the rows."),
            (4, "code", "The same code"),
        ],
    ),
    "keys whose accents differ in encoding": (
        RETAILERS,
        ("code,name", "caf\u00e9,x", "Cafe\u0301,y"),
        "",
        [(2, "code", f"{OF_CASE} 3."), (3, "code", f"{OF_CASE} 2.")],
    ),
    "headers that are repeated": (
        LOCATION_TAGS,
        ("Name,color", "Cold,blue1", " NAME ,Color", "Hot,red1", "\ufeffName,color"),
        "Cold Hot",
        [(3, None, REPEATED), (5, None, REPEATED)],
    ),
    "a key twice, and another rule": (
        RETAILERS,
        ("code,name,status", "A,x,", "A,y,asleep"),
        "",
        [(2, "code", "The same code"), (3, "code", "The same code"), (3, "status", "Must be one of")],
    ),
    "all violations of a row": (
        RETAILERS,
        ("Code,name,status,custom_fields", ' ,Alpha,asleep,"{""a"": {""value"": 1.5}}"'),
        "",
        [(2, "Code", ""), (2, "status", ""), (2, "custom_fields", 'a: Must be {"value": ...} with true, false')],
    ),
    "rows of another width": (
        LOCATION_TAGS,
        ("name,color", "Cold", "Hot,red1", "A,b,c", '"open,red1'),
        "Hot",
        [(2, None, ""), (4, None, ""), (5, None, "")],
    ),
    "an unknown type leaves the other cells checked": (
        PRODUCTS,
        (
            "type,sku,name,infill_options.infill_priority,weight.value,container_options.container_style",
            "Infill,A,Alpha,first,1 lb,bag",
        ),
        "",
        [(2, "type", ""), (2, "infill_options.infill_priority", ""), (2, "weight.value", "")],
    ),
    "shifted columns are wrong in their types": (
        PRODUCTS,
        ("type,sku,name", "SKU-1,Mug 1,Product", "SKU-2,Mug 2,Product"),
        "",
        [(2, "type", ""), (3, "type", "")],
    ),
    "products need no type": (PRODUCTS, ("sku,name", "A,Alpha"), "A", []),
    "products need no type among packaging": (
        PRODUCTS,
        ("type,sku,name", ",A,Alpha", "PackagingInfill,B,Beta"),
        "A B",
        [],
    ),
    **{
        f"a point beside {decimals}": (
            PRODUCTS,
            ("sku,name,weight.value", f'A,A,"{decimals}"', "B,B,1.250", "C,C,0.5"),
            sent,
            [*said, (3, "weight.value", "Can be read in two ways: write 1250, or 1.2500")],
        )
        for decimals, sent, said in (
            ("1,5", "A C", []),
            ("1.234,50", "C", [(2, "weight.value", "Must be a number")]),
        )
    },
    "a point is a decimal point by default": (
        PRODUCTS,
        ("sku,name,weight.value", "A,A,1.250", "B,B,12"),
        "A B",
        [],
    ),
}


@pytest.mark.parametrize(("kind", "lines", "sent", "said"), TOGETHER.values(), ids=TOGETHER)
def test_what_is_sent_of_a_file(tmp_path, kind, lines, sent, said):
    result = checked(tmp_path, kind, *lines)
    assert [record.key for record in result.records] == sent.split()
    assert [(found.line, found.column) for found in result.violations] == [(line, column) for line, column, _ in said]
    assert [
        found.rule
        for found, (*_, words) in zip(result.violations, said, strict=True)
        if not found.rule.startswith(words)
    ] == []


def test_a_message_names_the_first_of_many(tmp_path):
    """A key that filled a column of 40,000 rows made 10 GB of messages."""
    same = checked(tmp_path, RETAILERS, "code,name", *["A,a"] * 4000).violations[0]
    assert (same.line, same.rule) == (
        2,
        "The same code is on lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 3,989 more. Keep one of the rows.",
    )
    circle = checked(tmp_path, RETAILERS, TREE, *(f"{one},{one},{(one + 1) % 2000}" for one in range(2000)))
    assert circle.violations[1995].rule == (
        "Refers in a circle: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> ... -> 0. "
        "Remove one of these references."
    )
