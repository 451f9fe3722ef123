"""Decompress gzip and zstd: complete streams only, and never more than a limit.

The format is named by the suffix of a raw page: ``json.gz`` or ``json.zst``.
"""

from __future__ import annotations

import zstandard
from isal import isal_zlib

GZIP_WINDOW_BITS = 31
"""Makes zlib expect a gzip header."""
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_STEP = 4096
"""Later members are decoded in steps of this size, because a decoder copies the input after the end of its member."""
NO_LIMIT = 2**62
_ZSTD_WINDOW = 8 * 1024 * 1024
"""The largest window that a sender of zstd over HTTP may require of a receiver (RFC 9659)."""
_ZSTD_STEP = 1024
"""The number of compressed bytes to decode between two checks of the size: four bytes can expand to 128 KB, so a step
yields at most 32 MB."""


class DamagedStream(ValueError):
    """The compressed bytes are truncated, altered, or followed by other bytes."""


class StreamTooLarge(ValueError):
    """The decompressed content exceeds the limit."""


def decompress(compressed: bytes, suffix: str, *, largest: int = NO_LIMIT) -> bytes:
    """Return the whole content. Raise ``DamagedStream``, or ``StreamTooLarge`` if it exceeds ``largest`` bytes."""
    content, is_complete, rest = (_gunzip if suffix == "json.gz" else _unzstd)(compressed, largest)
    if len(content) > largest:
        raise StreamTooLarge(f"more than {largest:,} bytes")
    if not is_complete:
        raise DamagedStream(f"it ends early, after {len(compressed):,} compressed bytes")
    if rest:
        raise DamagedStream(f"{rest:,} bytes follow its end")
    return content


def _gunzip(compressed: bytes, largest: int) -> tuple[bytes, bool, int]:
    """Decompress all members of a gzip file and join their contents (RFC 1952, section 2.2)."""
    decoder = isal_zlib.decompressobj(GZIP_WINDOW_BITS)
    try:
        pieces = [decoder.decompress(compressed, largest + 1)]
        rest, size = memoryview(decoder.unused_data), len(pieces[0])
        while rest[:2] == _GZIP_MAGIC and size <= largest:
            decoder = isal_zlib.decompressobj(GZIP_WINDOW_BITS)
            while rest and not decoder.eof and size <= largest:
                pieces.append(decoder.decompress(rest[:_GZIP_STEP], largest + 1 - size))
                size += len(pieces[-1])
                rest = rest[len(rest[:_GZIP_STEP]) - len(decoder.unused_data) :]
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub names an instance
        raise DamagedStream(str(error)) from None
    return b"".join(pieces), decoder.eof, len(rest)


def _unzstd(compressed: bytes, largest: int) -> tuple[bytes, bool, int]:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    pieces: list[bytes] = []
    read = size = 0
    try:
        while read < len(compressed) and not decoder.eof and size <= largest:
            pieces.append(decoder.decompress(compressed[read : read + _ZSTD_STEP]))
            size += len(pieces[-1])
            read += _ZSTD_STEP
    except zstandard.ZstdError as error:
        raise DamagedStream(str(error)) from None
    return b"".join(pieces), decoder.eof, len(decoder.unused_data) + max(0, len(compressed) - read)
