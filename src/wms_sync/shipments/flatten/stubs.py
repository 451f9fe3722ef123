"""Recognise a stub: a record of the list that stands for a shipment without describing it.

Some services keep a deleted shipment in the list as ``{type, id, updated_at, is_deleted: true}``, or as an object with
nothing but type, id and updated_at. Merged like any record, it would empty the stored row. So it is quarantined whole,
and replaces and inserts nothing. If it says that the shipment is deleted, the stored shipment is marked as missing
(``load.missing_shipments``).

Each record is judged by itself. The other records of its page cannot decide: a night in which one shipment was deleted
has a page with that stub alone. A key that is left out means the same as null, so a service that leaves out null keys
is read like any other: its shipments have a status, an order or items.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wms_sync.shipments.flatten.values import converted, means_null

SAYS_DELETED = "a stub: it says that the shipment is deleted"
SAYS_NOTHING = "a stub: it has neither a status nor an order nor items"
_STATUS = "deleted"
_FLAGS = ("is_deleted", "deleted")
_TIME = "deleted_at"
_EMPTY: tuple[object, ...] = (None, "", [])


def why_stub(record: Mapping[str, Any]) -> str | None:
    """Return why a record of the list is a stub, for ``ops.quarantine.why``; None if it is not."""
    if _says_deleted(record):
        return SAYS_DELETED
    is_bare = all(record.get(key) in _EMPTY for key in ("status", "order", "items"))
    return SAYS_NOTHING if is_bare else None


def may_be_stub(record: Any) -> bool:  # noqa: ANN401 - a generated struct
    """Return whether a decoded record may be a stub. It has no key that ``sql/types`` does not have."""
    return _is_deleted_status(record.status) or (not record.status and record.order is None and not record.items)


def _says_deleted(record: Mapping[str, Any]) -> bool:
    since = record.get(_TIME)
    return (
        _is_deleted_status(record.get("status"))
        or any(converted(record.get(flag), "BOOLEAN", odd=True) is True for flag in _FLAGS)
        or (bool(since) and not means_null(since, "TIMESTAMP WITH TIME ZONE"))
    )


def _is_deleted_status(status: object) -> bool:
    return isinstance(status, str) and status.strip().lower() == _STATUS
