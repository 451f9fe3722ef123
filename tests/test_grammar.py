"""Numbers agree with their nouns, wherever one is printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wms_sync.grammar import agreed, count_of

ROOT = Path(__file__).parents[1]
SOURCES = [*(ROOT / "src" / "wms_sync").rglob("*.py"), *(ROOT / "pipelines").rglob("*.py")]
COUNTED = r"shipments|windows|rows|tables|pages|records|files|values|keys|orders|creates|objects|checks|requests|runs"
PLURAL = re.compile(rf"^ (?:(?:raw|old|older|other|Parquet) )?(?:{COUNTED})\b")
IN_A_LOG = re.compile(rf"%\(\w+\)d (?:[a-zA-Z]+ )?(?:{COUNTED})\b")
NO_COUNTS = {
    # what stands before the noun is no count, or never one
    "{SHIPMENTS}",  # of the demo
    "{wanted}",  # the size of a page, at least two
    "{now.records / elapsed}",  # a speed
    "{MOST_PAGES}",
    "{path}",  # creates no table
    "{self._empty}",  # more than a few
}


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1234, "1,234 rows"), (1_000_001, "1,000,001 rows")],
)
def test_a_count_agrees_with_its_noun(count, shown):
    assert count_of(count, "row") == shown


def test_a_plural_that_does_not_end_in_s_and_a_verb_are_given():
    assert count_of(1, "status is", "statuses are") == "1 status is"
    assert count_of(3, "status is", "statuses are") == "3 statuses are"
    assert (agreed(1, "it", "they"), agreed(0, "it", "they")) == ("it", "they")


def fixed_plurals(path: Path) -> Iterator[str]:
    """Counts with a noun that is always in the plural: `{count} rows`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    shown = f"{{{ast.unparse(value.value)}}}"
                    if PLURAL.match(str(text.value)) and shown not in NO_COUNTS:
                        yield f"{path.name}:{node.lineno}: {shown}{text.value!r}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_A_LOG.search(node.value):
            yield f"{path.name}:{node.lineno}: {node.value}"


def test_no_count_is_printed_with_a_noun_that_is_always_in_the_plural():
    assert [found for path in SOURCES for found in fixed_plurals(path)] == []
