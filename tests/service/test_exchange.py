"""A line of the log for each request, without what is secret or personal."""

import logging

import httpx
import pytest
from pydantic import SecretStr
from starlette.responses import Response

from tests.conftest import IMPATIENT
from wms_sandbox.faults import Disconnect
from wms_sync.logs import Lines, handling
from wms_sync.service.client import STATUS, GlobalApi
from wms_sync.service.connection import Params, described

PATH = "https://acme.example.com/api/global/v1/shipping/shipments"
WINDOW = "updated_at{gt:'2026-03-01T00:00:00Z',lt:'2026-03-02T00:00:00Z'}"
LISTED = (("limit", "50"), ("count", "1"), ("sort", "-id,status"), ("cursor_start", "7"))


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        # the parameters of a request, and how they are shown
        ((), "no parameters"),
        (LISTED, "limit=50&count=1&sort=-id,status&cursor_start=7"),
        ((("filter", WINDOW),), f"filter={WINDOW}"),
        ((("filter", "id{in:[7,8]}"), ("filter", "updated_at{null:true}")), None),
        ((("fields", "status,order"), ("fields:order.items", "all")), None),
        ((("filter", "id:Erika"),), "filter=(withheld)"),
        ((("filter", "updated_at{regex:'Erika'}"),), "filter=(withheld)"),
        ((("filter", "id:Елена"),), "filter=(withheld)"),
        ((("filter", "email:erika@example.com"),), "filter=(withheld)"),
        ((("token", "s3cret"), ("limit", "Erika")), "token=(withheld)&limit=(withheld)"),
    ],
)
def test_parameters_are_shown_unless_they_may_be_personal(params: Params, shown):
    request = httpx.Request("GET", PATH, params=list(params) or None)
    shown = "&".join(f"{name}={value}" for name, value in params) if shown is None else shown
    assert described(request, None, 0.5) == f"GET {httpx.URL(PATH).path} got no answer after 0.50 s; {shown}"


def test_the_headers_that_matter_are_shown_without_credentials():
    request = httpx.Request("GET", PATH, headers={"Authorization": "Bearer t0ken/4711"})
    headers = {
        "Date": "now",
        "Set-Cookie": "session=7",
        "X-RateLimit-Remaining": "3",
        "Location": "/?login=erika",
        "Server": "of t0ken%2F4711",
    }
    line = described(request, httpx.Response(503, headers=headers), 2)
    assert line == (
        f"GET {httpx.URL(PATH).path} answered 503 after 2.00 s with 0 bytes, date: now, x-ratelimit-remaining: 3, "
        "server: of (withheld); no parameters"
    )


def test_each_attempt_is_a_line(sandbox):
    answers = [Disconnect(), Response("<html>down</html>", 503)]
    sandbox.sandbox.intercept = lambda _: answers.pop(0) if answers else None
    lines: list[str] = []
    console = handling(Lines(lambda level, text: lines.append(text) if level == logging.DEBUG else None), "DEBUG")
    token = SecretStr(sandbox.sandbox.config.token)
    with console, GlobalApi(sandbox.base_url, token, policy=IMPATIENT, transport=sandbox) as api:
        api.get(STATUS, read=bytes)
    assert [line.partition(" after ")[0] for line in lines] == [
        f"GET {STATUS} {came}" for came in ("got no answer", "answered 503", "answered 200")
    ]
    assert "with 17 bytes" in lines[1]
