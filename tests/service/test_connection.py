"""What a connection keeps between requests, whom it trusts, and what it logs without what is secret or personal."""

import os
import resource
import socket
import ssl
import subprocess
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from pydantic import SecretStr

from tests.bench import CONFIG, IMPATIENT
from tests.service.test_drips import ONCE, dripping
from wms_sync.service.client import STATUS, GlobalApi
from wms_sync.service.connection import Params, described
from wms_sync.service.errors import Barred, NotSent, ServiceFailed


def test_no_cookie_is_sent_back(sandbox):
    """They grew until the service refused the header."""
    sent: list[str | None] = []
    sandbox.sandbox.intercept = lambda request: sent.append(request.headers.get("cookie"))
    sandbox.sandbox.finish = lambda answer: answer.set_cookie(f"session{len(sent)}", "x" * 1000, max_age=3600)
    with GlobalApi(sandbox.base_url, SecretStr(CONFIG.token), policy=IMPATIENT, transport=sandbox) as api:
        for _ in range(3):
            api.get(STATUS, read=bytes)
    assert sent == [None, None, None]


@pytest.fixture
def private_service(tmp_path):
    """The address of a service that answers whoever trusts it: that it cannot do what is asked.

    Its certificate is its own authority, ``authority.pem``.
    """
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key.pem -out authority.pem "
        "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "authority.pem", tmp_path / "key.pem")
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_private_certificate_authority_names_its_setting(private_service, tmp_path, monkeypatch):
    with (
        GlobalApi(private_service, SecretStr("t"), policy=IMPATIENT) as api,
        pytest.raises(Barred, match="private certificate authority, set SSL_CERT_FILE"),
    ):
        api.get("/x", read=bytes)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with GlobalApi(private_service, SecretStr("t"), policy=ONCE) as api, pytest.raises(ServiceFailed, match="501"):
        api.get("/x", read=bytes)


@pytest.mark.proof
def test_a_proxy_that_asks_for_a_login_is_named(monkeypatch):
    with dripping(b"", b"HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n") as url:
        address = url.removeprefix("http://")
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:planted-secret@{address}")
        with (
            GlobalApi("https://acme.example.com", SecretStr("t"), policy=ONCE) as api,
            pytest.raises(Barred, match=rf"The proxy {address} asks for a login") as error,
        ):
            api.get(STATUS, read=bytes)
    assert "planted-secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "url", "named"),
    [
        ("HTTPS_PROXY", "https://acme.example.com", "through the proxy 127.0.0.1:1 "),
        ("all_proxy", "https://acme.example.com", "through the proxy 127.0.0.1:1 "),
        ("HTTPS_PROXY", "http://127.0.0.1:1", "No answer from http://127.0.0.1:1 (ConnectError"),
    ],
)
def test_a_proxy_that_does_not_answer_is_named(monkeypatch, name, url, named):
    monkeypatch.setenv(name, "http://user:planted-secret@127.0.0.1:1")
    with GlobalApi(url, SecretStr("t"), policy=ONCE) as api, pytest.raises(NotSent) as error:
        api.get(STATUS, read=bytes)
    assert (named in str(error.value), "planted-secret" in str(error.value)) == (True, False), error.value


@pytest.mark.proof
def test_a_connection_without_a_second_descriptor_sends_nothing():
    """It is duplicated, so that it can be cut. A create in a push ended with a traceback, and in doubt."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        GlobalApi(f"http://127.0.0.1:{listening.getsockname()[1]}", SecretStr("token"), policy=ONCE) as api,
        ExitStack() as undone,
    ):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        undone.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        lowest = os.open(os.devnull, os.O_RDONLY)  # all below are taken
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, limits[1]))
        with pytest.raises(NotSent, match="ulimit -n"):
            api.get(STATUS, read=bytes)


LISTED_AT = "https://acme.example.com/api/global/v1/shipping/shipments"
WINDOW = "updated_at{gt:'2026-03-01T00:00:00Z',lt:'2026-03-02T00:00:00Z'}"


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        # the parameters of a request, and how they are shown
        ((), "no parameters"),
        (
            (("limit", "50"), ("count", "1"), ("sort", "-id,status"), ("cursor_start", "7")),
            "limit=50&count=1&sort=-id,status&cursor_start=7",
        ),
        ((("filter", WINDOW),), f"filter={WINDOW}"),
        (
            (("filter", "id{in:[7,8]}"), ("filter", "updated_at{null:true}")),
            "filter=id{in:[7,8]}&filter=updated_at{null:true}",
        ),
        ((("fields", "status,order"), ("fields:order.items", "all")), "fields=status,order&fields:order.items=all"),
        ((("filter", "id:Erika"),), "filter=(withheld)"),
        ((("filter", "updated_at{regex:'Erika'}"),), "filter=(withheld)"),
        ((("filter", "id:Елена"),), "filter=(withheld)"),
        ((("filter", "email:erika@example.com"),), "filter=(withheld)"),
        ((("token", "s3cret"), ("limit", "Erika")), "token=(withheld)&limit=(withheld)"),
    ],
)
def test_parameters_are_shown_unless_they_may_be_personal(params: Params, shown):
    assert (
        described(httpx.Request("GET", LISTED_AT, params=list(params) or None), None, 0.5)
        == f"GET {httpx.URL(LISTED_AT).path} got no answer after 0.50 s; {shown}"
    )


def test_the_headers_that_matter_are_shown_without_credentials():
    request = httpx.Request("GET", LISTED_AT, headers={"Authorization": "Bearer t0ken/4711"})
    headers = {
        "Date": "now",
        "Set-Cookie": "session=7",
        "X-RateLimit-Remaining": "3",
        "Location": "/?login=erika",
        "Server": "of t0ken%2F4711",
    }
    assert described(request, httpx.Response(503, headers=headers), 2) == (
        f"GET {httpx.URL(LISTED_AT).path} answered 503 after 2.00 s with 0 bytes, date: now, x-ratelimit-remaining: 3, "
        "server: of (withheld); no parameters"
    )
