"""The client against the sandbox on a socket: every kind of answer becomes the right error, or is asked again."""

import dataclasses
import sys
import time
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from email.utils import format_datetime

import httpx
import msgspec
import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from tests.bench import CONFIG, IMPATIENT, NOW, logged
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
    read = msgspec.json.Decoder(dict[str, str]).decode
    answer_first(sandbox, 1, lambda: Response("<html>Back at 6:00</html>"))
    assert api.get(STATUS, read=read).envelope == {"status": "ok"}
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
    assert api.connection.throttle._paused_until > 0


def test_a_date_to_retry_at_is_the_services(sandbox, api):
    """By this machine's, months later, it had passed: four attempts were made within a moment."""
    headers = {"Retry-After": format_datetime(NOW + timedelta(seconds=60), usegmt=True)}
    answer_first(sandbox, 99, lambda: Response("", 429, headers=headers))
    with pytest.raises(Busy) as raised:
        listing(api).count(START, None)
    assert raised.value.retry_after == pytest.approx(60, abs=30)
    assert len(sandbox.sandbox.requests) == 1  # since so long a wait is not made


@pytest.fixture
def renewing(sandbox, settings_for, tmp_path):
    """Opens a client whose token is in a file, and writes the file anew; the service takes ``new`` alone."""
    path = tmp_path / "token"
    sandbox.sandbox.config = dataclasses.replace(CONFIG, token="new")

    @contextmanager
    def open_client(seconds=60):
        path.write_text("old")
        settings, limits = settings_for(sandbox, api_token=None, api_token_file=path), TimeLimits(token=seconds)
        with GlobalApi.from_settings(settings, policy=IMPATIENT, limits=limits, transport=sandbox) as api:
            yield api, path

    return open_client


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        # what the file holds by then, and the answers to two requests
        ("new\n", [401, 200, 200]),
        ("old", [401, 401]),
        ("wrong", [401, 401, 401]),
        ("", [401, 401]),
        (None, [401, 401]),
        ("no\ntoken", [401]),
    ],
)
def test_a_refused_token_is_read_again(sandbox, renewing, content, statuses):
    with renewing() as (api, path), logged() as said:
        path.unlink() if content is None else path.write_text(content)
        for _ in range(2):
            with nullcontext() if 200 in statuses else pytest.raises(Unauthorized, match="WMS_API_TOKEN"):
                api.get(STATUS, read=bytes)
    assert [request.status for request in sandbox.sandbox.requests] == statuses
    assert len(said) == (content in {"new\n", "wrong", "no\ntoken"})


@pytest.mark.parametrize("seconds", [0, 60])
def test_the_file_of_the_token_is_read_once_a_minute(sandbox, renewing, seconds):
    with renewing(seconds) as (api, path):
        path.write_text("new")
        api.get(STATUS, read=bytes)
        sandbox.sandbox.config = dataclasses.replace(CONFIG, token="newest")
        path.write_text("newest")
        with nullcontext() if seconds == 0 else pytest.raises(Unauthorized):
            api.get(STATUS, read=bytes)


TROUBLE = "<html>trouble</html>"


WORDS = {"title": "Not today", "detail": "The index is rebuilt"}
NOT_TODAY = "title: Not today; detail: The index is rebuilt."
UNREADABLE = "envelope cannot be read"


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
        (Response(TROUBLE, 403, {"Retry-After": "3600"}), ServiceFailed, 1, "a wait of 3,600 s"),
    ],
)
def test_lasting_trouble_ends_with_its_name(sandbox, api, answer, error, requests, says):
    answer_first(sandbox, 99, lambda: answer)
    with pytest.raises(error, match=says) as raised:
        listing(api).count(START, None)
    assert len(sandbox.sandbox.requests) == requests
    assert "Erika" not in str(raised.value)


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
    content = {"collection": [{"id": id_} for id_ in ids], "has_more": has_more, "next": following}
    return JSONResponse(content | {"meta": {"count": len(ids)}})


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
