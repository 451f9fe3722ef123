"""The kinds of master data that there are, in the order in which commands and reports list them."""

from __future__ import annotations

from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.location_tags import LOCATION_TAGS
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.retailers import RETAILERS

KINDS = (LOCATION_TAGS, RETAILERS, PRODUCTS)


def kind_named(name: str) -> Kind:
    """The kind of a name as the command line and the ledger have it; raises ``KeyError`` for another word."""
    return _BY_NAME[name]


def in_shipments() -> tuple[str, ...]:
    """The names of the kinds that shipments show, sooner or later."""
    return tuple(kind.name for kind in KINDS if kind.query is not None)


_BY_NAME = {kind.name: kind for kind in KINDS}
