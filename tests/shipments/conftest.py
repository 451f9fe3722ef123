"""The service of a module."""

from dataclasses import replace

import pytest

from tests.bench import FEWER
from wms_sandbox.app import Sandbox


@pytest.fixture
def sandbox(request, in_process):
    """Of as many shipments as the module says in ``SHIPMENTS_HELD``, or of 240."""
    held = getattr(request.module, "SHIPMENTS_HELD", FEWER.shipments)
    in_process.sandbox = Sandbox(replace(FEWER, shipments=held))
    return in_process
