"""Describe a request and its answer in a line of the log: what was asked, status, time, size, and some headers.

Everything is withheld that is not known to be harmless: bodies, headers and parameters that are not listed here, and
filters with texts, which may be personal. ``reasons`` removes the credentials from what is left.
"""

from __future__ import annotations

import re

import httpx

from wms_sync.grammar import count_of
from wms_sync.service.headers import LIMITS, MEANINGS
from wms_sync.service.reasons import WITHHELD, clean

HEADERS = frozenset({
    "age", "content-encoding", "content-type", "date", "retry-after", "server", "via", "x-request-id",
    *map(str.lower, MEANINGS),
    *(f"{name}{end}" for name in LIMITS for end in ("", "-limit", "-policy", "-remaining", "-reset")),
})  # fmt: skip
"""The headers of an answer that are shown."""
_HARMLESS = re.compile(
    r"(?:limit|count|cursor_start|cursor_end)=\d*|sort=[\w,-]+|fields(?::[\w.]+)?=[\w,]+"
    r"|filter=(?:id|updated_at)(?:[\W\d_]|gt|lt|in|null|true|(?<=\d)[tz])*",
    re.IGNORECASE,
)
"""Parameters that are shown with their values: of a filter only numbers, times and the words of its grammar."""


def described(request: httpx.Request, answer: httpx.Response | None, seconds: float) -> str:
    """Return one line: ``GET /api/... answered 200 after 0.42 s with 9 bytes, content-type: text/html; limit=1&...``.

    The parameters come last, because field selection alone has 3 KB.
    """
    came = "got no answer" if answer is None else f"answered {answer.status_code}"
    line = f"{request.method} {request.url.path} {came} after {seconds:.2f} s"
    if answer is not None:
        headers = (f", {name}: {value}" for name, value in answer.headers.multi_items() if name in HEADERS)
        line += f" with {count_of(answer.num_bytes_downloaded, 'byte')}{''.join(headers)}"
    asked = (f"{name}={value}" for name, value in request.url.params.multi_items())
    shown = (text if _HARMLESS.fullmatch(text) else f"{text.partition('=')[0]}={WITHHELD}" for text in asked)
    return clean(f"{line}; {'&'.join(shown) or 'no parameters'}", request)
