"""The vendor's own product CSV: its columns, by the names that this project has for them.

They may be mixed with ours, since a user who has such a file adds a column or two. Five of them have no field in the
create endpoint: they are not sent, and the result says so.
"""

from __future__ import annotations

COLUMNS = {
    "barcode": "barcodes",
    "weight": "weight.value",
    "length": "dimensions.length",
    "width": "dimensions.width",
    "height": "dimensions.height",
    "country_of_manufacture": "export.country_of_manufacture",
    "hts_base_code": "export.hs_base_code",
    "hts_country_code": "export.hs_country_extension",
    "requires_packaging": "packaging.require_packaging",
    "can_contain_other_items": "packaging.can_contain_other_items",
    "unit_qty": "packaging.unit_quantity",
}
"""The vendor's names that differ from ours; ``sku``, ``name`` and ``goods_type`` are the same."""

NOT_CARRIED = (
    "allowed_container_styles",
    "valid_containers",
    "disallowed_containers",
    "special_supplies",
    "special_other",
)
"""The vendor's columns that the create endpoint has no field for."""
