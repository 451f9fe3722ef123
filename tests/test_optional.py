"""Modules that are installed and not needed: hidden where that saves time, and there for whoever asks."""

from __future__ import annotations

import sys

import pytest

from wms_sync.optional import imported, without

NAME = "this"
"""A module that nothing imports."""


def test_a_module_is_hidden_inside_the_block_and_imported_by_whoever_needs_it(capsys):
    with without(NAME), without(NAME):
        with pytest.raises(ModuleNotFoundError):
            import this
        assert imported(NAME) is sys.modules[NAME]
        import this
    assert sys.modules.pop(NAME) is this
    with without(NAME):
        pass
    assert NAME not in sys.modules


def test_what_is_imported_stays():
    with without("json"):
        import json
    assert sys.modules["json"] is json
