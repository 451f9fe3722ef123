"""An S3 server, which starts once in a process, a wire to it that can be cut, and places in its bucket."""

from __future__ import annotations

import logging
import math
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.conftest import CONFIG
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.reports.doctor import examine
from wms_sync.reports.findings import findings_of
from wms_sync.settings import Settings

KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "open-sesame", "AWS_REGION": "us-east-1"}


class Wire:
    """A port that leads to another one, unless it is ``cut``: then what is connected ends, and nothing is answered."""

    def __init__(self, host: str, port: int) -> None:
        self.is_cut = False
        self._to = (host, port)
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        self.is_cut = True
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            far = socket.create_connection(self._to)
            self._open += (near, far)
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(65536):
                target.sendall(content)
        for side in (source, target):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
            side.close()


@contextmanager
def s3_server() -> Iterator[Wire]:
    """A wire to an S3 server that has the bucket ``wms``, and ``kept``, which keeps versions."""
    from moto.server import ThreadedMotoServer  # which takes a second, and each process of the tests collects them all

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    wire = Wire(*server.get_host_and_port())
    client = client_of(wire)
    client.create_bucket(Bucket="wms")
    client.create_bucket(Bucket="kept")
    client.put_bucket_versioning(Bucket="kept", VersioningConfiguration={"Status": "Enabled"})
    client.close()
    yield wire
    wire.close()
    server.stop()


def client_of(wire: Wire, keys: Mapping[str, str] = KEYS, *, service: str = "s3"):
    import boto3

    return boto3.client(
        service,
        endpoint_url=wire.address,
        region_name=keys["AWS_REGION"],
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )


@contextmanager
def answering(status: int, content: bytes = b"") -> Iterator[tuple[str, list[str]]]:
    """The address of a server that gives each request the same answer, and the paths that were requested."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT  # noqa: N815 - as the library calls it

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    """A sandbox of the test's own, on the socket that other processes reach."""
    server.sandbox = Sandbox(CONFIG)
    return server


@contextmanager
def permitted(wire: Wire, policy: str) -> Iterator[dict[str, str]]:
    """The keys of a user with a policy; inside the block the server refuses what it does not allow, and all others."""
    iam, user = client_of(wire, service="iam"), f"reader-{secrets.token_hex(4)}"
    iam.create_user(UserName=user)
    iam.put_user_policy(UserName=user, PolicyName="shown", PolicyDocument=policy)
    made = iam.create_access_key(UserName=user)["AccessKey"]
    _check_keys_after(wire, 0)
    try:
        yield KEYS | {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}
    finally:
        _check_keys_after(wire, math.inf)


def _check_keys_after(wire: Wire, requests: float) -> None:
    address, text = f"{wire.address}/moto-api/reset-auth", {"Content-Type": "text/plain"}
    urlopen(Request(address, str(requests).encode(), text)).close()


@pytest.fixture(scope="session")
def s3() -> Iterator[Wire]:
    with s3_server() as wire:
        yield wire


@pytest.fixture
def in_bucket(s3: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Settings of an installation whose pages and Parquet lie in a prefix of its own, its state beside its data."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    s3.mend()
    return {
        "files_url": f"s3://wms/{secrets.token_hex(4)}",
        "files_endpoint": s3.address,
        "state_url": f"sqlite:///{tmp_path}/state.db",
    }


@pytest.fixture
def keys(s3: Wire, in_bucket: dict[str, object]) -> Callable[[], set[str]]:
    """The keys below the prefix."""
    client, prefix = client_of(s3), prefix_of(in_bucket)

    def listed() -> set[str]:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="wms", Prefix=prefix)
        return {found["Key"].removeprefix(prefix) for page in pages for found in page.get("Contents", ())}

    return listed


@pytest.fixture
def objects(s3: Wire, in_bucket: dict[str, object], keys: Callable[[], set[str]]) -> Callable[[], dict[str, bytes]]:
    """What lies below the prefix, by key."""
    client, prefix = client_of(s3), prefix_of(in_bucket)

    def read() -> dict[str, bytes]:
        return {key: client.get_object(Bucket="wms", Key=prefix + key)["Body"].read() for key in keys()}

    return read


def prefix_of(in_bucket: dict[str, object]) -> str:
    return str(in_bucket["files_url"]).removeprefix("s3://wms/") + "/"


def foretold(settings: Settings) -> list[str]:
    """What the status and the doctor say of the place, before a run does."""
    of_status = [finding.text for finding in findings_of(settings) if finding.name == "elsewhere"]
    return of_status + [finding.text for finding in examine(settings) if finding.name == "elsewhere"]
