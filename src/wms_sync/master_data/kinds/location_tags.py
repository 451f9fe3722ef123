"""Location tags (specification 2.1 and 4.1)."""

from __future__ import annotations

from typing import Annotated, Required

from pydantic import with_config
from typing_extensions import TypedDict

from wms_sync.master_data.fields.rules import FAMILIES, INT32, PALETTE, one_of, tag_name, whole, without_html
from wms_sync.master_data.kinds.kind import CLOSED, Kind, Text255


@with_config(CLOSED)
class LocationTag(TypedDict, total=False):
    """Section 4.1."""

    name: Required[Annotated[str, tag_name(230)]]
    description: Text255
    color: Required[
        Annotated[str, one_of(PALETTE, f"{', '.join(FAMILIES)}, each with a shade from 1 to 5, such as black1")]
    ]
    sort_order: Annotated[int, whole(INT32)]


LOCATION_TAGS = Kind(
    name="location-tags",
    type="LocationTag",
    key="name",
    is_unique=True,
    endpoint="/v1/inventory/location-tags",
    bodies={"LocationTag": LocationTag},
    read_only=frozenset({"id", "type", "is_deleted", "created_at", "updated_at"}),
    as_stored=without_html,
)
