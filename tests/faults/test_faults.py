"""Each fault can be planted, and each line of the guarantees has one. ``planting.py`` runs what they name."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from tests.faults.every import FAULTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.sentence)
def test_a_fault_can_be_planted(fault):
    planted = fault.planted(ROOT)
    if fault.file.endswith(".py"):
        ast.parse(planted)
    assert fault.tests
    for file, _, name in (test.partition("::") for test in fault.tests):
        assert f"def {name.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8")


def test_each_line_of_the_guarantees_has_a_fault_and_no_fault_breaks_another():
    """A line is the first cell of a row of a table; heads are none."""
    names = ("docs/explanation/guarantees.md", "tests/content.md", "tests/transport.md", "tests/survived.md")
    texts = [(ROOT / name).read_text(encoding="utf-8").splitlines() for name in names]
    rows = [row for text in texts for above, row in pairwise(text) if row.startswith("| ") and above]
    lines = {row.removeprefix("| ").partition(" | ")[0] for row in rows if not row.startswith("| ---")}
    assert {line for fault in FAULTS for line in fault.breaks} == lines
