"""The generated reference as a test: it equals what the code says now, and each command has a group and an example."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path

import click
import pytest

from tests.reference import pages, rendered
from wms_sync.cli.grouped import EXAMPLES, GROUPS
from wms_sync.cli.main import main


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_generated_page_says_what_the_code_says(page: Path):
    assert page.read_text(encoding="utf-8") == rendered(pages()[page]()), "run make reference"


def test_each_command_has_a_group_and_an_example():
    grouped = Counter(chain.from_iterable(GROUPS.values()))
    assert set(grouped) == set(main.commands)
    assert set(grouped.values()) == {1}
    leaves = {
        f"{name} {inner}" if inner else name
        for name, command in main.commands.items()
        for inner in (command.commands if isinstance(command, click.Group) else [""])
    }
    assert set(EXAMPLES) == leaves
