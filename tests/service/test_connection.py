"""What a connection keeps between requests, and whom it trusts."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr
from starlette.responses import JSONResponse

from tests.conftest import IMPATIENT
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import NotSent
from wms_sync.service.retrying import RetryPolicy

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
    """A server's side of TLS, with a certificate of a private authority, whose own is ``authority.pem``."""
    authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer, server = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("Ours", "127.0.0.1"))
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = datetime.now(UTC)
    for file, name, key, extension in (
        ("authority.pem", issuer, authority, x509.BasicConstraints(ca=True, path_length=None)),
        ("server.pem", server, own, address),
    ):
        certificate = (
            x509.CertificateBuilder(issuer, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(extension, critical=True)
            .sign(authority, hashes.SHA256())
        )
        (folder / file).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    (folder / "server.key").write_bytes(
        own.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return context


@pytest.fixture
def private_service(tmp_path) -> Iterator[str]:
    """The address of a service that answers two connections, each once, if it is trusted."""
    context = certified(tmp_path)

    def serve() -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
                secured.recv(65536)
                secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_a_private_certificate_authority_names_its_setting(private_service, tmp_path, monkeypatch):
    with (
        GlobalApi(private_service, SecretStr("t"), policy=ONCE) as api,
        pytest.raises(NotSent, match="private certificate authority, set SSL_CERT_FILE"),
    ):
        api.get("/x", read=bytes)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with GlobalApi(private_service, SecretStr("t"), policy=ONCE) as api:
        assert api.get("/x", read=bytes).read == b"{}"
