"""The service of a module, and a state store that is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import FEWER, Bench, opened_store
from wms_sandbox.app import Sandbox


@pytest.fixture
def sandbox(request, in_process):
    """Of the module's ``SERVICE``, or of 240 shipments."""
    in_process.sandbox = Sandbox(getattr(request.module, "SERVICE", FEWER))
    return in_process


def lose_the_state_store(bench: Bench, copy: Path | None = None) -> None:
    """A copy takes its place, or none."""
    bench.store.close()
    for path in bench.layout.root.glob("state.db*"):
        path.unlink()
    if copy is not None:
        shutil.copy(copy, bench.layout.state)
    bench.store = opened_store(bench.settings)
