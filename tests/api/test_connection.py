"""What a connection keeps between requests, and whom it trusts."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr
from starlette.responses import JSONResponse

from tests.conftest import IMPATIENT
from wms_sync.api.client import GlobalApi
from wms_sync.api.errors import NotSent
from wms_sync.api.retrying import RetryPolicy

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
    """A server's side of TLS, with a certificate that it has signed itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def test_a_private_certificate_authority_names_the_setting(tmp_path):
    context = certified(tmp_path)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            context.wrap_socket(connection, server_side=True).close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with GlobalApi(url, SecretStr("t"), policy=ONCE) as api, pytest.raises(NotSent, match="set SSL_CERT_FILE"):
            api.get("/x", read=bytes)
        thread.join()
