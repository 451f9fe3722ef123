"""Loaded by schemathesis: what of the sandbox its description cannot say, and what keeps the run short."""

import itertools
from typing import Any

import schemathesis
from schemathesis.core.failures import Failure

from wms_sandbox.identities import merchant_id, product_kind, product_reference, reference
from wms_sandbox.location_tags import clean_name

LISTING, TAGS = "/v1/shipping/shipments", "/v1/inventory/location-tags"
UNFUZZED = ("cursor_end", "fields:order.", "fields:packages.", "fields:retailer", "fields:mark_for", "fields:gallery")
UNFUZZED_KINDS = ("PackagingSupplies", "PackagingDataCollection", "PackagingInstruction")
KNOWN = {
    "Retailer": reference("Retailer", 101),
    "Merchant": reference("Merchant", merchant_id(0)),
    **{kind: reference(kind, 1) for kind in ("Warehouse", "LotType", "Regulation")},
    **{product_kind(position): product_reference(position) for position in range(0, 550, 30)},
}
"""A reference to something of each kind that exists."""

numbers = itertools.count(1)


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Leaves out what repeats: field selection is one table, and packaging kinds share most options.

    And one of two cursors, because with both every request would be refused.
    """
    listing = raw_schema["paths"][LISTING]["get"]
    listing["parameters"] = [each for each in listing["parameters"] if not each["name"].startswith(UNFUZZED)]
    products = raw_schema["components"]["schemas"]["ProductCreate"]["properties"]["resource"]
    for kind in UNFUZZED_KINDS:
        products["oneOf"].remove({"$ref": products["discriminator"]["mapping"].pop(kind)})


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: "schemathesis.Case[Any]", kwargs: dict[str, Any]) -> None:
    """Valid names and codes are new ones, and references lead somewhere: no description could demand that."""
    if isinstance(case.body, dict):
        key, longest = ("name", 230) if case.path == TAGS else ("code", 64)
        value = case.body.get(key)
        if isinstance(value, str) and 0 < len(value) <= longest and (key == "code" or clean_name(value) == value):
            case.body[key] = str(next(numbers))
        settle(case.body)


def settle(value: Any) -> None:
    """Every reference of a right shape gets an id that exists."""
    if isinstance(value, dict):
        if set(value) == {"type", "id"} and str(value["type"]) in KNOWN and type(value["id"]) is int:
            value["id"] = KNOWN[value["type"]]["id"]
        for each in value.values():
            settle(each)
    elif isinstance(value, list):
        for each in value:
            settle(each)


@schemathesis.hook
def filter_failure(
    context: schemathesis.HookContext,
    failure: Failure,
    case: "schemathesis.Case[Any]",
    response: schemathesis.Response,
) -> bool:
    """A cursor needs a sort by id; a tag's name is measured after it was cleaned."""
    if type(failure).__name__ not in ("RejectedPositiveData", "AcceptedNegativeData"):
        return True
    if case.path == LISTING and response.status_code == 400:
        return {detail["key"] for detail in response.json()["errors"][0]["details"]} != {"cursor_start"}
    name = case.body.get("name") if case.path == TAGS and isinstance(case.body, dict) else None
    return not isinstance(name, str) or clean_name(name) == name
