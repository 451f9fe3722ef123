"""Format what messages say: numbers with their nouns (``1 window``, ``2,041 windows``), and moments."""

from __future__ import annotations

from datetime import datetime

LEFT_OUT = (
    "value or record was left out",
    "values or records were left out",
)
UNKNOWN = ("unknown key, or key whose values were cast", "unknown keys, or keys whose values were cast")
"""The words for one row and for several rows: ``LEFT_OUT`` for ``ops.quarantine``, ``UNKNOWN`` for
``ops.schema_drift``."""


def count_of(count: int, singular: str, many: str | None = None) -> str:
    """Return a number with the words that agree with it: ``count_of(1, "row was", "rows were")`` is ``1 row was``.

    Without ``many`` the plural is ``singular`` with an ``s``.
    """
    return f"{count:,} {agreed(count, singular, many or f'{singular}s')}"


def agreed(count: int, singular: str, many: str) -> str:
    """Return the words that agree with a number: ``singular`` for 1, ``many`` for any other."""
    return singular if count == 1 else many


def moment(at: datetime) -> str:
    """Return a moment to the second: ``2026-03-01 02:00:03 UTC``."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def minute(at: datetime) -> str:
    """Return a moment to the minute: ``2026-03-01 02:00 UTC``."""
    return f"{at:%Y-%m-%d %H:%M} UTC"
