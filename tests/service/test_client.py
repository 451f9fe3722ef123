"""The client against the sandbox on a socket: every kind of answer becomes the right error, or is asked again."""

import dataclasses
import sys
import time
from contextlib import nullcontext
from datetime import timedelta
from email.utils import format_datetime
from functools import partial

import httpx
import msgspec
import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from tests.bench import CONFIG, IMPATIENT, NOW, logged
from wms_sandbox.app import LOCATION_TAGS
from wms_sandbox.errors import failed
from wms_sync.errors import SettingsError
from wms_sync.service.client import STATUS, GlobalApi
from wms_sync.service.connection import TimeLimits
from wms_sync.service.errors import (
    Busy,
    ProtocolError,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
)
from wms_sync.service.headers import dated
from wms_sync.service.query import Pager
from wms_sync.service.selection import Selection
from wms_sync.service.shipments import Learned, ShipmentListing

TOKEN = "sandbox-token"
START = NOW - timedelta(days=30)


def client(sandbox, token):
    return GlobalApi(sandbox.base_url, SecretStr(token), policy=IMPATIENT, transport=sandbox)


def listing(api):
    return ShipmentListing(api, Learned(50, Selection(include_addresses=False)))


@pytest.fixture
def api(sandbox):
    with client(sandbox, TOKEN) as api:
        yield api


def answer_first(sandbox, times, make):
    """Let the sandbox answer the next ``times`` requests with something else."""
    answers = [make] * times
    sandbox.sandbox.intercept = lambda _: answers.pop()() if answers else None


def test_what_cannot_be_decoded_is_requested_again(sandbox, api):
    answer_first(sandbox, 99, lambda: Response("<html>Back at 6:00</html>"))
    with pytest.raises(ServiceFailed, match=r"are not the expected JSON.*It says: Back at 6:00"):
        api.get(STATUS, read=msgspec.json.Decoder(dict[str, str]).decode)
    assert len(sandbox.sandbox.requests) == IMPATIENT.attempts


def test_a_date_without_a_zone_is_utc(monkeypatch):
    """Read as local time it would put the horizon hours ahead, and what changes until then would be lost."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    served = dated(httpx.Response(200, headers={"Date": "Tue, 31 Mar 2026 12:00:00 -0000"}))
    monkeypatch.undo()
    time.tzset()
    assert served == NOW


@pytest.mark.parametrize(
    ("seconds", "contents", "taken", "statuses", "renewals"),
    [
        # how long the file is not read again, what it holds at a create and at a read, which of them the service takes,
        # its answers, and how often a new token is reported
        (60, ("new\n", "new\n"), (True, True), [401, 201, 200], 1),
        (60, ("old", "old"), (False, False), [401, 401], 0),
        (60, ("wrong", "wrong"), (False, False), [401, 401, 401], 1),
        (60, ("", ""), (False, False), [401, 401], 0),
        (60, (None, None), (False, False), [401, 401], 0),
        (60, ("no\ntoken", "no\ntoken"), (False, False), [401], 1),
        (60, ("new", "newest"), (True, False), [401, 201, 401], 1),
        (0, ("new", "newest"), (True, True), [401, 201, 401, 200], 2),
    ],
)
def test_a_refused_token_is_read_again(sandbox, settings_for, tmp_path, seconds, contents, taken, statuses, renewals):
    """The service takes ``new``, and ``newest`` where that is in the file."""
    path = tmp_path / "token"
    path.write_text("old")
    settings, limits = settings_for(sandbox, api_token=None, api_token_file=path), TimeLimits(token=seconds)
    with GlobalApi.from_settings(settings, policy=IMPATIENT, limits=limits, transport=sandbox) as api, logged() as said:
        for content, is_taken, send in (
            (contents[0], taken[0], partial(api.post, LOCATION_TAGS, {"name": "a", "color": "red1"})),
            (contents[1], taken[1], partial(api.get, STATUS, read=bytes)),
        ):
            sandbox.sandbox.config = dataclasses.replace(CONFIG, token="newest" if content == "newest" else "new")
            path.unlink(missing_ok=True) if content is None else path.write_text(content)
            with nullcontext() if is_taken else pytest.raises(Unauthorized, match="WMS_API_TOKEN"):
                send()
    assert ([request.status for request in sandbox.sandbox.requests], len(said)) == (statuses, renewals)


WORDS = {"title": "Not today", "detail": "The index is rebuilt"}
NOT_TODAY = "title: Not today; detail: The index is rebuilt."
UNREADABLE = "envelope cannot be read"
IN_A_MINUTE = format_datetime(NOW + timedelta(seconds=60), usegmt=True)


@pytest.mark.parametrize(
    ("answer", "error", "requests", "says"),
    [
        # what answers every request, the error, after how many requests, what it says
        (JSONResponse(WORDS, 400), Rejected, 1, NOT_TODAY),
        (JSONResponse(WORDS, 401), Unauthorized, 1, NOT_TODAY),
        (JSONResponse(WORDS, 404), Rejected, 3, NOT_TODAY),
        (JSONResponse(WORDS, 422), Rejected, 1, NOT_TODAY),
        (JSONResponse(WORDS, 429), Busy, IMPATIENT.attempts, NOT_TODAY),
        (JSONResponse(WORDS, 500), ServiceFailed, IMPATIENT.attempts, NOT_TODAY),
        (JSONResponse(WORDS, 502), ServiceFailed, IMPATIENT.attempts, NOT_TODAY),
        (failed(403, "Not for this token."), Unauthorized, 1, "WMS_API_TOKEN.*It says: Not for this token."),
        (JSONResponse({"collection": {}}), ProtocolError, 1, UNREADABLE),
        (JSONResponse({"collection": [], "has_more": "yes"}), ProtocolError, 1, UNREADABLE),
        (Response("", 302, headers={"Location": "http://127.0.0.2/elsewhere"}), RedirectRefused, 1, "WMS_BASE_URL"),
        # a page of HTML showed its first 40 bytes, a 403 blamed the token
        *(
            (
                Response(body, 200),
                ServiceFailed,
                IMPATIENT.attempts,
                f"with {len(body)} bytes that are not a list.*{says}",
            )
            for body, says in (
                (
                    b"<html><title>Maintenance</title><h1>Back at 6:00</h1></html>",
                    r"It says: Maintenance: Back at 6:00\. If",
                ),
                (b"Back at 6:00\x1b[31m\r\nsoon", r"It says: Back at 6:00 \[31m soon\. If"),
                (b'{"errors": [{"type": "application", "message": "No database."}]}', r"It says: No database\. If"),
                (
                    b'{"errors": ["No database."], "collection": [], "has_more": false}',
                    r"It says: JSON with the keys errors, collection, has_more\. If",
                ),
                (b'{"status": "maintenance"}', r"It says: status: maintenance\. If"),
                (b'{"data": [{"first_name": "Erika"}], "links": {}}', r"It says: JSON with the keys data, links\. If"),
                (
                    b'<br /><b>Warning</b>: odd<br />{"collection": [{"first_name": "Erika"}]}',
                    r"It says: Warning : odd\. If",
                ),
            )
        ),
        *(
            (Response(body, 200), ServiceFailed, IMPATIENT.attempts, "(?s)^(?!.*It says).*If this persists")
            for body in (b'[{"first_name": "Erika"}]', b'{"first_name": "Erika', b'"text"', b"")
        ),
        *(
            (
                Response(body, 403, {"Server": "shield/2\t(edge)"}),
                ServiceFailed,
                IMPATIENT.attempts,
                rf"refused the request \(server: shield.*{says}",
            )
            for body, says in (
                (b"<html><title>Attention Required!</title></html>", "It says: Attention Required! If"),
                (
                    b'{"title": "Error 1020: Access denied", "status": 403}',
                    "title: Error 1020: Access denied",
                ),
                (b'{"message": "Forbidden"}', r"It says: message: Forbidden\. If"),
                (b"", "If this persists.*WMS_API_TOKEN"),
            )
        ),
        (Response("<html>trouble</html>", 403, {"Retry-After": "3600"}), ServiceFailed, 1, "a wait of 3,600 s"),
        # by this machine's clock, months later, it had passed: four attempts were made within a moment
        (Response("", 429, {"Retry-After": IN_A_MINUTE}), Busy, 1, "a wait of [3-6][0-9] s"),
    ],
)
def test_lasting_trouble_ends_with_its_name(sandbox, api, answer, error, requests, says):
    answer_first(sandbox, 99, lambda: answer)
    with pytest.raises(error, match=says) as raised:
        listing(api).count(START, None)
    assert (len(sandbox.sandbox.requests), "Erika" in str(raised.value)) == (requests, False)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ALL_PROXY", "socks5://user:planted-secret@127.0.0.1:1", "pip install socksio"),
        ("HTTPS_PROXY", "ftp://user:planted-secret@127.0.0.1:1", "looks like http://host:port"),
        ("SSL_CERT_FILE", "/nowhere/planted-secret.pem", "SSL_CERT_FILE"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE"),
        ("HTTPS_PROXY", "http://planted-secret..b:1", "HTTPS_PROXY .*cannot be used"),
        ("all_proxy", f"http://{'planted-secret' * 5}:1", "all_proxy cannot be used"),
        ("HTTP_PROXY", "http://planted-secret:port", "HTTP_PROXY .*cannot be used"),
        ("NO_PROXY", "[::1", "NO_PROXY .*cannot be used"),
    ],
)
def test_unusable_proxies_and_authorities_are_named(monkeypatch, name, value, says):
    """Each was a traceback."""
    monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    with pytest.raises(SettingsError, match=says) as error:
        GlobalApi("https://127.0.0.1:1", SecretStr(TOKEN))
    assert "planted-secret" not in str(error.value)


def envelope(ids: list[object], following: str | None = None, *, has_more: bool = True) -> Response:
    return JSONResponse(
        {
            "collection": [{"id": id_} for id_ in ids],
            "has_more": has_more,
            "next": following,
            "meta": {"count": len(ids)},
        }
    )


def accept(pages):
    pager = Pager()
    for page in pages:
        pager.accept(page)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([envelope([1, 3], "?cursor_start=4"), envelope([3, 4], has_more=False)], "after"),
        ([envelope([2, 1], has_more=False)], "after"),
        ([envelope([1, 1], has_more=False)], "after"),
        ([envelope([1, "2", "2"], has_more=False)], "after"),
        ([envelope([1])], "no next page"),
        ([envelope([1], "/n")], "no next page"),
        ([envelope([1], "?cursor_start=2"), envelope([2], "?cursor_start=2")], "already been read"),
        ([envelope([1, 3], "?cursor_start=2")], "already been read"),
        ([envelope([1], "?cursor_start=2"), envelope([], "?cursor_start=2")], "already been read"),
    ],
)
def test_guards_stop_a_listing_that_loses_records(sandbox, api, answers, reason):
    sandbox.sandbox.intercept = lambda _: answers.pop(0)
    window = listing(api).changed_within(START, NOW)
    with pytest.raises(ProtocolError, match=reason):
        accept(read() for read in (window.first, lambda: window.at(2, counted=True)))


def test_empty_pages_are_not_followed_for_ever(sandbox, api):
    sandbox.sandbox.intercept = lambda _: envelope([], "?cursor_start=1")
    page = listing(api).changed_within(START, NOW).first()
    with pytest.raises(ProtocolError, match="are empty"):
        accept(replace(page, envelope=replace(page.envelope, next=following)) for following in range(1, 10_000))
