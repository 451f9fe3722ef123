"""A response body as it came over the wire: kept compressed for landing, decompressed for reading.

Offered to the service: gzip and zstd. A body that came uncompressed is landed as zstd. A transfer that ends early is
``Unreachable`` (asked again), never a shorter page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import httpx
import zstandard
from isal import isal_zlib

from wms_sync.api.errors import ProtocolError, Unreachable

ACCEPT_ENCODING = "gzip, zstd"
MAX_BYTES = 64 * 1024 * 1024
"""Largest page taken, uncompressed: 1,000 shipments with everything selected are about 7 MB."""
_SUFFIXES = {"gzip": "json.gz", "zstd": "json.zst"}
_GZIP = 31
_ZSTD_WINDOW = 8 * 1024 * 1024
"""What a sender may ask a receiver of zstd over HTTP to hold (RFC 9659)."""
_ZSTD_STEP = 1024
"""Four bytes can unfold to 128 KB, and what they unfold to is there before it can be counted: 32 MB at a time."""


@dataclass(frozen=True)
class Body:
    """``landed`` is what goes to disk under ``suffix``; ``content`` is the JSON text in it."""

    landed: bytes
    suffix: str
    content: bytes


def receive(response: httpx.Response, *, deadline: float, largest: int = MAX_BYTES) -> Body:
    """Read a streamed response to its end. ``deadline`` is in the terms of ``time.monotonic``.

    Never holds more than ``largest`` bytes of it, compressed or not, whatever a small body would unfold to.
    """
    raw = b"".join(_until(response, deadline, largest))
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in _SUFFIXES:
        return Body(raw, _SUFFIXES[encoding], unpacked(raw, _SUFFIXES[encoding], largest=largest))
    if encoding in {"", "identity"}:
        return packed(raw)
    raise ProtocolError(f"The service answered with Content-Encoding {encoding!r}, which was not offered.")


def unpacked(landed: bytes, suffix: str, *, largest: int = MAX_BYTES) -> bytes:
    """The JSON text in a body as it landed."""
    return _gunzip(landed, largest) if suffix == "json.gz" else _unzstd(landed, largest)


def packed(content: bytes, suffix: str = "json.zst") -> Body:
    """A body made from its text; equal texts give equal bytes."""
    if suffix == "json.gz":
        return Body(isal_zlib.compress(content, 1, _GZIP), suffix, content)
    return Body(zstandard.compress(content, 1), suffix, content)


def _until(response: httpx.Response, deadline: float, largest: int) -> Iterator[bytes]:
    received = 0
    for chunk in response.iter_raw():
        received += len(chunk)
        _refuse_large(received, largest)
        if monotonic() > deadline:
            raise Unreachable(f"The service was still sending after the time limit ({received:,} bytes so far).")
        yield chunk


def _gunzip(raw: bytes, largest: int) -> bytes:
    decoder = isal_zlib.decompressobj(_GZIP)
    try:
        content = decoder.decompress(raw, largest + 1)
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub names an instance
        raise Unreachable(f"The compressed answer is damaged ({error}).") from None
    _refuse_large(len(content), largest)
    if not decoder.eof:
        raise _ends_early(raw)
    _refuse_more(len(decoder.unused_data))
    return content


def _unzstd(raw: bytes, largest: int) -> bytes:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    content = bytearray()
    read = 0
    try:
        while read < len(raw) and not decoder.eof:
            content += decoder.decompress(raw[read : read + _ZSTD_STEP])
            read += _ZSTD_STEP
            _refuse_large(len(content), largest)
    except zstandard.ZstdError as error:
        raise Unreachable(f"The compressed answer is damaged ({error}).") from None
    if not decoder.eof:
        raise _ends_early(raw)
    _refuse_more(len(decoder.unused_data) + len(raw[read:]))
    return bytes(content)


def _refuse_more(size: int) -> None:
    """What stands behind the end would land with the page, and nobody would have looked at it."""
    if size:
        raise Unreachable(f"The compressed answer is damaged ({size:,} bytes stand behind its end).")


def _ends_early(raw: bytes) -> Unreachable:
    return Unreachable(f"The compressed answer ends early ({len(raw):,} bytes came).")


def _refuse_large(size: int, largest: int) -> None:
    if size > largest:
        raise ProtocolError(
            f"The service sent a page of more than {largest // 2**20} MB. Ask for fewer records a page: lower "
            "WMS_PAGE_SIZE."
        )
