"""Broken answers that tests return from `Sandbox.intercept`: what a network does, and a service should not.

On a socket they close the connection below the server, which is uvicorn, as in SandboxServer. Where there is no socket
they raise ConnectionAbortedError, from which InProcess makes the client's error.
"""

import asyncio
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class Disconnect(Response):
    """Closes the connection without an answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Abort the connection, then let the server notice."""
        await _abort(send)


class AnswerLost(Disconnect):
    """Serves the request and closes the connection instead of answering, so the caller cannot know what was done.

    The sandbox fills in the status of the lost answer, which its log of requests shows.
    """


class ProxyAnswer(Response):
    """Serves the request, but something else answers in its place, which proves nothing.

    Unless a body is given, that is a proxy that waited too long.
    """

    def __init__(
        self,
        status_code: int = 504,
        content: str = "<html><h1>Gateway Time-out</h1></html>",
        media_type: str = "text/html",
    ) -> None:
        super().__init__(content, status_code, media_type=media_type)


IN_ITS_PLACE = {
    "200 with HTML": (200, "<html><title>Down for maintenance</title></html>", "text/html"),
    "200 with HTML that is called JSON": (200, "<html><title>In maintenance</title></html>", "application/json"),
    "200 with errors": (200, '{"errors": [{"type": "maintenance", "message": "In maintenance."}]}', "application/json"),
    "200 with a status": (200, '{"status": "maintenance"}', "application/json"),
    "403 of a firewall": (403, "<html><title>Blocked</title></html>", "text/html"),
    "403 of a bot filter": (403, '{"type": "about:blank", "title": "Blocked"}', "application/problem+json"),
}
"""What else than the service answers, and looks like an answer: status, body and its type by name."""


def in_its_place(name: str, *, done: bool) -> Response:
    """Return one of `IN_ITS_PLACE`, for a request that is served all the same if `done`."""
    status, body, media_type = IN_ITS_PLACE[name]
    return ProxyAnswer(status, body, media_type) if done else Response(body, status, media_type=media_type)


class Truncated(Response):
    """Announces a whole body, sends half of it and closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head and the first half."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        await asyncio.sleep(0.05)
        await _abort(send)


async def _abort(send: Send) -> None:
    cycle: Any = getattr(send, "__self__", None)
    if cycle is None:
        raise ConnectionAbortedError
    cycle.transport.abort()
    while not cycle.disconnected:
        await asyncio.sleep(0)
