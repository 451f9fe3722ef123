"""What a connection keeps between requests, and whom it trusts."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pydantic import SecretStr
from starlette.responses import JSONResponse

from tests.conftest import IMPATIENT
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import NotSent, ServiceFailed

ONCE = RetryPolicy(attempts=1, total_seconds=5, first_wait=0.01, longest_wait=0.05)


def test_no_cookie_is_sent_back(sandbox):
    """They grew until the service refused the header."""
    sent = []

    def intercept(request):
        sent.append(request.headers.get("cookie"))
        answer = JSONResponse({"collection": [], "has_more": False, "next": None})
        answer.set_cookie(f"session{len(sent)}", "x" * 1000, max_age=3600)
        return answer

    sandbox.sandbox.intercept = intercept
    with GlobalApi(sandbox.base_url, SecretStr("t"), policy=IMPATIENT, transport=sandbox) as api:
        for _ in range(3):
            api.get("/api/global/v1/shipping/shipments", read=bytes)
    assert sent == [None, None, None]


def certified(folder: Path) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate that is its own authority, ``authority.pem``."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "authority.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "authority.pem", folder / "key.pem")
    return context


@pytest.fixture
def private_service(tmp_path) -> Iterator[str]:
    """The address of a service that answers whoever trusts it: that it cannot do what is asked."""
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = certified(tmp_path).wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_private_certificate_authority_names_its_setting(private_service, tmp_path, monkeypatch):
    with (
        GlobalApi(private_service, SecretStr("t"), policy=ONCE) as api,
        pytest.raises(NotSent, match="private certificate authority, set SSL_CERT_FILE"),
    ):
        api.get("/x", read=bytes)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with GlobalApi(private_service, SecretStr("t"), policy=ONCE) as api, pytest.raises(ServiceFailed, match="501"):
        api.get("/x", read=bytes)
