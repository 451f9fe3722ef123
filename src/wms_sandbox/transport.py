"""Answer requests in the process and thread of the client, a client of httpx, without a socket or a server.

What happens below HTTP, such as answers that arrive slowly, needs the socket of `SandboxServer`. The faults that close
the connection raise here what httpx raises on a socket.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Scope

from wms_sandbox.app import Sandbox
from wms_sandbox.replay import Replay


class InProcess(httpx.BaseTransport):
    """A service in this process, for one client or many, in any number of threads.

    `base_url` is for settings and messages; nothing listens there. Another `sandbox` may replace the first one.
    """

    base_url = "http://127.0.0.1:1"

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request on an event loop of its own."""
        return asyncio.run(_answered(self.sandbox, _scope(request), request.read()))


class InProcessReplay(httpx.BaseTransport):
    """A recording, served in this process."""

    base_url = InProcess.base_url

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request on an event loop of its own."""
        return asyncio.run(_answered(self._replay, _scope(request), request.read()))


class _Cut(httpx.SyncByteStream):
    """A body whose connection is closed before it has ended."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        yield from self._parts
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")


def _scope(request: httpx.Request) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "server": (request.url.host, request.url.port),
        "client": None,
    }


async def _answered(service: ASGIApp, scope: Scope, content: bytes) -> httpx.Response:
    started: dict[str, Any] = {}
    parts: list[bytes] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            parts.append(message.get("body", b""))

    try:
        await service(scope, receive, send)
    except ConnectionAbortedError:
        if not started:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.") from None
        stream: httpx.SyncByteStream = _Cut(parts)
    else:
        stream = httpx.ByteStream(b"".join(parts))
    return httpx.Response(started["status"], headers=started["headers"], stream=stream)
