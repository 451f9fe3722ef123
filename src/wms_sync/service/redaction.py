"""Remove credentials from the service's messages, since a service may repeat in a message what it was sent.

Belongs here: which secrets a request carries, and removing them from texts. A text is searched after it was decoded,
since JSON may escape a secret (PHP writes ``/`` as ``\\/``).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import httpx


class _JsonRpc(msgspec.Struct):
    method: str
    params: list[object]


def without_credentials(text: str, request: httpx.Request) -> str:
    """Return the text with every secret of the request replaced by ``(withheld)``."""
    for secret in sorted(filter(None, set(_secrets(request))), key=len, reverse=True):
        text = text.replace(secret, "(withheld)")
    return text


def _secrets(request: httpx.Request) -> Iterator[str]:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    yield sent
    if scheme == "Basic":
        yield from _of_pair(sent)
    try:
        called = msgspec.json.decode(request.content, type=_JsonRpc)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    # the Merchant API: the key is the second parameter of login, the session the first one of call
    yield from (str(one) for one in (called.params[1:2] if called.method == "login" else called.params[:1]) if one)


def _of_pair(sent: str) -> Iterator[str]:
    try:
        pair = base64.b64decode(sent).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    yield pair.partition(":")[2]
