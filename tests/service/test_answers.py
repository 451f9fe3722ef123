from datetime import UTC, datetime

import pytest

from wms_sync.service.answers import RetryPolicy, backoff, wait_before_retry
from wms_sync.service.errors import (
    Barred,
    Busy,
    NoSuchHost,
    NotSent,
    ProtocolError,
    Rejected,
    ServiceFailed,
    Unauthorized,
    Unreachable,
)
from wms_sync.service.headers import seconds_until

POLICY = RetryPolicy(attempts=9, total_seconds=1000, first_wait=1, longest_wait=10, jitter=0)
BUSY = Busy("busy", status=429)


FAILURES = [ServiceFailed("failed", status=status) for status in (200, 403, 408, 500, 502, 503, 504)]


@pytest.mark.parametrize(
    ("error", "harmless", "attempt", "elapsed", "wait"),
    [
        # the error, whether asking again is harmless, the attempt, seconds so far, the wait (None: it is final)
        *((error, True, 1, 0, None) for error in (Unauthorized("no", status=401), ProtocolError("odd"))),
        *((Rejected("no", status=status), True, 1, 0, None) for status in (400, 404, 422)),
        (Barred("no"), True, 1, 0, None),
        *((NoSuchHost("no"), harmless, 3, 6, 4) for harmless in (True, False)),
        (NoSuchHost("no"), True, 3, 7, None),
        *((Busy("busy", status=status), harmless, 1, 0, 1) for status in (409, 429) for harmless in (True, False)),
        *((error, True, 1, 0, 1) for error in FAILURES),
        *((error, False, 1, 0, None) for error in FAILURES),
        # the service says that it did nothing
        *((ServiceFailed("failed", status=error.status, is_from_service=True), False, 1, 0, 1) for error in FAILURES),
        (Unreachable("reset"), True, 1, 0, 1),
        (Unreachable("reset"), False, 1, 0, None),
        *((NotSent("refused"), harmless, 1, 0, 1) for harmless in (True, False)),
        *((BUSY, True, attempt, 0, seconds) for attempt, seconds in enumerate((1, 2, 4, 8, 10, 10), 1)),
        (BUSY, True, POLICY.attempts, 0, None),
        (BUSY, True, 1, 999.5, None),
        (Busy("busy", status=429, retry_after=42), True, 1, 0, 42),
        (ServiceFailed("down", status=503, retry_after=7), True, 1, 0, 7),
        (Busy("busy", status=429, retry_after=1001), True, 1, 0, None),
        # one that is over shortens no wait: all attempts would be made within a moment
        *((Busy("busy", status=429, retry_after=asked), True, 2, 0, 2) for asked in (0.0, 0.1)),
    ],
)
def test_how_long_to_wait_before_asking_again(error, harmless, attempt, elapsed, wait):
    assert wait == wait_before_retry(error, idempotent=harmless, attempt=attempt, elapsed=elapsed, policy=POLICY)


def test_jitter_spreads_waits_below_the_full_one():
    waits = {backoff(1, RetryPolicy(first_wait=10, jitter=0.5)) for _ in range(50)}
    assert 5 <= min(waits) < max(waits) <= 10


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("1735689630", 30.0),
        ("1735689599", 0.0),
        ("1735689630000", 30.0),
        ("nan", 0.0),
        ("soon", None),
        ("Wed, 01 Jan 2025 00:00:30 GMT", 30.0),
        ("Tue, 31 Dec 2024 23:00:00 GMT", 0.0),
        ("Wed, 01 Jan 2025 00:00:30 -0000", 30.0),
        ("Wed Jan  1 00:00:30 2025", 30.0),
        ("Wed, 01 Jan 99999999999 00:00:30 GMT", None),
    ],
)
def test_a_wait_is_seconds_a_date_or_a_unix_time(header, seconds):
    assert seconds_until(header, now=datetime(2025, 1, 1, tzinfo=UTC)) == seconds
