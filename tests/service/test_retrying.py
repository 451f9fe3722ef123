from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wms_sync.service.errors import Busy, NotSent, ProtocolError, Rejected, ServiceFailed, Unauthorized, Unreachable
from wms_sync.service.retrying import RetryPolicy, retry_after_seconds, wait_before_retry

POLICY = RetryPolicy(attempts=3, total_seconds=100, first_wait=1, longest_wait=10, jitter=0)
BUSY = Busy("busy", status=429)


def wait(error, *, idempotent=True, attempt=1, elapsed=0.0):
    return wait_before_retry(error, idempotent=idempotent, attempt=attempt, elapsed=elapsed, policy=POLICY)


@pytest.mark.parametrize(
    "error",
    [
        Unauthorized("no", status=401),
        Rejected("no", status=400),
        Rejected("no", status=404),
        Rejected("no", status=422),
        ProtocolError("odd"),
    ],
)
def test_what_asking_again_cannot_change_is_final(error):
    assert wait(error) is None


@pytest.mark.parametrize("status", [409, 429])
def test_too_many_requests_are_asked_again_whatever_the_method(status):
    assert wait(Busy("busy", status=status), idempotent=False) == 1


@pytest.mark.parametrize("status", [200, 403, 408, 500, 502, 503, 504])
def test_a_failure_is_asked_again_where_that_is_harmless_or_the_service_says_that_it_did_nothing(status):
    assert wait(ServiceFailed("failed", status=status), idempotent=True) == 1
    assert wait(ServiceFailed("failed", status=status, is_from_service=True), idempotent=False) == 1
    assert wait(ServiceFailed("failed", status=status), idempotent=False) is None


def test_no_answer_is_asked_again_only_where_that_is_harmless():
    assert wait(Unreachable("reset"), idempotent=True) == 1
    assert wait(Unreachable("reset"), idempotent=False) is None


@pytest.mark.parametrize("idempotent", [True, False])
def test_what_never_left_is_sent_again_whatever_the_method(idempotent):
    assert wait(NotSent("refused"), idempotent=idempotent) == 1


def test_waits_grow_up_to_the_longest():
    policy = RetryPolicy(attempts=9, total_seconds=1000, first_wait=1, longest_wait=10, jitter=0)
    waits = [
        wait_before_retry(BUSY, idempotent=True, attempt=number, elapsed=0, policy=policy) for number in range(1, 7)
    ]
    assert waits == [1, 2, 4, 8, 10, 10]


def test_attempts_and_time_are_bounded():
    assert wait(BUSY, attempt=3) is None
    assert wait(BUSY, elapsed=99.5) is None


def test_retry_after_is_honoured_unless_the_time_is_up():
    assert wait(Busy("busy", status=429, retry_after=42)) == 42
    assert wait(ServiceFailed("down", status=503, retry_after=7)) == 7
    assert wait(Busy("busy", status=429, retry_after=101)) is None


@pytest.mark.parametrize("asked", [0.0, 0.1])
def test_a_retry_after_that_is_over_shortens_no_wait(asked):
    """All attempts would be made within a moment, and a service that is busy for a second would fail the run."""
    assert wait(Busy("busy", status=429, retry_after=asked), attempt=2) == 2


def test_jitter_spreads_waits_below_the_full_one():
    policy = RetryPolicy(first_wait=10, jitter=0.5)
    waits = {wait_before_retry(BUSY, idempotent=True, attempt=1, elapsed=0, policy=policy) for _ in range(50)}
    assert len(waits) > 1
    assert all(one is not None and 5 <= one <= 10 for one in waits)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        (None, None),
        ("soon", None),
        ("Wed, 01 Jan 2025 00:00:30 GMT", 30.0),
        ("Tue, 31 Dec 2024 23:00:00 GMT", 0.0),
        ("Wed, 01 Jan 2025 00:00:30 -0000", 30.0),
        ("Wed Jan  1 00:00:30 2025", 30.0),
        ("Wed, 01 Jan 99999999999 00:00:30 GMT", None),
    ],
)
def test_retry_after_comes_as_seconds_or_as_a_date(header, seconds):
    assert retry_after_seconds(header, now=datetime(2025, 1, 1, tzinfo=UTC)) == seconds
