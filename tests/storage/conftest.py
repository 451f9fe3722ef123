"""An S3 server, which starts once in a process, a wire to it that can be cut, keys for it, and places in its bucket."""

import json
import logging
import math
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.bench import CONFIG
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer

EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "open-sesame", "AWS_REGION": "us-east-1"}


@contextmanager
def served(answer: Callable[..., Iterable[bytes]]) -> Iterator[str]:
    """The address of a server with this application of WSGI."""
    from moto.moto_server.werkzeug_app import MotoRequestHandler  # takes a second, and each process collects all tests
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, answer, threaded=True, request_handler=MotoRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Wire:
    """What leads to an S3 server, unless it ``is_cut``: then each request ends without an answer.

    With a ``token``, it refuses each request that was not sent with this token of a role's keys.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self.address = ""
        self.is_cut = False
        self.token: str | None = None
        self._moto: Callable[..., Iterable[bytes]] = DomainDispatcherApplication(create_backend_app)

    def answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if self.is_cut:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError
        if self.token not in {None, environ.get("HTTP_X_AMZ_SECURITY_TOKEN")}:
            start_response(
                "400 Bad Request", [("Content-Type", "application/xml"), ("Content-Length", str(len(EXPIRED)))]
            )
            return [EXPIRED]
        return self._moto(environ, start_response)


@pytest.fixture(scope="session")
def s3() -> Iterator[Wire]:
    """A wire to an S3 server that has the bucket ``wms``, and ``kept``, which keeps versions."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    wire = Wire()
    with served(wire.answer) as wire.address:
        client = client_of(wire)
        client.create_bucket(Bucket="wms")
        client.create_bucket(Bucket="kept")
        client.put_bucket_versioning(Bucket="kept", VersioningConfiguration={"Status": "Enabled"})
        client.close()
        yield wire


def client_of(wire: Wire, keys: Mapping[str, str] = KEYS, *, service: str = "s3"):
    import boto3

    return boto3.client(
        service,
        endpoint_url=wire.address,
        region_name=keys["AWS_REGION"],
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )


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


@contextmanager
def as_pod(wire: Wire, policy: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Make this process one of EKS inside the block: it has no keys, but an address that lends it those of a role.

    Gives a function that has the keys expire: the server then takes only the next ones, which the address lends from
    then on. Inside the block it also checks each signature, and refuses what the policy does not allow.
    """
    iam, sts, role = client_of(wire, service="iam"), client_of(wire, service="sts"), f"pod-{secrets.token_hex(4)}"
    arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName=role, PolicyName="shown", PolicyDocument=policy)
    terms = [sts.assume_role(RoleArn=arn, RoleSessionName=role)["Credentials"] for _ in range(10)]
    (folder / "token").write_text("of the pod")

    def lend(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        keys, soon = terms[-1], datetime.now(UTC) + timedelta(minutes=1)
        content = json.dumps(
            {
                "AccessKeyId": keys["AccessKeyId"],
                "SecretAccessKey": keys["SecretAccessKey"],
                "Token": keys["SessionToken"],
                "Expiration": f"{soon:%Y-%m-%dT%H:%M:%SZ}",
            }
        ).encode()
        start_response(
            "200 OK" if environ.get("HTTP_AUTHORIZATION") == "of the pod" else "403 Forbidden",
            [("Content-Length", str(len(content)))],
        )
        return [content]

    def expire() -> None:
        terms.pop()
        wire.token = terms[-1]["SessionToken"]
        sleep(0.2)  # obstore asks for keys that expire soon at most ten times a second

    _check_keys_after(wire, 0)
    with served(lend) as address, monkeypatch.context() as pod:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            pod.delenv(name)
        pod.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{address}/")
        pod.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", f"{folder}/token")
        expire()
        try:
            yield expire
        finally:
            wire.token = None
            _check_keys_after(wire, math.inf)


def _check_keys_after(wire: Wire, requests: float) -> None:
    address, text = f"{wire.address}/moto-api/reset-auth", {"Content-Type": "text/plain"}
    urlopen(Request(address, str(requests).encode(), text)).close()


@pytest.fixture
def in_bucket(s3: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Settings of an installation whose pages and Parquet lie in a prefix of its own, its state beside its data."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    s3.is_cut = False
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
def download(s3: Wire, in_bucket: dict[str, object], keys: Callable[[], set[str]]) -> Callable[[Path], Path]:
    """Copies the objects into a folder, which it returns."""
    client = client_of(s3)

    def copied(folder: Path) -> Path:
        for key in keys():
            path = folder / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(client.get_object(Bucket="wms", Key=prefix_of(in_bucket) + key)["Body"].read())
        return folder

    return copied


def prefix_of(in_bucket: dict[str, object]) -> str:
    return str(in_bucket["files_url"]).removeprefix("s3://wms/") + "/"
