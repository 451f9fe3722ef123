"""The value parser of filters, on its own."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wms_sandbox.json5 import Json5Error, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_json5(value: Any):
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value, ensure_ascii=False, indent=2)) == value or "\u2028" in json.dumps(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a:1,$b_2:'x',}", {"a": 1, "$b_2": "x"}),
        ("[1,2,]", [1, 2]),
        (r"'it\'s \"q\" \x41\u00e9\n'", 'it\'s "q" Aé\n'),
        (".5", 0.5),
        ("+3", 3),
        ("-2.", -2.0),
        (" { } ", {}),
    ],
)
def test_what_json5_adds(text: str, value: Any):
    assert parse(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "{a}", "{a:}", "{a:1 b:2}", "[1", "[,]", "'x", r"'\u12'", "nul", "1 2", "{1:2}"]
)
def test_what_is_no_json5(text: str):
    with pytest.raises(Json5Error, match="at character"):
        parse(text)
