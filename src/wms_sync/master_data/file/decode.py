"""The bytes of a file as text: the encodings that spreadsheets write.

A byte-order mark decides; without one it is UTF-8, and where that fails Windows-1252, which Excel's plain "CSV" is in
western Europe and America. That last one is a guess, so the result says so; it is not made of a file that holds letters
of UTF-8 besides, which is a damaged one. Line ends stay as they are.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from wms_sync.master_data.errors import UnreadableFile

GUESSED = "cp1252"
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How .xlsx (a zip archive) and the older .xls begin."""


def decode(path: Path, raw: bytes) -> tuple[str, str]:
    """The text without its byte-order mark, and the encoding it was in."""
    if raw.startswith(_WORKBOOKS):
        raise UnreadableFile(path, "it is a workbook and not CSV. Save the sheet as 'CSV UTF-8' and give that file.")
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if encoding is None:
        return _unmarked(path, raw)
    try:
        return raw.decode(encoding).lstrip("\ufeff"), encoding
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            path, f"its first bytes say {encoding}, but byte {error.start} is not. Save it again as 'CSV UTF-8'."
        ) from error


def _unmarked(path: Path, raw: bytes) -> tuple[str, str]:
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        broken = error
    if not raw.decode("utf-8", "ignore").isascii():
        raise UnreadableFile(path, f"byte {broken.start} is not UTF-8 and others are. Save it again as 'CSV UTF-8'.")
    try:
        return raw.decode(GUESSED), GUESSED
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            path, f"byte {error.start} is neither UTF-8 nor Windows-1252. Save it again as 'CSV UTF-8'."
        ) from error
