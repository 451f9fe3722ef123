"""Whole operations with a service in this process: nothing listens at its address, so no request takes a socket."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from threading import Event

import pytest
from pydantic import SecretStr

from tests.conftest import NOW
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.identities import retailer_code
from wms_sandbox.transport import InProcess
from wms_sync.intervals import Interval
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.kinds.table import RETAILERS
from wms_sync.master_data.push import plan_file
from wms_sync.reports.doctor import examine
from wms_sync.runs import Operation, push

FEW = SandboxConfig(shipments=60, seed=5, days=20, now=NOW, families=20)
MERCHANT = {"merchant_username": "sandbox-merchant", "merchant_api_key": SecretStr("sandbox-api-key")}


@pytest.fixture
def sandbox(in_process: InProcess) -> InProcess:
    in_process.sandbox = Sandbox(FEW)
    return in_process


def test_a_sync_and_a_backfill_reach_the_service(bench, sandbox):
    night = Operation(bench.settings, source="test", transport=sandbox)
    night.sync()
    assert night.report.read is not None
    assert night.report.read.progress.records == 60
    sandbox.sandbox.advance(seconds=3600, changed=30)
    again = Operation(bench.settings, source="test", transport=sandbox)
    again.backfill(Interval(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)))
    assert again.report.refreshed is not None
    assert again.report.refreshed.published


def test_a_plan_and_a_push_reach_both_interfaces(bench, sandbox, tmp_path):
    settings = bench.settings.model_copy(update=MERCHANT)
    path = tmp_path / "retailers.csv"
    path.write_text(f"code,name,parent_retailer_code\nup,Up,\nsub,Sub,{retailer_code(0)}\n")
    assert plan_file(settings, RETAILERS, path, transport=sandbox).sends == 2
    pushed = push(
        settings,
        RETAILERS,
        path,
        source="test",
        resend=False,
        planned=lambda _: None,
        stop=Event(),
        transport=sandbox,
    )
    assert pushed.counts == {Outcome.CREATED: 2}
    assert {retailer["code"] for retailer in sandbox.sandbox.retailers()} == {"up", "sub"}
    assert {served.path for served in sandbox.sandbox.requests} >= {"/api/jsonrpc", "/api/global/v1/shipping/retailers"}


def test_the_doctor_asks_both_interfaces(bench, sandbox):
    sandbox.sandbox = Sandbox(replace(FEW, now=datetime.now(UTC)))
    settings = bench.settings.model_copy(update=MERCHANT)
    asked = {"connection", "token", "merchant", "clock"}
    found = [finding for finding in examine(settings, transport=sandbox) if finding.name in asked]
    assert {finding.name for finding in found} == asked
    assert [finding.text for finding in found if finding.severity != "note"] == []
