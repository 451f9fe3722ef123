"""The names of windows: a window is named after its time, so that folders sort and describe themselves."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

from wms_sync.intervals import Interval
from wms_sync.state.store import Reason

_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(\d{8}T\d{6}Z)-(\d{8}T\d{6}Z)-[0-9a-f]{6}")


def new_name(part: Interval) -> str:
    """Return a unique name for a window."""
    return f"{part.start:{_STAMP}}-{part.end:{_STAMP}}-{secrets.token_hex(3)}"


def new_name_without_time(reason: Reason, moment: datetime) -> str:
    """Return a unique name for a window that covers no time."""
    return f"{reason}-{moment:{_STAMP}}-{secrets.token_hex(3)}"


def time_named(window_id: str) -> Interval | None:
    """Return the time that a window of this name covers; None if it covers none, or if this is not a window's name."""
    match = _NAME.fullmatch(window_id)
    if match is None:
        return None
    try:
        start, end = (datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC) for stamp in match.groups())
    except ValueError:
        return None
    return Interval(start, end) if start < end else None
