"""Products: the kind of which the service does not promise to refuse a second one, so that a doubt needs proof."""

from __future__ import annotations

import json
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
SET_BY_THE_SERVICE = {"id", "created_at", "updated_at"}
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
    merchants = {"m01": 12, "m02": 13, "m03": 14}
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {Outcome.CREATED: 11}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    golden = json.loads((GOLDEN / "products.json").read_text(encoding="utf-8"))
    assert {record["body"]["type"] for record in golden} == {product["type"] for product in made.values()}
    ids = {"Product": {"MUG-01": made["MUG-01"]["id"]}, "Merchant": merchants, "Warehouse": {"Springfield DC 0": 1}}
    for record in golden:
        sent = {name: value for name, value in made[record["key"]].items() if name not in SET_BY_THE_SERVICE}
        assert _without_units(sent, record["body"]) == MERCHANT_BY_DEFAULT | _resolved(record, ids)
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {Outcome.ALREADY_THERE: 11}


def _resolved(record: dict[str, Any], ids: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The body that the golden record stands for, references by id; LotType and Regulation are named by theirs."""
    body: dict[str, Any] = json.loads(json.dumps(record["body"]))
    for reference in record["references"]:
        known = ids.get(reference["kind"], {})
        remote = [{"type": reference["kind"], "id": known.get(key) or int(key)} for key in reference["keys"]]
        *above, field = reference["path"].split(".")
        inner = body
        for one in above:
            inner = inner[one]
        inner[field] = remote if reference["many"] else remote[0]
    return body


def _without_units(shown: Any, sent: Any) -> Any:
    """What the service shows without the units that it adds to measures that were sent without."""
    if isinstance(shown, dict) and isinstance(sent, dict):
        return {
            name: _without_units(value, sent.get(name))
            for name, value in shown.items()
            if name != "unit" or name in sent
        }
    return shown
