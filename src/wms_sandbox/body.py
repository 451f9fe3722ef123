"""Read the JSON body of a create: size, content type, text, value. Anything that a strict parser refuses is refused."""

import json
import math
import re
from typing import Any, NoReturn

from starlette.requests import Request

LARGEST = 1_000_000
DEEPEST = 64
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Unparsable(Exception):
    """The body is not JSON; the message says why."""


class TooLarge(Exception):
    """The body has more than LARGEST bytes."""


async def read_body(request: Request) -> bytes:
    """Return the body.

    A body that is too large is read to its end, so that the caller can read the refusal, but not kept.
    """
    found, size = bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size <= LARGEST:
            found += piece
    if size > LARGEST:
        raise TooLarge
    return bytes(found)


async def read_json(request: Request) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value in the body of a request whose content type is JSON."""
    content = await read_body(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unparsable("The content type must be application/json.")
    return parse(content)


def parse(content: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Parse UTF-8 text as JSON; numbers must be finite, and texts must not have lone surrogates."""
    try:
        value = json.loads(content.decode(), parse_constant=_refuse, parse_float=_finite)
        _check(value, DEEPEST)
    except (ValueError, RecursionError) as error:
        raise Unparsable(f"The body is not valid JSON: {error}.") from None
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _check(value: object, levels: int) -> None:
    if not levels:
        raise ValueError(f"nested deeper than {DEEPEST} levels")
    if isinstance(value, str) and _LONE_SURROGATE.search(value):
        raise ValueError("half of a surrogate pair stands alone")
    if isinstance(value, dict):
        for name, each in value.items():
            _check(name, levels)
            _check(each, levels - 1)
    elif isinstance(value, list):
        for each in value:
            _check(each, levels - 1)
