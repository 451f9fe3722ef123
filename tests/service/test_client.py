"""The client against the sandbox on a socket: every kind of answer becomes the right error, or is asked again."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import IMPATIENT, NOW, logged
from wms_sandbox.errors import failed
from wms_sandbox.transport import InProcess
from wms_sync.errors import SettingsError
from wms_sync.reports.failures import mends_by_waiting
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import (
    ApiError,
    Busy,
    ProtocolError,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
    Unreachable,
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
    left = [times]

    def intercept(request: Request) -> Response | None:
        if left[0] <= 0:
            return None
        left[0] -= 1
        return make()

    sandbox.sandbox.intercept = intercept


def test_pages_follow_next_until_the_end_and_visit_every_shipment_once(api):
    pages, pager = [], Pager()
    page = listing(api).changed_within(START, NOW).first()
    while True:
        pager.accept(page)
        pages.append(page)
        if pager.next is None:
            break
        page = listing(api).changed_within(START, NOW).at(pager.next, counted=True)
    ids = [one for page in pages for one in page.envelope.ids]
    assert len(pages) > 5
    assert len(ids) == len(set(ids)) == pages[0].envelope.count
    assert ids == sorted(ids)


def test_the_service_clock_comes_from_the_date_header(api):
    _, served_at = listing(api).count(START, None)
    assert served_at == NOW


def test_a_date_without_a_zone_is_utc_wherever_this_machine_is(monkeypatch):
    """Read as local time it would put the horizon hours ahead, and what changes until then would be lost."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    served = dated(httpx.Response(200, headers={"Date": "Tue, 31 Mar 2026 12:00:00 -0000"}))
    monkeypatch.undo()
    time.tzset()
    assert served == NOW


def test_bodies_are_kept_as_received_and_readable(api):
    page = listing(api).changed_within(START, NOW).first()
    assert page.body.suffix == "json.gz"
    assert gzip.decompress(page.body.landed) == page.body.content
    assert len(json.loads(page.body.content)["collection"]) == 50


@pytest.mark.parametrize("token", ["s3cr3t-token", "", "two words", "line\nbreak"])
def test_a_wrong_token_names_the_setting_and_never_shows_the_token(sandbox, token):
    with client(sandbox, token) as api, pytest.raises(Unauthorized) as error:
        listing(api).count(START, None)
    assert "WMS_API_TOKEN" in str(error.value)
    assert error.value.exit_code == 2
    assert not token or token not in str(error.value)


def test_a_wrong_token_is_not_tried_again(sandbox):
    with client(sandbox, "wrong") as api, pytest.raises(Unauthorized):
        listing(api).count(START, None)
    assert len(sandbox.sandbox.requests) == 1


def test_a_400_shows_the_parameter_that_the_service_names(api):
    with pytest.raises(Rejected, match=r"fields:nonsense"):
        api.get("/api/global/v1/shipping/shipments", [("fields:nonsense", "all")], read=bytes)


@pytest.mark.parametrize("status", [304, 408, 409, 429, 500, 502, 503])
def test_passing_trouble_is_asked_again(sandbox, api, status):
    answer_first(sandbox, 2, lambda: Response("<html>trouble</html>", status, media_type="text/html"))
    count, _ = listing(api).count(START, None)
    assert count == 600
    assert len(sandbox.sandbox.requests) == 3


def test_what_is_said_of_passing_trouble_shows_no_token(sandbox, api):
    answer_first(sandbox, 2, lambda: Response(f"<html>{TOKEN}</html>", 503, media_type="text/html"))
    with logged() as said:
        listing(api).count(START, None)
    assert ["503" in line for line in said] == [True, True]
    assert TOKEN not in "".join(said)


@pytest.mark.parametrize(("status", "kind"), [(429, Busy), (409, Busy), (500, ServiceFailed), (503, ServiceFailed)])
def test_lasting_trouble_ends_with_its_name(sandbox, api, status, kind):
    answer_first(sandbox, 99, lambda: Response("", status))
    with pytest.raises(kind, match=str(status)):
        listing(api).count(START, None)
    assert len(sandbox.sandbox.requests) == IMPATIENT.attempts


def test_retry_after_pauses_every_request_of_the_client(sandbox, api):
    answer_first(sandbox, 1, lambda: Response("", 429, headers={"Retry-After": "0.3"}))
    listing(api).count(START, None)
    assert api.throttle._paused_until > 0


def test_a_retry_after_that_is_a_date_is_of_the_services_clock(sandbox, api):
    """By this machine's, months later, it had passed: four attempts were made within a moment."""
    until = format_datetime(NOW + timedelta(seconds=60), usegmt=True)
    answer_first(sandbox, 99, lambda: Response("", 429, headers={"Retry-After": until}))
    with pytest.raises(Busy) as raised:
        listing(api).count(START, None)
    assert raised.value.retry_after == pytest.approx(60, abs=30)
    assert len(sandbox.sandbox.requests) == 1  # since so long a wait is not made


def test_a_redirect_is_refused(sandbox, api):
    answer_first(sandbox, 1, lambda: Response("", 302, headers={"Location": "http://127.0.0.2/elsewhere"}))
    with pytest.raises(RedirectRefused, match="WMS_BASE_URL"):
        listing(api).count(START, None)


def _damaged_gzip() -> Response:
    content = gzip.compress(json.dumps({"collection": [], "has_more": False, "meta": {"count": 0}}).encode())
    return Response(content[:-9], headers={"Content-Encoding": "gzip"})


def test_a_truncated_transfer_is_asked_again_and_never_a_short_page(sandbox, api):
    answer_first(sandbox, 1, _damaged_gzip)
    assert listing(api).count(START, None)[0] == 600


@pytest.mark.parametrize("body", [b'{"collection": {}}', b'{"collection": [], "has_more": "yes"}'])
def test_a_list_whose_envelope_cannot_be_read_is_a_protocol_error(sandbox, api, body):
    answer_first(sandbox, 1, lambda: Response(body))
    with pytest.raises(ProtocolError):
        listing(api).count(START, None)


IN_ITS_PLACE = [
    (b"<html><title>Maintenance</title><h1>Back at 6:00</h1></html>", "Maintenance: Back at 6:00."),
    (b"Back at 6:00\x1b[31m\r\nsoon", "Back at 6:00 [31m soon."),
    (b'{"errors": [{"type": "application", "message": "No database."}]}', "No database."),
    (b'{"errors": ["No database."], "collection": [], "has_more": false}', "No database."),
    (b'{"status": "maintenance"}', "status: maintenance."),
    (b'{"data": [{"first_name": "Erika"}], "links": {}}', "JSON with the keys data, links."),
    (b'<br /><b>Warning</b>: odd<br />{"collection": [{"first_name": "Erika"}]}', "Warning : odd."),
    (b'[{"first_name": "Erika"}]', ""),
    (b'{"first_name": "Erika', ""),
    (b'"text"', ""),
    (b"", ""),
]


@pytest.mark.parametrize(("body", "said"), IN_ITS_PLACE)
def test_what_answers_in_the_place_of_a_list_is_shown_and_asked_again(sandbox, api, body, said):
    """It ended the night, and a page of HTML showed its first 40 bytes."""
    answer_first(sandbox, 2, lambda: Response(body))
    assert listing(api).count(START, None)[0] == 600
    assert len(sandbox.sandbox.requests) == 3
    answer_first(sandbox, 99, lambda: Response(body, headers={"Retry-After": "3600"}))
    with pytest.raises(ServiceFailed, match=f"answered 200 with {len(body)} bytes that are not a list") as error:
        listing(api).count(START, None)
    assert (f"It says: {said} If this persists" in str(error.value)) == bool(said)
    assert "Erika" not in str(error.value)
    assert (error.value.status, error.value.retry_after) == (200, 3600)
    assert mends_by_waiting(type(error.value).__name__)


FOREIGN_403 = [
    (b"<html><title>Attention Required!</title></html>", "Attention Required!"),
    (b'{"type": "about:blank", "title": "Error 1020: Access denied", "status": 403}', "Error 1020: Access denied."),
    (b'{"message": "Forbidden"}', "Forbidden."),
    (b"", None),
]


@pytest.mark.parametrize(("body", "said"), FOREIGN_403)
def test_a_403_of_something_in_front_is_named_and_asked_again(sandbox, api, body, said):
    """It ended the night, which said that the token is wrong."""
    answer_first(sandbox, 2, lambda: Response(body, 403))
    assert listing(api).count(START, None)[0] == 600
    headers = {"Server": "shield/2\t(edge)", "Retry-After": "3600"}
    answer_first(sandbox, 99, lambda: Response(body, 403, headers=headers))
    with pytest.raises(ServiceFailed, match="firewall") as error:
        listing(api).count(START, None)
    assert "refused the request (server: shield/2 (edge))." in str(error.value)
    assert said is None or f"It says: {said} If this persists" in str(error.value)
    assert ("WMS_API_TOKEN" in str(error.value)) == (not body.startswith(b"<"))
    assert (error.value.retry_after, error.value.is_from_service) == (3600, False)
    assert mends_by_waiting(type(error.value).__name__)


def test_a_403_in_the_services_own_words_is_final(sandbox, api):
    answer_first(sandbox, 99, lambda: failed(403, "This token may not list shipments."))
    with pytest.raises(Unauthorized, match=r"WMS_API_TOKEN.*It says: This token may not list shipments\."):
        listing(api).count(START, None)
    assert len(sandbox.sandbox.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500, 502])
def test_a_refusal_in_another_form_says_what_its_body_says(sandbox, api, status):
    """It said that no reason was given, or nothing."""
    answer_first(sandbox, 99, lambda: JSONResponse({"title": "Not today", "detail": "The index is rebuilt"}, status))
    with pytest.raises(ApiError, match=r"Not today: The index is rebuilt\."):
        listing(api).count(START, None)


def test_a_count_that_is_missing_is_none(sandbox, api):
    answer_first(sandbox, 1, lambda: JSONResponse({"collection": [], "has_more": False, "next": None, "meta": {}}))
    counted, _ = listing(api).count(None, None)
    assert counted is None


def test_a_count_that_is_written_as_text_counts(sandbox, api):
    answer_first(sandbox, 1, lambda: JSONResponse({"collection": [], "has_more": False, "meta": {"count": "120"}}))
    assert listing(api).count(START, None)[0] == 120


def test_nobody_there_is_unreachable_and_says_where_to_look():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with GlobalApi(url, SecretStr(TOKEN), policy=IMPATIENT) as api, pytest.raises(Unreachable, match="WMS_BASE_URL"):
        listing(api).count(START, None)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ALL_PROXY", "socks5://user:planted-secret@127.0.0.1:1", "pip install socksio"),
        ("HTTPS_PROXY", "ftp://user:planted-secret@127.0.0.1:1", "looks like http://host:port"),
        ("SSL_CERT_FILE", "/nowhere/planted-secret.pem", "SSL_CERT_FILE"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE"),
    ],
)
def test_proxies_and_authorities_that_cannot_be_used_are_named(monkeypatch, name, value, says):
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
        (([1], True, "?cursor_start=2"), ([2], True, "?cursor_start=2"), "read already"),
        (([1, 3], True, "?cursor_start=2"), None, "read already"),
        (([1], True, "?cursor_start=2"), ([], True, "?cursor_start=2"), "read already"),
    ],
)
def test_guards_stop_a_listing_that_could_lose_or_repeat_records(sandbox, api, first, second, reason):
    answers = [first, second]
    sandbox.sandbox.intercept = lambda _: envelope(answers[0][0], has_more=answers[0][1], following=answers.pop(0)[2])
    with pytest.raises(ProtocolError, match=reason):
        read_two_pages(api)


def test_a_short_page_ends_nothing(sandbox, api):
    sandbox.sandbox.intercept = lambda _: envelope([], has_more=True, following="?cursor_start=9")
    pager = Pager()
    pager.accept(listing(api).changed_within(START, NOW).first())
    assert pager.next == 9


def test_pages_that_hold_nothing_are_not_followed_for_ever(sandbox, api):
    sandbox.sandbox.intercept = lambda _: envelope([], has_more=True, following="?cursor_start=1")
    page = listing(api).changed_within(START, NOW).first()
    pager, pages = Pager(), (replace(page, envelope=replace(page.envelope, next=at)) for at in range(1, 10_000))
    with pytest.raises(ProtocolError, match="are empty"):
        deque(map(pager.accept, pages))


def test_all_errors_are_of_one_tree():
    assert all(
        issubclass(one, ApiError)
        for one in (Unreachable, Unauthorized, Rejected, Busy, ServiceFailed, RedirectRefused, ProtocolError)
    )
