"""One raw page: a file as extraction left it, and its bytes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import zstandard

from wms_sync.flatten.errors import PageDamagedError

_GZIP = 31  # zlib's window bits for a gzip header


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(frozen=True)
class Page:
    """``page-00001.json.gz`` or ``.json.zst``: one response of list shipments (spec 2.6)."""

    path: Path
    number: int
    records: int
    extracted_at: datetime
    uncompressed_bytes: int

    def content(self) -> bytes:
        """The response, decompressed."""
        stored = self.path.read_bytes()
        decompressor = self._decompressor()
        if decompressor is None:
            return stored
        try:
            content = decompressor.decompress(stored)
        except (zlib.error, zstandard.ZstdError) as error:
            raise PageDamagedError(self.path, str(error)) from None
        if not decompressor.eof:
            raise PageDamagedError(self.path, "it ends too early")
        return content

    def _decompressor(self) -> _Decompressor | None:
        if self.path.suffix == ".gz":
            return zlib.decompressobj(_GZIP)
        if self.path.suffix == ".zst":
            return zstandard.ZstdDecompressor().decompressobj()
        return None
