"""Read the body of an answer within size limits, and decode JSON.

A body is read in its compressed form; its size is limited before and after decompression. ``envelope`` decodes the
pages of a list.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from math import inf
from time import monotonic
from typing import TypeVar

import httpx
import msgspec
import zstandard
from isal import isal_zlib
from msgspec import Struct

from wms_sync.grammar import count_of
from wms_sync.json_values import cut_to_depth
from wms_sync.service.errors import ProtocolError, Unreachable
from wms_sync.storage.compression import GZIP_WINDOW_BITS, DamagedStream, StreamTooLarge, decompress

ACCEPT_ENCODING = "gzip, zstd"
MAX_BYTES = 64 * 1024 * 1024
"""The maximum size of a body, compressed or not. 1,000 shipments with all selected fields have about 7 MB."""
_SUFFIXES = {"gzip": "json.gz", "x-gzip": "json.gz", "zstd": "json.zst"}
T = TypeVar("T")
ANYTHING = msgspec.json.Decoder(object)


class Body(Struct, frozen=True):
    """The body of an answer.

    ``landed`` are the bytes that are written to disk, in a file with this ``suffix``; ``content`` is their JSON text.
    """

    landed: bytes
    suffix: str
    content: bytes


def receive(response: httpx.Response, *, deadline: float = inf, largest: int = MAX_BYTES) -> Body:
    """Read a streamed response to its end, at the latest at ``deadline`` (``time.monotonic``).

    Raise ``ProtocolError`` if the body exceeds ``largest`` bytes, compressed or not: a small body cannot expand without
    limit.
    """
    raw = b"".join(_until(response, deadline, largest))
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in _SUFFIXES:
        return Body(raw, _SUFFIXES[encoding], unpacked(raw, _SUFFIXES[encoding], largest=largest))
    if encoding in {"", "identity"}:
        return packed(raw)
    raise ProtocolError(f"The service answered with Content-Encoding {encoding!r}, which the request does not accept.")


def unpacked(landed: bytes, suffix: str, *, largest: int = MAX_BYTES) -> bytes:
    """Decompress a body as it is stored on disk.

    Raise ``Unreachable`` if it is incomplete or damaged, ``ProtocolError`` if it exceeds ``largest`` bytes.
    """
    try:
        return decompress(landed, suffix, largest=largest)
    except StreamTooLarge:
        raise _too_large(largest) from None
    except DamagedStream as error:
        raise Unreachable(f"The compressed answer is damaged ({error}).") from None


def packed(content: bytes, suffix: str = "json.zst") -> Body:
    """Compress JSON text into a body. The same text always gives the same bytes."""
    if suffix == "json.gz":
        return Body(isal_zlib.compress(content, 1, GZIP_WINDOW_BITS), suffix, content)
    return Body(zstandard.compress(content, 1), suffix, content)


def _until(response: httpx.Response, deadline: float, largest: int) -> Iterator[bytes]:
    received = 0
    for chunk in response.iter_raw():
        received += len(chunk)
        if received > largest:
            raise _too_large(largest)
        if monotonic() > deadline:
            raise Unreachable(
                f"The service was still sending after the time limit ({count_of(received, 'byte')} so far)."
            )
        yield chunk


def _too_large(largest: int) -> ProtocolError:
    return ProtocolError(
        f"The service sent an answer of more than {largest // 2**20} MB. If it is a page, lower WMS_PAGE_SIZE."
    )


def decoded(content: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode JSON. Raise ``msgspec.DecodeError`` or ``UnicodeDecodeError``."""
    plain = content.removeprefix(codecs.BOM_UTF8)
    try:
        return decoder.decode(plain)
    except RecursionError:
        return decoder.decode(cut_to_depth(plain))
