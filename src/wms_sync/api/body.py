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
"""Largest page taken, uncompressed: 1,000 shipments with everything selected are about 5 MB."""
_GZIP = 31


@dataclass(frozen=True)
class Body:
    """``landed`` is what goes to disk under ``suffix``; ``content`` is the JSON text in it."""

    landed: bytes
    suffix: str
    content: bytes


def receive(response: httpx.Response, *, deadline: float) -> Body:
    """Read a streamed response to its end. ``deadline`` is in the terms of ``time.monotonic``."""
    raw = b"".join(_until(response, deadline))
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "gzip":
        return Body(raw, "json.gz", _gunzip(raw))
    if encoding == "zstd":
        return Body(raw, "json.zst", _unzstd(raw))
    if encoding in {"", "identity"}:
        _refuse_large(len(raw))
        return Body(zstandard.compress(raw, 1), "json.zst", raw)
    raise ProtocolError(f"The service answered with Content-Encoding {encoding!r}, which was not offered.")


def _until(response: httpx.Response, deadline: float) -> Iterator[bytes]:
    received = 0
    for chunk in response.iter_raw():
        received += len(chunk)
        _refuse_large(received)
        if monotonic() > deadline:
            raise Unreachable(f"The service was still sending after the time limit ({received:,} bytes so far).")
        yield chunk


def _gunzip(raw: bytes) -> bytes:
    decoder = isal_zlib.decompressobj(_GZIP)
    try:
        content = decoder.decompress(raw, MAX_BYTES + 1)
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub names an instance
        raise Unreachable(f"The compressed answer is damaged ({error}).") from None
    _refuse_large(len(content))
    if not decoder.eof:
        raise Unreachable(f"The compressed answer ends early ({len(raw):,} bytes came).")
    return content


def _unzstd(raw: bytes) -> bytes:
    decoder = zstandard.ZstdDecompressor().decompressobj()
    try:
        content = decoder.decompress(raw)
    except zstandard.ZstdError as error:
        raise Unreachable(f"The compressed answer is damaged ({error}).") from None
    _refuse_large(len(content))
    if not decoder.eof:
        raise Unreachable(f"The compressed answer ends early ({len(raw):,} bytes came).")
    return content


def _refuse_large(size: int) -> None:
    if size > MAX_BYTES:
        raise ProtocolError(
            f"The service sent a page of more than {MAX_BYTES // 2**20} MB. Ask for fewer records a page: lower "
            "WMS_PAGE_SIZE."
        )
