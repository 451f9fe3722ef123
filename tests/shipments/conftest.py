"""The service of a module, and an installation that has read and loaded it."""

from dataclasses import replace

import pytest

from tests.bench import FEWER
from wms_sandbox.app import Sandbox


@pytest.fixture
def sandbox(request, in_process):
    """Of as many shipments as the module says in ``SHIPMENTS_HELD``, or of 240."""
    in_process.sandbox = Sandbox(replace(FEWER, shipments=getattr(request.module, "SHIPMENTS_HELD", FEWER.shipments)))
    return in_process


@pytest.fixture
def synced(bench, sandbox):
    """``bench`` after its first sync."""
    bench.first_sync(sandbox)
    return bench
