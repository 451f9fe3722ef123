"""Decide whether to retry a request, and when. Only a caller may repeat a create in doubt.

429, a 409 for too many requests, and a 5xx or 408 with the service's own error body mean that nothing was done: any
request may be retried. The same holds if no connection was made. If no answer arrives, or the answer may not be the
service's (a 304; a 5xx, 408 or 403 with a different body; a 200 with an unexpected body), the request may have been
done: it is retried only if that is harmless (a read). Retries are limited in number and in time.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

from wms_sync.service.errors import ApiError, Busy, NotSent, ServiceFailed, Unreachable


class RetryPolicy(Struct, frozen=True):
    """Limits of retrying. Waits are in seconds; ``jitter`` is the random share of a wait, 0 to 1."""

    attempts: int = 8
    total_seconds: float = 900.0
    first_wait: float = 0.5
    longest_wait: float = 60.0
    jitter: float = 0.5


def wait_before_retry(
    error: ApiError, *, idempotent: bool, attempt: int, elapsed: float, policy: RetryPolicy
) -> float | None:
    """Return the seconds to wait before attempt ``attempt + 1``; None if the error is final or a limit is hit.

    ``attempt`` counts from 1. A ``Retry-After`` is followed, unless it exceeds the time limit. A ``Retry-After`` below
    the usual wait (0, or a date in the past) does not shorten that wait, because all attempts would be used up at once.
    """
    if not _may_repeat(error, idempotent=idempotent) or attempt >= policy.attempts:
        return None
    asked = error.retry_after if isinstance(error, Busy | ServiceFailed) else None
    wait = max(asked or 0.0, backoff(attempt, policy))
    return wait if elapsed + wait <= policy.total_seconds else None


def retry_after_seconds(value: str | None, *, now: datetime | None = None) -> float | None:
    """Return a ``Retry-After`` header (a number or an HTTP date) in seconds; None if it is absent or unreadable.

    ``now`` is the sender's clock, which may differ from this machine's by hours; None if it is unknown.
    """
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
    """Parse an HTTP date as UTC, even without a zone or with ``-0000``. Raise ``ValueError`` if it is invalid."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(value) from error


def _may_repeat(error: ApiError, *, idempotent: bool) -> bool:
    if isinstance(error, Unreachable) and not isinstance(error, NotSent):
        return idempotent
    if isinstance(error, ServiceFailed):
        return idempotent or error.is_from_service
    return isinstance(error, Busy | NotSent)


def backoff(attempt: int, policy: RetryPolicy) -> float:
    """Return the seconds to wait after attempt ``attempt`` (from 1) if the service requested no wait."""
    wait = min(policy.longest_wait, policy.first_wait * 2.0 ** (attempt - 1))
    return wait * (1 - policy.jitter * random.random())  # noqa: S311 - spreading clients out needs no secrecy
