"""One raw page: its file as extraction wrote it, and its content."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from wms_sync.layout import suffix_of
from wms_sync.shipments.flatten.errors import PageDamagedError
from wms_sync.storage.compression import NO_LIMIT, DamagedStream, StreamTooLarge, decompress


class RawPage(Struct, frozen=True):
    """``page-00001.json.gz`` or ``.json.zst``: one response of list shipments (spec 2.6)."""

    path: Path
    number: int
    records: int
    extracted_at: datetime
    uncompressed_bytes: int
    sent_again: bool = False
    """The page was requested a second time because nothing on it could be read the first time."""

    def content(self) -> bytes:
        """Return the response, decompressed. Raises ``PageDamagedError``."""
        return unpacked_page(self.path.read_bytes(), self.path, self.uncompressed_bytes)


def unpacked_page(stored: bytes, path: Path, largest: int = NO_LIMIT) -> bytes:
    """Return the response in the content of a raw file of this name, decompressed. Raises ``PageDamagedError``."""
    suffix = suffix_of(path.name)
    if suffix == "json":
        return stored
    try:
        return decompress(stored, suffix, largest=largest)
    except (DamagedStream, StreamTooLarge) as error:
        raise PageDamagedError(path, str(error)) from None
