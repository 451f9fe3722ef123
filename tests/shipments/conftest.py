"""The service of a module."""

from __future__ import annotations

import pytest

from tests.conftest import FEWER
from wms_sandbox.app import Sandbox


@pytest.fixture
def sandbox(request, in_process):
    """Of the module's ``SERVICE``, or of 240 shipments."""
    in_process.sandbox = Sandbox(getattr(request.module, "SERVICE", FEWER))
    return in_process
