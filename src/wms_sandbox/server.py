"""Serve the sandbox on a socket: in a thread for tests and demos, or in the foreground for `python -m wms_sandbox`."""

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from wms_sandbox.app import Sandbox

HOST = "127.0.0.1"


class SandboxServer:
    """Runs a sandbox on a free port of the loopback address inside a `with` block.

    `base_url` is the address of the instance for clients, without a path. Another `sandbox` may replace the first one
    at the same address.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._socket = listen(0)
        self.base_url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._server = make_server(self._answer)
        sockets = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, name="sandbox", daemon=True)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.sandbox(scope, receive, send)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()


def listen(port: int) -> socket.socket:
    """Listen at once: a client may connect before the server has started, and is served when it has."""
    return socket.create_server((HOST, port), backlog=256)


def make_server(sandbox: ASGIApp) -> uvicorn.Server:
    """Return a uvicorn server that leaves the `Date` header to the sandbox."""
    config = uvicorn.Config(
        sandbox,
        interface="asgi3",
        lifespan="off",
        log_level="warning",
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)
