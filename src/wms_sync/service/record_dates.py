"""Read the ``updated_at`` of the records of a page, without decoding the rest of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from wms_sync.service.answer_json import decoded
from wms_sync.whole_numbers import whole

YEARS = range(1900, 9999)


class _Record(Struct):
    id: Any = None
    updated_at: Any = None


class _Page(Struct):
    collection: list[_Record]


def change_times(content: bytes) -> Mapping[int, object]:
    """Return the ``updated_at`` of each record by id, as it came; None for one that is null, empty or absent.

    Records without a usable id are left out; a page that cannot be decoded has none.
    """
    try:
        records = decoded(content, _Page).collection
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    ids = ((whole(record.id), record.updated_at) for record in records)
    return {record_id: updated_at or None for record_id, updated_at in ids if record_id is not None}


def change_time(updated_at: object) -> datetime | None:
    """Return an ``updated_at`` in UTC, None if it cannot be read; a time without a zone is UTC.

    Nor can one be read at an end of the calendar, where a day earlier or later may be no date.
    """
    try:
        changed = datetime.fromisoformat(str(updated_at))
        changed = (changed if changed.tzinfo else changed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return changed if changed.year in YEARS else None


def changed_before(updated_at: object, moment: datetime) -> bool:
    """Return whether an ``updated_at`` can be read and is earlier than a moment."""
    changed = change_time(updated_at)
    return changed is not None and changed < moment
