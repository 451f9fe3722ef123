"""Report what headers of answers announce, whatever the answer: that something is deprecated, ends, or is not fresh.

``Deprecation`` (RFC 9745) and ``Sunset`` (RFC 8594) announce the end of what is requested. A ``Warning`` (RFC 7234,
5.5) is a code, who warns, a text and perhaps a time; the codes 110 to 112 are those of a cache that does not know what
has changed since. Each header is reported once with the same text, which stands on every answer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

import httpx

from wms_sync.service.reasons import as_sentence, in_one_line

Warn = Callable[[str], object]
"""Is called with a sentence, possibly from several threads."""
MOST = 20
"""Texts that are reported of one connection: one that counts or tells the time differs with each answer."""
ENDS = {
    "Deprecation": "What wms-sync requests there will not work for ever",
    "Sunset": "What wms-sync requests there stops working then",
}
ASK = "look for a newer release of wms-sync, and ask the operator of the service."
CACHED = (
    "A cache answers in place of the service, so changes can be missed: let it store nothing of the service, then read "
    "the days again (`wms-sync backfill`)."
)
_WARNING = re.compile(r'(\d{3}) +([^\s",]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?')
_NOT_FRESH = ("110", "111", "112")


class Notices:
    """What the answers of one connection have announced. Thread-safe."""

    def __init__(self, base_url: str, warn: Warn) -> None:
        self._base_url = base_url
        self._warn = warn
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()

    def hear(self, response: httpx.Response) -> None:
        """Report what is new in the headers of an answer."""
        for name, text, meaning in _announced(response):
            with self._lock:
                is_new = (name, text) not in self._heard and len(self._heard) < MOST
                if is_new:
                    self._heard.add((name, text))
            if is_new:
                said = as_sentence(f"{self._base_url} answers with {name}: {text}")
                self._warn(f"{said} {meaning}".rstrip())


def _announced(response: httpx.Response) -> Iterator[tuple[str, str, str]]:
    """Yield each header that announces something, its text for people, and what that means."""
    for name, end in ENDS.items():
        for value in response.headers.get_list(name):
            yield name, in_one_line(value, response.request), f"{end}: {ASK}"
    for value in response.headers.get_list("Warning"):
        for code, agent, text in _WARNING.findall(value) or [("", "", value)]:
            warned = f"{code} {agent} {text}".strip() if code else text
            yield "Warning", in_one_line(warned, response.request), CACHED if code in _NOT_FRESH else ""
