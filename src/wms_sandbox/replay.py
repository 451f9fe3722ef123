"""Serve a recording of the service (`wms-sync record`): each request gets the answer that it got when it was recorded.

Requests are equal if they have the same method, path and parameters, in whatever order they come. The first of equal
requests gets the first recorded answer, the second one the second, and all further ones the last. Tokens do not matter.

A client reads up to the service's time, so each answer has the `Date` of the recording, and the client asks for the
same times again. If its own clock set them (the service sent no `Date`, or was far ahead), only the end of a range
differs: then the request that is otherwise equal and ends nearest is taken.

A request without an answer is printed, and refused with a status after which no client tries again.
"""

import gzip
import json
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import zstandard
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wms_sandbox.errors import failed
from wms_sandbox.faults import Disconnect

ABOUT = "recording.json"
"""How a recording was made: settings, and how it ended."""
_PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}
_NO_ANSWER = 410
_END = re.compile(r'lt:"([^"]*)"')


class Replay:
    """A recording, as an ASGI application.

    `settings` shaped its requests, `outcome` is how it ended (both empty if it was interrupted), and `unanswered` are
    requests that it lacks. Raises ValueError if there is no recording in the folder.
    """

    def __init__(self, folder: Path) -> None:
        about: dict[str, Any] = {}
        self.unanswered: list[str] = []
        self._lock = threading.Lock()
        self._answers: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for path in sorted(folder.glob("*.json")):
            content = json.loads(path.read_bytes())
            if path.name == ABOUT:
                about = content
            else:
                method, _, target = content["request"].partition(" ")
                self._answers[_key(method, *target.partition("?")[::2])].append(content)
        if not self._answers:
            raise ValueError(f"{folder} has no recording")
        self.settings: dict[str, str] = about.get("settings", {})
        self.outcome: dict[str, Any] = about.get("outcome", {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        await self._answer(_key(request.method, request.url.path, request.url.query))(scope, receive, send)

    def _answer(self, key: str) -> Response:
        with self._lock:  # InProcess serves in as many threads as the client has
            answers = self._answers.get(key) or self._nearest(key)
            if answers is None:
                self.unanswered.append(key)
                print(f"no answer is recorded to {key}", flush=True)  # noqa: T201 - for whoever watches the replay
                return failed(_NO_ANSWER, f"No answer is recorded to {key}")
            return _response(answers.popleft() if len(answers) > 1 else answers[0])

    def _nearest(self, key: str) -> deque[dict[str, Any]] | None:
        """Return the answers to the request that is equal but for the end of its range; None if there is none."""
        alike = [other for other in self._answers if _END.sub("", other) == _END.sub("", key)]
        return self._answers[min(alike, key=lambda other: _apart(key, other))] if alike else None


def _apart(key: str, other: str) -> timedelta:
    ends = zip(_END.findall(key), _END.findall(other), strict=True)
    return sum((abs(datetime.fromisoformat(end) - datetime.fromisoformat(near)) for end, near in ends), timedelta())


def _key(method: str, path: str, query: str) -> str:
    """Return a request as it is compared: decoded, because a recording has no codes, with its parameters sorted."""
    return f"{method} {unquote_plus(path)}?{'&'.join(sorted(unquote_plus(query).split('&')))}".rstrip("?")


def _response(answer: dict[str, Any]) -> Response:
    if "status" not in answer:
        return Disconnect()
    body = json.dumps(answer["body"]).encode() if "body" in answer else b"?" * answer["length"]
    encoding = answer["headers"].get("content-encoding", "")
    return Response(_PACKED.get(encoding, bytes)(body), answer["status"], headers=answer["headers"])
