"""Products: the kind of which the service does not promise to refuse a second one, so that a doubt needs proof."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from tests.master_data.files import SAMPLES
from tests.master_data.test_push import outcomes
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.faults import AnswerLost
from wms_sandbox.transport import InProcess
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.products import PRODUCTS

GOLDEN = Path(__file__).parent / "golden"
MERCHANT_BY_DEFAULT = {"merchant": {"type": "Merchant", "id": 11}}


def test_a_refused_second_sku_is_proof(settings_for, desk):
    with InProcess(Sandbox(SandboxConfig(shipments=20, families=20, unique_skus=True))) as server:
        desk.server, desk.settings = server, settings_for(server)
        path = desk.file("type,sku,name", "Product,MUG,Mug", "Product,CUP,Cup")
        desk.answer({"MUG": AnswerLost()})
        desk.push(PRODUCTS, path)
        desk.answer({})
        assert outcomes(desk.push(PRODUCTS, path, resend=True))["MUG"] is Outcome.CREATED
        assert sorted(product["sku"] for product in server.sandbox.products()) == ["CUP", "MUG"]


def test_every_kind_arrives_as_specified(desk, shown):
    """The sample file uses every column; merchants and the warehouse it names are known from a sync."""
    desk.sync_has_shown(shown)
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {Outcome.CREATED: 11}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    golden = json.loads((GOLDEN / "products.json").read_text(encoding="utf-8"))
    assert {record["body"]["type"] for record in golden} == {product["type"] for product in made.values()}
    known = {
        "Product": {"MUG-01": made["MUG-01"]["id"]},
        "Merchant": {"m01": 12, "m02": 13, "m03": 14},
        "Warehouse": {"Springfield DC 0": 1},
    }
    for record in golden:
        body = record["body"]
        for reference in record["references"]:
            ids = known.get(reference["kind"], {})  # LotType and Regulation are named by theirs
            remote = [{"type": reference["kind"], "id": ids.get(key) or int(key)} for key in reference["keys"]]
            *above, field = reference["path"].split(".")
            reduce(getitem, above, body)[field] = remote if reference["many"] else remote[0]
        assert _sent(made[record["key"]], body) == MERCHANT_BY_DEFAULT | body
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {Outcome.ALREADY_THERE: 11}


def _sent(shown: Any, sent: Any) -> Any:
    """What the service shows without what it sets itself: ids, times, and units of measures that had none."""
    if not (isinstance(shown, dict) and isinstance(sent, dict)):
        return shown
    set_by_the_service = {"id", "created_at", "updated_at", "unit"} - sent.keys()
    return {name: _sent(value, sent.get(name)) for name, value in shown.items() if name not in set_by_the_service}
