from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.master_data.files import checked, offences
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.table import LOCATION_TAGS, RETAILERS


def keys(result):
    return [record.key for record in result.records]


def family(folder, *pairs):
    return checked(folder, RETAILERS, "code,name,parent_retailer_code", *(f"{a},{a},{b}" for a, b in pairs))


def test_parents_go_first_and_otherwise_the_order_of_the_file_stays(tmp_path):
    result = family(tmp_path, ("Z", ""), ("C", "B"), ("Y", "ELSEWHERE"), ("B", "A"), ("A", ""), ("X", ""))
    assert keys(result) == ["Z", "A", "B", "C", "Y", "X"]
    assert result.offences == ()


def test_products_go_before_what_they_are_associated_with(tmp_path):
    result = checked(
        tmp_path,
        PRODUCTS,
        "type,sku,name,container_options.associated_product_skus",
        "PackagingContainer,BOX,Box,MUG|ELSEWHERE|CUP",
        "Product,CUP,Cup,",
        "Product,MUG,Mug,",
    )
    assert keys(result) == ["MUG", "CUP", "BOX"]


def test_a_circle_is_named_in_full_and_costs_its_descendants(tmp_path):
    result = family(tmp_path, ("A", "B"), ("B", "C"), ("C", "A"), ("D", "A"), ("E", ""))
    assert keys(result) == ["E"]
    todo = "Remove one of these references."
    assert offences(result) == [
        (2, "parent_retailer_code", f"Refers in a circle: A -> B -> C -> A. {todo}"),
        (3, "parent_retailer_code", f"Refers in a circle: B -> C -> A -> B. {todo}"),
        (4, "parent_retailer_code", f"Refers in a circle: C -> A -> B -> C. {todo}"),
        (5, "parent_retailer_code", "The retailer A on line 2 is rejected too. Correct that line first."),
    ]


def test_a_message_names_the_first_of_many(tmp_path):
    """A key that filled a column of 40,000 rows made 10 GB of messages."""
    same = checked(tmp_path, RETAILERS, "code,name", *["A,a"] * 4000)
    lines = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 3,989 more"
    assert offences(same)[0] == (2, "code", f"The same code is on lines {lines}. Keep one of the rows.")
    assert offences(same)[-1][2].startswith("The same code is on lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and")
    circle = family(tmp_path, *[(str(one), str((one + 1) % 2000)) for one in range(2000)])
    assert offences(circle)[1995][2] == (
        "Refers in a circle: 1995 -> 1996 -> 1997 -> 1998 -> 1999 -> 0 -> 1 -> 2 -> 3 -> 4 -> ... -> 1995. "
        "Remove one of these references."
    )


def test_its_own_parent(tmp_path):
    result = family(tmp_path, ("A", "A"))
    assert offences(result) == [(2, "parent_retailer_code", "The retailer A refers to itself.")]


def test_two_circles_that_share_a_member(tmp_path):
    result = checked(
        tmp_path,
        PRODUCTS,
        "type,sku,name,container_options.associated_product_skus",
        "PackagingContainer,A,A,B|C",
        "PackagingContainer,B,B,A",
        "PackagingContainer,C,C,B",
        "PackagingContainer,D,D,",
    )
    assert keys(result) == ["D"]
    assert {one.line for one in result.offences} == {2, 3, 4}


def test_a_child_of_a_rejected_row_is_rejected(tmp_path):
    result = checked(
        tmp_path,
        RETAILERS,
        "code,name,status,Parent_Retailer_Code",
        "GRANDCHILD,G,,CHILD",
        "CHILD,C,,PARENT",
        "PARENT,P,asleep,",
    )
    assert result.records == ()
    assert offences(result) == [
        (2, "Parent_Retailer_Code", "The retailer CHILD on line 3 is rejected too. Correct that line first."),
        (3, "Parent_Retailer_Code", "The retailer PARENT on line 4 is rejected too. Correct that line first."),
        (4, "status", "Must be one of: active, archived."),
    ]


def test_an_archived_retailer_is_no_parent(tmp_path):
    result = checked(
        tmp_path, RETAILERS, "code,name,status,parent_retailer_code", "OLD,Old,archived,", "NEW,New,active,OLD"
    )
    assert keys(result) == ["OLD"]
    assert offences(result) == [
        (3, "parent_retailer_code", "The retailer OLD on line 2 is archived and cannot be a parent.")
    ]


@pytest.mark.parametrize(
    ("kind", "header", "rows", "key"),
    [
        (RETAILERS, "code,name", ["A1,x", " A1 ,y", "B,z"], "code"),
        (LOCATION_TAGS, "name,color", ["Cold,blue1", "<b>Cold</b> ,blue2", "Hot,red1"], "name"),
        (PRODUCTS, "sku,name", ["00123,x", "00123,y", "123,z"], "sku"),
    ],
)
def test_a_key_that_is_there_twice_is_refused_on_both_lines(tmp_path, kind, header, rows, key):
    result = checked(tmp_path, kind, header, *rows)
    assert [record.line for record in result.records] == [4]
    assert offences(result) == [
        (2, key, f"The same {key} is on line 3. Keep one of the rows."),
        (3, key, f"The same {key} is on line 2. Keep one of the rows."),
    ]


def test_keys_that_differ_in_case_alone_are_refused(tmp_path):
    result = checked(tmp_path, RETAILERS, "code,name", "acme,x", "ACME,y", "acme,z")
    assert offences(result)[:2] == [
        (2, "code", "The same code, except for upper and lower case, is on lines 3, 4. Keep one of the rows."),
        (3, "code", "The same code, except for upper and lower case, is on lines 2, 4. Keep one of the rows."),
    ]


def test_keys_whose_accents_are_encoded_in_two_ways_are_refused(tmp_path):
    result = checked(tmp_path, RETAILERS, "code,name", "caf\u00e9,x", "Cafe\u0301,y")
    assert [one.line for one in result.offences] == [2, 3]
    told = "The same code, except for letters with accents that are encoded in two ways, is on line 3."
    assert offences(result)[0][2].startswith(told)


def test_a_key_that_is_there_twice_counts_although_one_row_breaks_another_rule(tmp_path):
    result = checked(tmp_path, RETAILERS, "code,name,status", "A,x,", "A,y,asleep")
    assert [one.line for one in result.offences] == [2, 3, 3]


def test_a_long_chain_of_parents(tmp_path):
    chain = [(f"R{number}", f"R{number + 1}") for number in range(3000)]
    result = family(tmp_path, *chain, ("R3000", ""))
    assert keys(result) == [f"R{number}" for number in range(3000, -1, -1)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=10))
def test_every_record_stands_behind_its_parent_and_the_rest_hangs_on_a_circle(tmp_path_factory, parents):
    pairs = [(f"R{number}", "" if parent is None else f"R{parent}") for number, parent in enumerate(parents)]
    result = family(tmp_path_factory.mktemp("family"), *pairs)
    above = dict(pairs)
    sent = keys(result)
    for code, _ in pairs:
        way = [code]
        while (parent := above.get(way[-1], "")) and parent not in way:
            way.append(parent)
        assert (code in sent) == (not parent), way
    assert all(above[code] not in sent[place:] for place, code in enumerate(sent))


def test_an_offence_between_rows_shows_the_cell_as_it_was_written(tmp_path):
    result = checked(tmp_path, LOCATION_TAGS, "name,color", "<b>Cold</b> ,blue2", "Cold,blue1")
    assert [one.value for one in result.offences] == ["<b>Cold</b> ", "Cold"]
    result = checked(
        tmp_path, PRODUCTS, "type,sku,name,infill_options.associated_product_skus", "PackagingInfill,A,A,B | A"
    )
    assert [one.value for one in result.offences] == ["B | A"]
