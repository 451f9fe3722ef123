"""From an HTTP status to an error of the tree (specification 7; facts, "Errors, retries, limits")."""

from __future__ import annotations

import httpx
import msgspec

from wms_sync.api.errors import Busy, RedirectRefused, Rejected, ServiceFailed, Unauthorized
from wms_sync.api.retrying import retry_after_seconds

_LARGEST_ERROR_BODY = 64 * 1024


class _Detail(msgspec.Struct):
    key: str = ""
    message: str = ""


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""
    details: list[_Detail] | None = None


class _ErrorBody(msgspec.Struct):
    errors: list[_Error]


def raise_for(response: httpx.Response, base_url: str) -> None:
    """Return for 2xx; otherwise raise the error that the status means."""
    status = response.status_code
    if 200 <= status < 300:
        return
    wait = retry_after_seconds(response.headers.get("retry-after"))
    where = f"{response.request.method} {base_url}{response.request.url.path}"
    if status in {401, 403}:
        raise Unauthorized(
            f"{base_url} refused the token ({status}). It is wrong, expired or lacks permission: look at "
            "WMS_API_TOKEN (Custom Global Integration of that instance) and at WMS_BASE_URL.",
            status=status,
        )
    if status in {409, 429}:
        raise Busy(f"{where} answered {status}: too many requests.", status=status, retry_after=wait)
    if status >= 500:
        raise ServiceFailed(f"{where} answered {status}: the service failed.", status=status, retry_after=wait)
    if 300 <= status < 400:
        raise RedirectRefused(
            f"{where} answered {status}, a redirect, which is not followed with a token. Set WMS_BASE_URL to the "
            "instance's final address.",
            status=status,
        )
    raise Rejected(f"{where} answered {status}: {explain(response)}", status=status)


def explain(response: httpx.Response) -> str:
    """The service's own words from an error body (specification 7.1), or that there were none."""
    try:
        content = b"".join(response.iter_bytes())[:_LARGEST_ERROR_BODY]
        body = msgspec.json.decode(content, type=_ErrorBody)
    except (msgspec.DecodeError, httpx.HTTPError):
        return "no reason given. Is WMS_BASE_URL the address of the instance?"
    return " ".join(_one(error) for error in body.errors)


def _one(error: _Error) -> str:
    details = "; ".join(f"{detail.key}: {detail.message}" for detail in error.details or [])
    return f"{error.message} ({error.type}{': ' + details if details else ''})"
