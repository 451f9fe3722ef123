"""Retailers (specification 2.2 and 4.2).

Which fields are required is not shown; asked for is what no retailer can be told apart without.
"""

from __future__ import annotations

from typing import Annotated, Required

from pydantic import with_config
from typing_extensions import TypedDict

from wms_sync.master_data.fields.json_columns import retailer_fields
from wms_sync.master_data.fields.rules import code, one_of, refers, refers_by_id, shipping_method, text
from wms_sync.master_data.kinds.kind import CLOSED, Kind, MerchantMethod, Text255, Texts


@with_config(CLOSED)
class Retailer(TypedDict, total=False):
    """Sections 2.2 and 4.2."""

    type: Annotated[str, one_of(("Retailer",))]
    code: Required[Annotated[str, code(64)]]
    name: Required[Text255]
    status: Annotated[str, one_of(("active", "archived"))]
    fulfillment_model: Annotated[str, one_of(("wholesale", "drop_ship", "mixed"))]
    parent_retailer: Annotated[
        tuple[str, ...],
        refers(
            "Retailer",
            "parent_retailer_code",
            by="code of a retailer that is not archived",
            ids="parent_retailer_id",
        ),
    ]
    parent_retailer_id: Annotated[
        tuple[str, ...], refers_by_id("Retailer", "parent_retailer_id", field="parent_retailer")
    ]
    legal_name: Text255
    dba: Text255
    default_duties_payor: Annotated[str, one_of(("shipper", "recipient", "third_party"))]
    default_shipping_method: Annotated[str, shipping_method(255)]
    allowed_shipping_methods: Texts
    routing_guide_notes: Annotated[str, text(65535)]
    custom_fields: Annotated[dict[str, object], retailer_fields()]


RETAILERS = Kind(
    name="retailers",
    type="Retailer",
    key="code",
    is_unique=True,
    endpoint="/v1/shipping/retailers",
    bodies={"Retailer": Retailer},
    read_only=frozenset({"id", "created_at", "updated_at"}),
    inactive="archived",
    query="shown/retailers.sql",
    merchant_method=MerchantMethod("retailer.list", "code", ("retailer_id", "id")),
)
