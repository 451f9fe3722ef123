"""Recognise a stub: a record of the list that stands for a shipment without describing it.

Some services keep a deleted shipment in the list as ``{type, id, updated_at, is_deleted: true}``, or as an object with
nothing but type, id and updated_at. Merged like any record, it would empty the stored row. So it is quarantined whole,
and replaces and inserts nothing. If it says that the shipment is deleted, the stored shipment is marked as missing
(``audit.missing_shipments``).

Each record is judged by itself. The other records of its page cannot decide: a night in which one shipment was deleted
has a page with that stub alone. A key that is left out means the same as null, so a service that leaves out null keys
is read like any other: its shipments have a status, an order or items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wms_sync.flatten.values import converted, means_null

SAYS_DELETED = "a stub: it says that the shipment is deleted"
SAYS_NOTHING = "a stub: it has neither a status nor an order nor items"
_STATUS = "deleted"
_FLAGS = ("is_deleted", "deleted")
_TIME = "deleted_at"
SIGNS = frozenset({*_FLAGS, _TIME})
"""Keys that say that a shipment is deleted; no type of ``sql/types`` has them."""
_NOT_SAID = (b"", b"false", b"null")
_EMPTY: tuple[object, ...] = (None, "", [])


def why_stub(record: Mapping[str, Any]) -> str | None:
    """Return why a record of the list is a stub, for ``ops.quarantine.why``; None if it is not."""
    if _says_deleted(record):
        return SAYS_DELETED
    is_bare = all(record.get(key) in _EMPTY for key in ("status", "order", "items"))
    return SAYS_NOTHING if is_bare else None


def may_hold_stub(records: Iterable[Any], signs: Sequence[str]) -> bool:
    """Return whether ``why_stub`` should be asked about any of these decoded records.

    ``signs`` are the attributes that hold the ``SIGNS``, as ``Raw``.
    """
    return any(
        _is_deleted_status(record.status)
        or (not record.status and record.order is None and not record.items)
        or any(bytes(getattr(record, sign)) not in _NOT_SAID for sign in signs)
        for record in records
    )


def _says_deleted(record: Mapping[str, Any]) -> bool:
    since = record.get(_TIME)
    return (
        _is_deleted_status(record.get("status"))
        or any(converted(record.get(flag), "BOOLEAN", odd=True) is True for flag in _FLAGS)
        or (bool(since) and not means_null(since, "TIMESTAMP WITH TIME ZONE"))
    )


def _is_deleted_status(status: object) -> bool:
    return isinstance(status, str) and status.strip().lower() == _STATUS
