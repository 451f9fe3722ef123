"""Judge answers: the error of a status (specification 7; facts, "Errors, retries, limits"), whether to retry, and when.

429, a 409 for too many requests, and a 5xx or 408 with the service's own error body mean that nothing was done: any
request may be retried. The same holds if no connection was made. If no answer arrives, or the answer may not be the
service's (a 304; a 5xx, 408 or 403 with a different body; a 200 with an unexpected body), the request may have been
done: it is retried only if that is harmless (a read). Retries are limited in number and in time.

A success with an unexpected body is an error too: a proxy that answers in the service's place often sends 200. Only a
caller may repeat a create in doubt.
"""

from __future__ import annotations

import random
import re
from time import monotonic

import httpx
from msgspec import Struct

from wms_sync.service.body import receive
from wms_sync.service.errors import (
    ApiError,
    Busy,
    NoSuchHost,
    NotSent,
    Problem,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
    Unreachable,
)
from wms_sync.service.headers import wait_requested
from wms_sync.service.reasons import as_sentence, clean, problems_in, words_in, words_in_page

NO_SUCH_PATH = frozenset({404, 405})
"""Statuses that refuse the address, not the content of the request."""
UNAUTHORIZED, FORBIDDEN, REQUEST_TIMEOUT, CONFLICT, TOO_MANY = 401, 403, 408, 409, 429
SEE_OTHER, NOT_MODIFIED = 303, 304
MOVED = frozenset({301, 302})
"""Redirects that many clients follow with a GET, so some services send them for a POST that was done."""
_LARGEST_ERROR_BODY = 1024 * 1024
_ERROR_BODY_SECONDS = 30.0
_LONGEST_SERVER = 60
_PASSING = re.compile(
    r"\b(?:too many|rate|limit|throttl\w*|busy|concurren\w*|try again|retry|later|in progress|being processed|locked"
    r"|deadlock|overloaded)\b",
    re.IGNORECASE,
)


NO_HOST_SECONDS = 10.0
"""How long to retry a name that no DNS knows: it is usually wrong, but DNS may be unavailable for a moment."""


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

    ``attempt`` counts from 1. A requested wait (``wait_requested``) is followed, unless it exceeds the time limit. One
    below the usual wait (0, or a date in the past) does not shorten that wait, because all attempts would be used up at
    once.
    """
    if not _may_repeat(error, idempotent=idempotent) or attempt >= policy.attempts:
        return None
    asked = error.retry_after if isinstance(error, Busy | ServiceFailed) else None
    wait = max(asked or 0.0, backoff(attempt, policy))
    longest = min(policy.total_seconds, NO_HOST_SECONDS) if isinstance(error, NoSuchHost) else policy.total_seconds
    return wait if elapsed + wait <= longest else None


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


def raise_for(response: httpx.Response, base_url: str, credentials: str) -> None:
    """Return for 2xx; otherwise raise the error for the status.

    ``credentials`` completes the sentence ``... refused`` and names the settings to check; it may contain ``{status}``.
    """
    status = response.status_code
    if 200 <= status < 300:
        return
    content = body_of_error(response)
    problems, said = problems_in(content, response.request), words_in(content, response.request)
    is_own = bool(problems)
    wait = wait_requested(response)
    answered = f"{_where(response, base_url)} answered {status}"
    if status == UNAUTHORIZED or (status == FORBIDDEN and is_own):
        refused = f"{base_url} refused {credentials.format(status=status)}{_it_says(said)}"
        raise Unauthorized(refused, status=status, problems=problems)
    # not in the service's own form, so it is from a firewall in front of it, and may pass
    if status == FORBIDDEN:
        raise ServiceFailed(
            f"{answered} in a form that is not the service's: something in front of it, such as a firewall or a bot "
            f"filter, refused the request{_server(response)}.{_it_says(said)} If this persists, unblock this machine "
            f"there. If nothing is in front of the service, it refused {credentials.format(status=status)}"
            f"{_asked(wait)}",
            status=status,
            retry_after=wait,
        )
    if status >= 500 or status in {REQUEST_TIMEOUT, NOT_MODIFIED}:  # a 304 is from a cache
        failed = f"the service, or a proxy in front of it, failed{_server(response)}.{_it_says(said)}"
        message = f"{answered}: {as_sentence(said) if is_own else failed}{_asked(wait)}"
        raise ServiceFailed(message, status=status, retry_after=wait, is_from_service=is_own)
    if 300 <= status < 400:
        raise RedirectRefused(
            f"{answered}, a redirect. It is not followed, because the request has credentials. Set WMS_BASE_URL to the "
            "instance's final address.",
            status=status,
            may_be_done=status == SEE_OTHER or (status in MOVED and _leads_below(response)),
        )
    if status == TOO_MANY or (status == CONFLICT and _is_busy(response, problems, wait)):
        message = f"{answered}: {as_sentence(said or 'too many requests')}{_asked(wait)}"
        raise Busy(message, status=status, retry_after=wait)
    at_all = " Check that WMS_BASE_URL is the address of the instance." if status in NO_SUCH_PATH else ""
    message = f"{answered}: {as_sentence(said or 'no reason given')}{at_all}"
    raise Rejected(message, status=status, problems=problems)


def not_the_answer(response: httpx.Response, content: bytes, base_url: str, *, wanted: str) -> ServiceFailed:
    """Return the error for a success whose body is not ``wanted``, so it is probably not the service's.

    A login page, a maintenance page or a firewall may answer like this for a while.
    """
    wait, said = wait_requested(response), words_in_page(content, response.request)
    answered = f"{_where(response, base_url)} answered {response.status_code}"
    return ServiceFailed(
        f"{answered} with {len(content):,} bytes that are not {wanted}, so it may not be the service"
        f"{_server(response)}.{_it_says(said)} If this persists, check WMS_BASE_URL and any proxy in front of it."
        f"{_asked(wait)}",
        status=response.status_code,
        retry_after=wait,
    )


def body_of_error(response: httpx.Response) -> bytes:
    """Return the body of an error answer; empty if it cannot be read or is too large."""
    try:
        return receive(response, deadline=monotonic() + _ERROR_BODY_SECONDS, largest=_LARGEST_ERROR_BODY).content
    except (httpx.HTTPError, ApiError):
        return b""


def _where(response: httpx.Response, base_url: str) -> str:
    return f"{response.request.method} {base_url}{response.request.url.path}"


def _asked(wait: float | None) -> str:
    return f" It requests a wait of {wait:,.0f} s." if wait else ""


def _it_says(said: str) -> str:
    return f" It says: {as_sentence(said)}" if said else ""


def _server(response: httpx.Response) -> str:
    """Return the ``Server`` header of the answer, in brackets."""
    name = clean(response.headers.get("server", ""), response.request)[:_LONGEST_SERVER]
    return f" (server: {name})" if name else ""


def _leads_below(response: httpx.Response) -> bool:
    """Return whether a redirect leads below the requested address, as to a record that was just created."""
    asked = response.request.url
    try:
        target = asked.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return False
    return target.path.startswith(f"{asked.path.rstrip('/')}/")


def _is_busy(response: httpx.Response, problems: tuple[Problem, ...], wait: float | None) -> bool:
    """Return whether a 409 means too many requests at once (specification 10), not that the object already exists.

    If a reason names a key, the object exists. Otherwise a GET, a requested wait, no reason or a reason about load
    means busy.
    """
    if any(problem.key for problem in problems):
        return False
    if response.request.method != "POST" or wait is not None or not problems:
        return True
    return any(_PASSING.search(problem.message) for problem in problems)
