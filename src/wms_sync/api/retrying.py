"""The one place that decides about asking again.

409 and 429 say that nothing was done, as does a 5xx or 408 with the service's own error body: they may be repeated
whatever the method; so may a request that never left, because no connection was made. No answer at all, and a 5xx or
408 in other words (a proxy answers so for work that was done), may be repeated only where repeating is harmless (a
read). Bounded by attempts and by time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from wms_sync.api.errors import ApiError, Busy, NotSent, ServiceFailed, Unreachable


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds of asking again. Waits are seconds; ``jitter`` is the share of a wait that is random."""

    attempts: int = 8
    total_seconds: float = 900.0
    first_wait: float = 0.5
    longest_wait: float = 60.0
    jitter: float = 0.5


def wait_before_retry(
    error: ApiError, *, idempotent: bool, attempt: int, elapsed: float, policy: RetryPolicy
) -> float | None:
    """Seconds to wait before attempt ``attempt + 1``, or None when the error is final.

    ``attempt`` counts from 1. A ``Retry-After`` is honoured as it is, however long, as long as the time bound allows.
    """
    if not _may_repeat(error, idempotent=idempotent) or attempt >= policy.attempts:
        return None
    asked = error.retry_after if isinstance(error, Busy | ServiceFailed) else None
    wait = asked if asked is not None else backoff(attempt, policy)
    return wait if elapsed + wait <= policy.total_seconds else None


def retry_after_seconds(value: str | None, *, now: datetime | None = None) -> float | None:
    """A ``Retry-After`` header as seconds: a number, or an HTTP date. None when absent or unreadable."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (http_date(value) - (now or datetime.now(UTC))).total_seconds())
    except ValueError:
        return None


def http_date(value: str) -> datetime:
    """A date of HTTP, which is UTC also where it names no zone, or ``-0000``; ``ValueError`` for what is none."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(value) from error


def _may_repeat(error: ApiError, *, idempotent: bool) -> bool:
    if isinstance(error, Unreachable) and not isinstance(error, NotSent):
        return idempotent
    if isinstance(error, ServiceFailed):
        return idempotent or error.is_own_word
    return isinstance(error, Busy | NotSent)


def backoff(attempt: int, policy: RetryPolicy) -> float:
    """Seconds to wait after attempt ``attempt``, counted from 1, where nobody asked for more."""
    wait = min(policy.longest_wait, policy.first_wait * 2.0 ** (attempt - 1))
    return wait * (1 - policy.jitter * random.random())  # noqa: S311 - spreading clients out needs no secrecy
