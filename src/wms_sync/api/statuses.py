"""Map an HTTP status to an error of the tree (specification 7; facts, "Errors, retries, limits")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import monotonic

import msgspec

from wms_sync.api.answer_json import decoded
from wms_sync.api.body import receive
from wms_sync.api.clock import dated
from wms_sync.api.errors import ApiError, Busy, Problem, RedirectRefused, Rejected, ServiceFailed, Unauthorized
from wms_sync.api.lean_httpx import httpx
from wms_sync.api.redaction import without_credentials
from wms_sync.api.retrying import retry_after_seconds

NO_SUCH_PATH = frozenset({404, 405})
"""Statuses that refuse the address, not what was sent."""
UNAUTHORIZED, FORBIDDEN, REQUEST_TIMEOUT, CONFLICT, TOO_MANY = 401, 403, 408, 409, 429
SEE_OTHER, NOT_MODIFIED = 303, 304
MOVED = frozenset({301, 302})
"""Redirects after which many send another GET, so that some services answer a POST so once it is done."""
_LARGEST_ERROR_BODY = 64 * 1024
_ERROR_BODY_SECONDS = 30.0
_PASSING = re.compile(
    r"\b(?:too many|rate|limit|throttl\w*|busy|concurren\w*|try again|retry|later|in progress|being processed|locked"
    r"|deadlock|overloaded)\b",
    re.IGNORECASE,
)


class _Detail(msgspec.Struct):
    key: str = ""
    message: str = ""


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""
    details: list[_Detail] | None = None


class _ErrorBody(msgspec.Struct):
    errors: list[_Error]


def raise_for(response: httpx.Response, base_url: str, credentials: str) -> None:
    """Return for 2xx; otherwise raise the error for the status.

    ``credentials`` completes the sentence ``... refused`` and says which settings to check; it may have ``{status}``.
    """
    status = response.status_code
    if 200 <= status < 300:
        return
    wait = retry_after_seconds(response.headers.get("retry-after"), now=dated(response))
    where = f"{response.request.method} {base_url}{response.request.url.path}"
    if status in {UNAUTHORIZED, FORBIDDEN}:
        problems = read_problems(response) if status == FORBIDDEN else ()
        said = f" It says: {in_words(problems)}" if problems else ""
        refused = f"{base_url} refused {credentials.format(status=status)}{said}"
        raise Unauthorized(refused, status=status, problems=problems)
    if status >= 500 or status in {REQUEST_TIMEOUT, NOT_MODIFIED}:  # no request has a condition: a cache is in between
        raise _failed(response, where, wait)
    if 300 <= status < 400:
        raise RedirectRefused(
            f"{where} answered {status}, a redirect. It is not followed, since the request has credentials. Set "
            "WMS_BASE_URL to the instance's final address.",
            status=status,
            may_be_done=status == SEE_OTHER or (status in MOVED and _leads_below(response)),
        )
    problems = read_problems(response)
    if status == TOO_MANY or (status == CONFLICT and _is_busy(response, problems, wait)):
        said = in_words(problems) if problems else "too many requests."
        raise Busy(f"{where} answered {status}: {said}{_asked(wait)}", status=status, retry_after=wait)
    said = in_words(problems) if problems else "no reason given."
    if status in NO_SUCH_PATH:
        said += " Is WMS_BASE_URL the address of the instance?"
    raise Rejected(f"{where} answered {status}: {said}", status=status, problems=problems)


def _asked(wait: float | None) -> str:
    return f" It asks for {wait:,.0f} s of waiting (Retry-After)." if wait else ""


def _leads_below(response: httpx.Response) -> bool:
    """Return whether a redirect leads to something below the address that was asked, as to what was just created."""
    asked = response.request.url
    try:
        target = asked.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return False
    return target.path.startswith(f"{asked.path.rstrip('/')}/")


def _is_busy(response: httpx.Response, problems: tuple[Problem, ...], wait: float | None) -> bool:
    """Return whether a 409 means too many requests at once (facts), and not that the object exists already.

    The refusal of a create names what is wrong with it. Without a reason, or if the reason is about load, it is busy.
    """
    if any(problem.key for problem in problems):
        return False
    if response.request.method != "POST" or wait is not None or not problems:
        return True
    return any(_PASSING.search(problem.message) for problem in problems)


def _failed(response: httpx.Response, where: str, wait: float | None) -> ServiceFailed:
    problems = read_problems(response)
    is_own_word = bool(problems) and all(problem.type for problem in problems)
    said = in_words(problems) if is_own_word else "the service, or a proxy in front of it, failed."
    message = f"{where} answered {response.status_code}: {said}{_asked(wait)}"
    return ServiceFailed(message, status=response.status_code, retry_after=wait, is_own_word=is_own_word)


def read_problems(response: httpx.Response) -> tuple[Problem, ...]:
    """Return the service's reasons (specification 7.1), one for each offending key; empty if it gives none."""
    try:
        deadline = monotonic() + _ERROR_BODY_SECONDS
        content = receive(response, deadline=deadline, largest=_LARGEST_ERROR_BODY).content
    except (httpx.HTTPError, ApiError):
        return ()
    return problems_in(content, response.request)


def problems_in(content: bytes, request: httpx.Request) -> tuple[Problem, ...]:
    """Return the problems in an error body, with the credentials of the request removed."""
    try:
        body = decoded(content, _ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ()
    return tuple(
        Problem(*(without_credentials(said, request) for said in (problem.type, problem.key, problem.message)))
        for error in body.errors
        for problem in _problems(error)
    )


def in_words(problems: tuple[Problem, ...]) -> str:
    """Return the problems as one line for people, in the service's own words."""
    return "; ".join(f"{problem.key}: {problem.message}" if problem.key else problem.message for problem in problems)


def _problems(error: _Error) -> Iterator[Problem]:
    if not error.details:
        yield Problem(error.type, "", error.message)
    for detail in error.details or ():
        yield Problem(error.type, detail.key, detail.message)
