"""Filter expressions of the list endpoints: ``field{op:value,op:value}``.

Ranges use only ``gt`` and ``lt``, the operators that both interfaces of the service confirm. Both bounds are exclusive,
and the service's timestamps may have fractions of a second, so the low end of a window is requested one tick (1 s)
earlier; reading a record twice is harmless.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

TICK = timedelta(seconds=1)
UNDATED = "updated_at{null:true}"
"""The filter for records whose ``updated_at`` is null: no range of times matches them."""


def updated_within(start: datetime | None, end: datetime | None) -> str:
    """Return the filter for records whose ``updated_at`` lies in ``[start, end)``; one side may be None, not both.

    >>> from datetime import datetime, UTC
    >>> updated_within(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))
    'updated_at{gt:"2025-12-31T23:59:59Z",lt:"2026-01-02T00:00:00Z"}'
    """
    bounds = []
    if start is not None:
        bounds.append(f'gt:"{timestamp(start - TICK)}"')
    if end is not None:
        bounds.append(f'lt:"{timestamp(end)}"')
    return "updated_at{" + ",".join(bounds) + "}"


def timestamp(moment: datetime) -> str:
    """Return the time as RFC 3339 in UTC and whole seconds, as the service writes it (specification 2.0)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ids_between(after: int, to: int | None) -> str:
    """Return the filter for records with an id above ``after`` and, unless ``to`` is None, at most ``to``.

    >>> ids_between(15, 50)
    'id{gt:15,lt:51}'
    """
    return f"id{{gt:{after}}}" if to is None else f"id{{gt:{after},lt:{to + 1}}}"


def ids_among(ids: Iterable[int]) -> str:
    """Return the filter for records with one of these ids.

    >>> ids_among([15, 50])
    'id{in:[15,50]}'
    """
    return f"id{{in:[{','.join(map(str, ids))}]}}"
