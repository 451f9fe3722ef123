"""Products: the kind of which the service does not promise to refuse a second one, so that a doubt needs proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.master_data.conftest import MERCHANT
from tests.master_data.files import SAMPLES
from tests.master_data.test_push import only, outcomes
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.faults import AnswerLost
from wms_sandbox.transport import InProcess
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.table import RETAILERS
from wms_sync.master_data.plan import Action
from wms_sync.state.ledger import State

GOLDEN = Path(__file__).parent / "golden"
FILE = ("type,sku,name", "Product,MUG,Mug", "Product,CUP,Cup")
SET_BY_THE_SERVICE = {"id", "created_at", "updated_at"}
MERCHANT_BY_DEFAULT = {"merchant": {"type": "Merchant", "id": 11}}


def skus(desk) -> list[str]:
    return [product["sku"] for product in desk.server.sandbox.products()]


def test_a_doubtful_product_is_planned_and_not_sent(desk):
    """Until the Merchant API shows it, which a plan does not record, or a person sends it and only that."""
    path = desk.file(*FILE)
    only(desk, "MUG", AnswerLost())
    assert outcomes(desk.push(PRODUCTS, path)) == {"MUG": Outcome.IN_DOUBT, "CUP": Outcome.CREATED}
    desk.server.sandbox.intercept = None
    plan = desk.plan(PRODUCTS, path)
    [step] = [step for step in plan.steps if step.key == "MUG"]
    assert (step.action, step.sends, plan.exit_code) == (Action.IN_DOUBT, False, 3)
    assert "--resend" in step.why
    again = desk.push(PRODUCTS, path)
    assert outcomes(again) == {"MUG": Outcome.IN_DOUBT, "CUP": Outcome.ALREADY_THERE}
    assert again.applied.requests == 0
    assert [step.key for step in desk.plan(PRODUCTS, path, resend=True).steps if step.sends] == ["MUG"]
    desk.set(**MERCHANT)
    assert desk.plan(PRODUCTS, path).counts == {Action.ALREADY_THERE: 2}
    assert desk.entries()["MUG"].state is State.DOUBT
    assert desk.push(PRODUCTS, path).counts == {Outcome.ALREADY_THERE: 2}
    [mug] = [product for product in desk.server.sandbox.products() if product["sku"] == "MUG"]
    assert (desk.entries()["MUG"].state, desk.entries()["MUG"].remote_id) == (State.CREATED, mug["id"])


def test_where_a_service_refuses_a_second_sku_that_is_proof(settings_for, desk):
    with InProcess(Sandbox(SandboxConfig(shipments=20, families=20, unique_skus=True))) as server:
        desk.server, desk.settings = server, settings_for(server)
        path = desk.file(*FILE)
        only(desk, "MUG", AnswerLost())
        desk.push(PRODUCTS, path)
        server.sandbox.intercept = None
        assert outcomes(desk.push(PRODUCTS, path, resend=True))["MUG"] is Outcome.CREATED
        assert sorted(skus(desk)) == ["CUP", "MUG"]


def test_a_product_that_the_service_shows_is_not_created(desk, shown):
    desk.sync_has_shown(shown)
    path = desk.file("type,sku,name", "Product,SKU-00000-S,Something", "Product,NEW-1,New")
    plan = desk.plan(PRODUCTS, path)
    assert plan.counts == {Action.CREATE: 1, Action.ALREADY_THERE: 1}
    assert "of merchant m" in next(step.why for step in plan.steps if step.key == "SKU-00000-S")
    desk.push(PRODUCTS, path)
    assert skus(desk) == ["NEW-1"]


def test_items_may_name_products_of_the_same_file_whatever_their_type(desk):
    path = desk.file(
        "type,sku,name,container_options.associated_product_skus",
        "PackagingContainer,BOX,Box,MUG|INSERT",
        "PackagingInfill,INSERT,Insert,",
        "Product,MUG,Mug,",
    )
    assert desk.push(PRODUCTS, path).counts == {Outcome.CREATED: 3}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    assert made["BOX"]["container_options"]["associated_products"] == [
        {"type": "Product", "id": made["MUG"]["id"]},
        {"type": "PackagingInfill", "id": made["INSERT"]["id"]},
    ]


def test_every_kind_arrives_exactly_as_the_specification_shapes_it(desk, shown):
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


def test_a_retailer_arrives_with_custom_fields_of_every_shape(desk):
    assert desk.push(RETAILERS, SAMPLES / "retailers.csv").counts == {Outcome.CREATED: 3}
    made = {retailer["code"]: retailer for retailer in desk.server.sandbox.retailers()}
    golden = json.loads((GOLDEN / "retailers.json").read_text(encoding="utf-8"))
    for record in golden:
        expected = _resolved(record, {"Retailer": {"NWT": made["NWT"]["id"]}})
        assert {name: made[record["key"]][name] for name in expected} == expected
    fields = made["NWT"]["custom_fields"].values()
    assert {frozenset(field) if isinstance(field, dict) else "list" for field in fields} == {
        frozenset({"value"}),
        frozenset({"id", "label"}),
        frozenset({"amount", "currency"}),
        "list",
    }
    values = [field["value"] for field in fields if isinstance(field, dict) and "value" in field]
    assert {type(value) for value in values} == {str, int, bool}


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
