"""The client against the sandbox on a socket: every kind of answer becomes the right error, or is asked again."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime
from itertools import repeat

import httpx
import msgspec
import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from tests.conftest import IMPATIENT, NOW, logged
from wms_sandbox.errors import failed
from wms_sandbox.transport import InProcess
from wms_sync.errors import SettingsError
from wms_sync.reports.failures import mends_by_waiting
from wms_sync.service.client import STATUS, GlobalApi
from wms_sync.service.errors import (
    ApiError,
    Busy,
    ProtocolError,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
)
from wms_sync.service.headers import dated
from wms_sync.service.query import Pager
from wms_sync.service.shipments import ShipmentListing

TOKEN = "sandbox-token"
START = NOW - timedelta(days=30)


def client(sandbox: InProcess, token: str) -> GlobalApi:
    return GlobalApi(sandbox.base_url, SecretStr(token), policy=IMPATIENT, transport=sandbox)


def listing(api: GlobalApi, page_size: int = 50) -> ShipmentListing:
    return ShipmentListing(api, page_size=page_size, include_addresses=False)


@pytest.fixture
def api(sandbox):
    with client(sandbox, TOKEN) as api:
        yield api


def answer_first(sandbox, times: int, make: Callable[[], Response]) -> None:
    """Let the sandbox answer the next ``times`` requests with something else."""
    answers = repeat(make, times)
    sandbox.sandbox.intercept = lambda _: next(answers, lambda: None)()


def test_what_cannot_be_decoded_is_requested_again(sandbox, api):
    read = msgspec.json.Decoder(dict[str, str]).decode
    answer_first(sandbox, 1, lambda: Response("<html>Back at 6:00</html>"))
    assert api.get(STATUS, read=read).read == {"status": "ok"}
    answer_first(sandbox, 9, lambda: Response("<html>Back at 6:00</html>"))
    with pytest.raises(ServiceFailed, match=r"are not the expected JSON.*It says: Back at 6:00"):
        api.get(STATUS, read=read)


def test_a_date_without_a_zone_is_utc(monkeypatch):
    """Read as local time it would put the horizon hours ahead, and what changes until then would be lost."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    served = dated(httpx.Response(200, headers={"Date": "Tue, 31 Mar 2026 12:00:00 -0000"}))
    monkeypatch.undo()
    time.tzset()
    assert served == NOW


def test_passing_trouble_shows_no_token(sandbox, api):
    answer_first(sandbox, 2, lambda: Response(f"<html>{TOKEN}</html>", 503, media_type="text/html"))
    with logged() as said:
        listing(api).count(START, None)
    assert [("503" in line, TOKEN in line) for line in said] == [(True, False)] * 2


def test_retry_after_pauses_every_request_of_the_client(sandbox, api):
    answer_first(sandbox, 1, lambda: Response("", 429, headers={"Retry-After": "0.3"}))
    listing(api).count(START, None)
    assert api.throttle._paused_until > 0


def test_a_date_to_retry_at_is_the_services(sandbox, api):
    """By this machine's, months later, it had passed: four attempts were made within a moment."""
    until = format_datetime(NOW + timedelta(seconds=60), usegmt=True)
    answer_first(sandbox, 99, lambda: Response("", 429, headers={"Retry-After": until}))
    with pytest.raises(Busy) as raised:
        listing(api).count(START, None)
    assert raised.value.retry_after == pytest.approx(60, abs=30)
    assert len(sandbox.sandbox.requests) == 1  # since so long a wait is not made


FORBIDDEN = r"firewall.*refused the request \(server: shield/2 \(edge\)\)\."
NO_DATABASE = b'{"errors": ["No database."], "collection": [], "has_more": false}'
IN_ITS_PLACE = [
    # status, body, what the error says of it; a page of HTML showed its first 40 bytes, a 403 blamed the token
    (200, b"<html><title>Maintenance</title><h1>Back at 6:00</h1></html>", "It says: Maintenance: Back at 6:00. If"),
    (200, b"Back at 6:00\x1b[31m\r\nsoon", "It says: Back at 6:00 [31m soon. If"),
    (200, b'{"errors": [{"type": "application", "message": "No database."}]}', "It says: No database. If"),
    (200, NO_DATABASE, "It says: JSON with the keys errors, collection, has_more. If"),
    (200, b'{"status": "maintenance"}', "It says: status: maintenance. If"),
    (200, b'{"data": [{"first_name": "Erika"}], "links": {}}', "It says: JSON with the keys data, links. If"),
    (200, b'<br /><b>Warning</b>: odd<br />{"collection": [{"first_name": "Erika"}]}', "It says: Warning : odd. If"),
    *(
        (200, body, "If this persists")
        for body in (b'[{"first_name": "Erika"}]', b'{"first_name": "Erika', b'"text"', b"")
    ),
    (403, b"<html><title>Attention Required!</title></html>", "It says: Attention Required! If"),
    (403, b'{"type": "about:blank", "title": "Error 1020: Access denied", "status": 403}', "WMS_API_TOKEN"),
    (403, b'{"message": "Forbidden"}', "It says: message: Forbidden. If"),
    (403, b"", "WMS_API_TOKEN"),
]


@pytest.mark.parametrize(("status", "body", "says"), IN_ITS_PLACE)
def test_what_answers_instead_of_the_service_is_shown(sandbox, api, status, body, says):
    answer_first(sandbox, 2, lambda: Response(body, status))
    assert listing(api).count(START, None)[0] == 600
    assert len(sandbox.sandbox.requests) == 3
    headers = {"Server": "shield/2\t(edge)", "Retry-After": "3600"}
    answer_first(sandbox, 99, lambda: Response(body, status, headers=headers))
    named = FORBIDDEN if status == 403 else f"answered 200 with {len(body)} bytes that are not a list"
    with pytest.raises(ServiceFailed, match=named) as error:
        listing(api).count(START, None)
    assert says in str(error.value)
    assert ("It says" in str(error.value)) == ("It says" in says or b"1020" in body)
    assert "Erika" not in str(error.value)
    assert (error.value.retry_after, error.value.is_from_service) == (3600, False)
    assert mends_by_waiting(type(error.value).__name__)


def in_other_words(status: int) -> Response:
    return JSONResponse({"title": "Not today", "detail": "The index is rebuilt"}, status)


@pytest.mark.parametrize("status", [304, 408, 409, 429, 500, 502, 503])
def test_passing_trouble_is_asked_again(sandbox, api, status):
    answer_first(sandbox, 2, lambda: Response("<html>trouble</html>", status, media_type="text/html"))
    assert listing(api).count(START, None)[0] == 600
    assert len(sandbox.sandbox.requests) == 3


NOT_TODAY = "title: Not today; detail: The index is rebuilt."
UNREADABLE = "envelope cannot be read"
LASTING: list[tuple[Response, type[ApiError], int, str]] = [
    # what answers every request, the error, after how many requests, what it says
    (in_other_words(400), Rejected, 1, NOT_TODAY),
    (in_other_words(401), Unauthorized, 1, NOT_TODAY),
    (in_other_words(404), Rejected, 3, NOT_TODAY),
    (in_other_words(422), Rejected, 1, NOT_TODAY),
    (in_other_words(429), Busy, IMPATIENT.attempts, NOT_TODAY),
    (in_other_words(500), ServiceFailed, IMPATIENT.attempts, NOT_TODAY),
    (in_other_words(502), ServiceFailed, IMPATIENT.attempts, NOT_TODAY),
    (failed(403, "Not for this token."), Unauthorized, 1, "WMS_API_TOKEN.*It says: Not for this token."),
    (JSONResponse({"collection": {}}), ProtocolError, 1, UNREADABLE),
    (JSONResponse({"collection": [], "has_more": "yes"}), ProtocolError, 1, UNREADABLE),
    (Response("", 302, headers={"Location": "http://127.0.0.2/elsewhere"}), RedirectRefused, 1, "WMS_BASE_URL"),
]


@pytest.mark.parametrize(("answer", "error", "requests", "says"), LASTING)
def test_lasting_trouble_ends_with_its_name(sandbox, api, answer, error, requests, says):
    answer_first(sandbox, 99, lambda: answer)
    with pytest.raises(error, match=says):
        listing(api).count(START, None)
    assert len(sandbox.sandbox.requests) == requests


@pytest.mark.parametrize("token", ["s3cr3t-token", "", "two words", "line\nbreak"])
def test_a_wrong_token_names_the_setting_alone(sandbox, token):
    with client(sandbox, token) as api, pytest.raises(Unauthorized, match="WMS_API_TOKEN") as error:
        listing(api).count(START, None)
    assert error.value.exit_code == 2
    assert not token or token not in str(error.value)
    assert len(sandbox.sandbox.requests) <= 1


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ALL_PROXY", "socks5://user:planted-secret@127.0.0.1:1", "pip install socksio"),
        ("HTTPS_PROXY", "ftp://user:planted-secret@127.0.0.1:1", "looks like http://host:port"),
        ("SSL_CERT_FILE", "/nowhere/planted-secret.pem", "SSL_CERT_FILE"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE"),
    ],
)
def test_unusable_proxies_and_authorities_are_named(monkeypatch, name, value, says):
    """Each was a traceback."""
    monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    with pytest.raises(SettingsError, match=says) as error:
        GlobalApi("https://127.0.0.1:1", SecretStr(TOKEN))
    assert "planted-secret" not in str(error.value)


def envelope(ids, *, has_more=False, following=None):
    content = {"collection": [{"id": one} for one in ids], "has_more": has_more, "next": following}
    return JSONResponse(content | {"meta": {"count": len(ids)}})


def read_two_pages(api: GlobalApi) -> None:
    pager = Pager()
    pager.accept(listing(api).changed_within(START, NOW).first())
    pager.accept(listing(api).changed_within(START, NOW).at(2, counted=True))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (([1, 3], True, "?cursor_start=4"), ([3, 4], False, None), "after"),
        (([2, 1], False, None), None, "after"),
        (([1, 1], False, None), None, "after"),
        (([1, "2", "2"], False, None), None, "after"),
        (([1], True, None), None, "no next page"),
        (([1], True, "/n"), None, "no next page"),
        (([1], True, "?cursor_start=2"), ([2], True, "?cursor_start=2"), "already been read"),
        (([1, 3], True, "?cursor_start=2"), None, "already been read"),
        (([1], True, "?cursor_start=2"), ([], True, "?cursor_start=2"), "already been read"),
    ],
)
def test_guards_stop_a_listing_that_loses_records(sandbox, api, first, second, reason):
    answers = [first, second]
    sandbox.sandbox.intercept = lambda _: envelope(answers[0][0], has_more=answers[0][1], following=answers.pop(0)[2])
    with pytest.raises(ProtocolError, match=reason):
        read_two_pages(api)


def test_empty_pages_are_not_followed_for_ever(sandbox, api):
    sandbox.sandbox.intercept = lambda _: envelope([], has_more=True, following="?cursor_start=1")
    page = listing(api).changed_within(START, NOW).first()
    pager, pages = Pager(), (replace(page, envelope=replace(page.envelope, next=at)) for at in range(1, 10_000))
    with pytest.raises(ProtocolError, match="are empty"):
        deque(map(pager.accept, pages))
