"""The bytes of a file as text: the encodings that spreadsheets write.

A byte-order mark decides. Without one the file is read as UTF-8, and if that fails as Windows-1252, which is Excel's
plain "CSV" in western Europe and America. That is a guess, and the result says so. A file that also has letters in
UTF-8 is damaged and refused. Line ends stay as they are.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from wms_sync.master_data.errors import UnreadableFile

GUESSED = "cp1252"
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of .xlsx (a zip archive) and of the older .xls."""


def decode(path: Path, raw: bytes) -> tuple[str, str]:
    """Return the text without its byte-order mark, and its encoding."""
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
