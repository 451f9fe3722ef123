"""Broken answers, for tests to return from `Sandbox.intercept`: what a network does, and a service should not.

They end the connection under the server, so they work only on a socket served by uvicorn, as SandboxServer does.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wms_sandbox.dice import Dice


class Disconnect(Response):
    """Ends the connection without an answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Aborts, then lets the server notice."""
        await _abort(send)


class AnswerLost(Disconnect):
    """The request is served, and the connection ends instead of the answer: the caller cannot know what was done.

    The sandbox fills in the status of the answer that got lost, which is what its log of requests shows.
    """


class ProxyAnswer(Response):
    """The request is served, and a proxy that waited too long answers in the service's place: no proof of anything."""

    def __init__(self, status_code: int = 504) -> None:
        super().__init__("<html><h1>Gateway Time-out</h1></html>", status_code, media_type="text/html")


class Truncated(Response):
    """Promises a whole body, sends half of it and ends the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the head and the first half."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        await asyncio.sleep(0.05)
        await _abort(send)


def some(share: float, fault: Response, seed: int = 1) -> Callable[[Request], Response | None]:
    """For `Sandbox.intercept`: the fault for this share of the requests, spread by chance, the same ones each time."""
    dice = Dice(seed, "fault")
    return lambda request: fault if dice.chance(share) else None


async def _abort(send: Send) -> None:
    cycle: Any = getattr(send, "__self__", None)
    cycle.transport.abort()
    while not cycle.disconnected:
        await asyncio.sleep(0)
