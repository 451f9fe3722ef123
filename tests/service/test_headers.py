"""What headers of answers announce reaches whoever runs a read, once, and clean; limits are kept."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from time import monotonic

import httpx
import pytest
from starlette.responses import Response

from tests.bench import FEWER, IMPATIENT, NOW
from wms_sandbox.app import STATUS, Sandbox
from wms_sync.intervals import Interval
from wms_sync.runs import Operation
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import Rejected
from wms_sync.service.headers import wait_requested


def announce(sandbox, *headers):
    """Add headers to every answer of the service; `{}` in a header is the number of the request."""

    def add(answer):
        for name, value in headers:
            answer.headers.append(name, value.format(len(sandbox.sandbox.requests)))

    sandbox.sandbox.finish = add


def heard(bench, requests: int = 3) -> list[str]:
    """What is reported of the answers, without the address."""
    said: list[str] = []
    with GlobalApi.from_settings(
        bench.settings,
        policy=IMPATIENT,
        warn=lambda _, text: said.append(text.partition(" answers with ")[2]),
        transport=bench.transport,
    ) as api:
        for _ in range(requests):
            api.get(STATUS, read=bytes)
    return said


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        # the headers of an answer, and for how long no request is sent
        ("Retry-After: 7", 7),
        ("Retry-After: Tue, 31 Mar 2026 12:00:07 GMT", 7),
        ("RateLimit-Limit: 9; RateLimit-Remaining: 0; RateLimit-Reset: 7", 7),
        ("X-RateLimit-Limit: 9; X-RateLimit-Remaining: 0; X-RateLimit-Reset: 7.5", 7.5),
        ("X-Rate-Limit-Remaining: 0; X-Rate-Limit-Reset: 7", 7),
        (f"X-RateLimit-Remaining: 0; X-RateLimit-Reset: {NOW.timestamp() + 7:.0f}", 7),
        ("X-RateLimit-Remaining: 0; X-RateLimit-Reset: Tue, 31 Mar 2026 12:00:07 GMT", 7),
        ("RateLimit-Remaining: 0; RateLimit-Reset: 7; Retry-After: 9", 9),
        ("X-RateLimit-Remaining: 1; X-RateLimit-Reset: 7", None),
        ("X-RateLimit-Remaining: -1; X-RateLimit-Reset: 7", None),
        ("X-RateLimit-Remaining: 0", None),
        ("X-RateLimit-Remaining: 0; X-RateLimit-Reset: soon", None),
        ("X-RateLimit-Limit: 0", None),
        ("", None),
    ],
)
def test_how_long_an_answer_allows_no_request(headers, seconds):
    named = dict(header.split(": ", 1) for header in headers.split("; ") if header)
    assert wait_requested(httpx.Response(200, headers={"Date": "Tue, 31 Mar 2026 12:00:00 GMT", **named})) == seconds


@pytest.mark.parametrize("status", [200, 404])
def test_a_limit_is_not_exceeded(bench, sandbox, status):
    """Whoever sent the next request before the reset was refused, and had to wait anyway."""
    headers = {"RateLimit-Limit": "1", "RateLimit-Remaining": "0", "RateLimit-Reset": "0.2"}
    reset_at = 0.0

    def answer(_: object) -> Response:
        nonlocal reset_at
        if monotonic() < reset_at:
            return Response("", 429)
        reset_at = monotonic() + 0.2
        return Response("{}", status, headers=headers)

    sandbox.sandbox.intercept = answer
    with bench.api() as api:
        for _ in range(3):
            with nullcontext() if status == 200 else pytest.raises(Rejected):
                api.get(STATUS, read=bytes)
    assert [request.status for request in sandbox.sandbox.requests] == [status] * 3


def test_what_comes_again_and_again_is_reported_twenty_times(bench, sandbox):
    """And a reset that is too far away is not awaited."""
    announce(sandbox, ("Warning", '299 - "Request {}"'), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "3600"))
    assert (len(heard(bench, 50)), len(sandbox.sandbox.requests)) == (20, 50)


USED = "This interface, which wms-sync uses,"


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        # the headers of each answer, and how what is reported begins
        ([("Deprecation", "@1688169599")], [f"Deprecation: @1688169599. {USED} will be withdrawn"]),
        (
            [("Sunset", "Sat, 31 Dec 2026 23:59:59 GMT")],
            [f"Sunset: Sat, 31 Dec 2026 23:59:59 GMT. {USED} stops working then"],
        ),
        (
            [("Warning", '110 proxy "Response is stale"')],
            ['Warning: 110 proxy "Response is stale". If the code is 110'],
        ),
        ([("Warning", '299 - "Use v2\x85 of <b>this</b>"')], ['Warning: 299 - "Use v2 of this ".']),
        ([("Warning", "odd")], ["Warning: odd."]),
        (
            [("Warning", '299 a "One"'), ("Warning", '299 a "Two of sandbox-token"')],
            ['Warning: 299 a "One".', 'Warning: 299 a "Two of (withheld)".'],
        ),
    ],
)
def test_a_header_is_reported_once_with_its_meaning(bench, sandbox, headers, says):
    announce(sandbox, *headers)
    assert [sentence[: len(begins)] for sentence, begins in zip(heard(bench), says, strict=True)] == says


def test_what_is_announced_is_kept_and_shown(bench, sandbox):
    sandbox.sandbox = Sandbox(replace(FEWER, shipments=60))
    announce(sandbox, ("Sunset", "Sat, 31 Dec 2026 23:59:59 GMT"))
    Operation(bench.settings, source="test", transport=sandbox).backfill(Interval(NOW - timedelta(days=30), NOW))
    assert "Sunset: Sat" in str(bench.needs)
