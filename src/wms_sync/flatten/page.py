"""One raw page: a file as extraction left it, and its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import zstandard
from isal import isal_zlib

from wms_sync.flatten.errors import PageDamagedError

_GZIP = 31  # zlib's window bits for a gzip header


@dataclass(frozen=True)
class Page:
    """``page-00001.json.gz`` or ``.json.zst``: one response of list shipments (spec 2.6)."""

    path: Path
    number: int
    records: int
    extracted_at: datetime
    uncompressed_bytes: int
    sent_again: bool = False
    """The service was asked twice for what stands here, and nothing of it could be read the first time."""

    def content(self) -> bytes:
        """The response, decompressed."""
        stored = self.path.read_bytes()
        try:
            if self.path.suffix == ".gz":
                return isal_zlib.decompress(stored, _GZIP, self.uncompressed_bytes + 1)
            if self.path.suffix == ".zst":
                return _unzstd(stored)
        except (isal_zlib.error, zstandard.ZstdError) as error:  # type: ignore[misc]  # isal's stub names an instance
            raise PageDamagedError(self.path, str(error)) from None
        return stored


def read_raw(path: Path) -> bytes:
    """The response in a raw file of which nothing else is known."""
    stored = path.read_bytes()
    try:
        return isal_zlib.decompress(stored, _GZIP) if path.suffix == ".gz" else _unzstd(stored)
    except (isal_zlib.error, zstandard.ZstdError) as error:  # type: ignore[misc]  # isal's stub names an instance
        raise PageDamagedError(path, str(error)) from None


def _unzstd(stored: bytes) -> bytes:
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    content = decompressor.decompress(stored)
    if not decompressor.eof:
        raise zstandard.ZstdError("it ends too early")
    return content
