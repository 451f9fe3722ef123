"""The kinds of master data that there are, in the order in which commands and reports list them."""

from __future__ import annotations

from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.location_tags import LOCATION_TAGS
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.retailers import RETAILERS

KINDS = (LOCATION_TAGS, RETAILERS, PRODUCTS)


def kind_named(name: str) -> Kind:
    """Return the kind with this name, as commands and the ledger use it; raise ``KeyError`` if there is none."""
    return _BY_NAME[name]


def in_shipments() -> tuple[str, ...]:
    """Return the names of the kinds that shipments show."""
    return tuple(kind.name for kind in KINDS if kind.query is not None)


_BY_NAME = {kind.name: kind for kind in KINDS}
