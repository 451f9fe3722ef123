"""The Merchant API against the sandbox: credentials, codes, and what is called again."""

import base64
import json
from contextlib import nullcontext

import pytest
from pydantic import SecretStr
from starlette.responses import JSONResponse, Response

from tests.bench import IMPATIENT
from tests.service.test_client import answer_first
from wms_sandbox.faults import Disconnect, ProxyAnswer
from wms_sync.service.errors import AccessDenied, ApiError, CallFailed, ProtocolError, Unauthorized
from wms_sync.service.merchant import MerchantApi

USERNAME, KEY = "sandbox-merchant", "sandbox-api-key"
LIST: tuple[str, list[object]] = ("retailer.list", [{}, {"limit": 3}])


def client(service, *, key=KEY) -> MerchantApi:
    return MerchantApi(service.base_url, USERNAME, SecretStr(key), policy=IMPATIENT, transport=service)


def test_credentials_go_with_each_call(sandbox):
    sent = []

    async def look(request):
        sent.append((json.loads(await request.body())["id"], request.headers.get("authorization")))

    sandbox.sandbox.intercept = look
    with client(sandbox) as api:
        assert [len(api.call(*LIST)["results"]) for _ in range(2)] == [3, 3]
    basic = "Basic " + base64.b64encode(f"{USERNAME}:{KEY}".encode()).decode()
    assert sent == [(1, basic), (2, basic)]


def test_wrong_credentials_name_the_settings_and_never_show(sandbox):
    with (
        client(sandbox, key="planted-secret") as api,
        pytest.raises((AccessDenied, Unauthorized), match="WMS_MERCHANT_API_KEY") as error,
    ):
        api.call(*LIST)
    assert (error.value.exit_code, len(sandbox.sandbox.requests)) == (2, 1)
    assert "planted-secret" not in str(error.value)


RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"results": [{}, {}, {}]}}
ANSWERS: list[tuple[Response, type[ApiError] | None, int, str]] = [
    # the first answer to a call, the error that it ends with, the number of requests, and what the error says
    (JSONResponse(RESULT | {"jsonrpc": 2.0}), None, 1, ""),
    (JSONResponse(RESULT | {"error": None}), None, 1, ""),
    # whatever the body says
    *((JSONResponse(RESULT | {"result": {"results": "wrong"}}, status), None, 2, "") for status in (429, 409, 503)),
    # something else answers
    *(
        (Response(body), None, 2, "")
        for body in (
            *(b"", b'{"jsonrpc": "2.0", "error": 5}', b"<html>In maintenance</html>", b"[]", b"{}"),
            *(b'{"status": "maintenance"}', b'{"errors": ["odd"]}'),
        )
    ),
    (Disconnect(), None, 2, ""),
    (ProxyAnswer(503), None, 2, ""),
    (Response(b'{"jsonrpc": "1.0", "result": 1}'), ProtocolError, 1, ""),
    (Response(b'{"jsonrpc": "2.0"}'), ProtocolError, 1, ""),
    # wrong credentials have two codes
    *(
        (
            JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No."}}),
            error,
            1,
            rf"No\. \(code {code}\)",
        )
        for code, error in ((2, AccessDenied), (-32002, AccessDenied), (6, CallFailed), (-32006, CallFailed))
    ),
]


@pytest.mark.parametrize(("first", "error", "requests", "says"), ANSWERS)
def test_which_answers_are_understood(sandbox, first, error, requests, says):
    answer_first(sandbox, 1, lambda: first)
    with client(sandbox) as api, nullcontext() if error is None else pytest.raises(error, match=says or None) as raised:
        assert len(api.call(*LIST)["results"]) == 3
    assert len(sandbox.sandbox.requests) == requests
    assert raised is None or type(raised.value) is error
