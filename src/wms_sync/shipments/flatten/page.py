"""A raw page, the errors on its way to Parquet, and the findings on a page that does not fit the types.

    PageDamagedError    a raw file is missing or differs from the received page
    RecordDamagedError  the record of a window's Parquet files cannot be read
    RecordsLostError    the number of shipments on a page differs from the number accounted for

A value or record that does not fit its type is not an error: it goes to ``ops.quarantine``, an unknown key to
``ops.schema_drift``, and the sync continues. Personal data may be only in schema ``pii`` and in raw pages, so a finding
shows none.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.json_values import shallow
from wms_sync.layout import suffix_of
from wms_sync.privacy.detection import mentions
from wms_sync.privacy.fields import OF_ADDRESSES, PERSON, PLACES, STRICTLY_KEPT
from wms_sync.privacy.scrub import scrub
from wms_sync.storage.compression import NO_LIMIT, DamagedStream, StreamTooLarge, decompress

TEXT_LIMIT = 2000
WITHHELD = "(personal data withheld: see the raw page)"
UNKNOWN_KEY = "no type has the key"


class PageDamagedError(WmsSyncError):
    """The raw file is missing, truncated or altered; reading the window again repairs it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"The raw page {path.name} of window {path.parent.name} is damaged ({reason}). "
            "Read its days again: `wms-sync backfill --from DAY --to DAY`."
        )


class RecordDamagedError(WmsSyncError):
    """The record of a window's Parquet files cannot be read; flattening the window again rewrites it."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"{key}, the record of the window's Parquet files, is damaged. `wms-sync rebuild` rewrites it."
        )


class RecordsLostError(WmsSyncError):
    """The rows and quarantined shipments of a page do not add up to its shipments; nothing was loaded."""

    def __init__(self, window_id: str, page: int, records: int, accounted: int) -> None:
        super().__init__(
            f"Window {window_id}: page {page} has {count_of(records, 'shipment')}, but flattening gave "
            f"{count_of(accounted, 'row or quarantined record', 'rows and quarantined records')}. Nothing was loaded. "
            "This is a bug in wms-sync: keep the raw pages and report it."
        )


class RawPage(Struct, frozen=True):
    """``page-00001.json.gz`` or ``.json.zst``: one response of list shipments (specification 2.6)."""

    path: Path
    number: int
    records: int
    served_at: datetime
    content_bytes: int

    def content(self) -> bytes:
        """Return the response, decompressed. Raise ``PageDamagedError``."""
        return unpacked_page(self.path.read_bytes(), self.path, self.content_bytes)


def unpacked_page(stored: bytes, path: Path, largest: int = NO_LIMIT) -> bytes:
    """Decompress the ``stored`` content of the raw file at ``path``. Raise ``PageDamagedError``."""
    suffix = suffix_of(path.name)
    if suffix == "json":
        return stored
    try:
        return decompress(stored, suffix, largest=largest)
    except (DamagedStream, StreamTooLarge) as error:
        raise PageDamagedError(path, str(error)) from None


class NonFiniteNumber(Struct, frozen=True):
    """A number that Python's parser accepts but JSON or a DOUBLE cannot hold: NaN, Infinity, 1e400."""

    text: str


class WrittenNumber(float):
    """A number with a fraction or an exponent. ``text`` has its digits as written, such as 1.10."""

    text = ""


class Misfit(Struct, frozen=True):
    """A value or record that did not fit its type: a row of ``ops.quarantine``.

    ``path`` is a JSON path, ``text`` the value as JSON, truncated to ``TEXT_LIMIT`` characters.
    """

    object: str
    object_id: int | None
    path: str
    text: str
    why: str


class Drift(Struct):
    """A difference between the service and ``sql/types``: a row of ``ops.schema_drift``.

    Either the type ``holder`` does not have the key, or values of a known key were cast. Examples of a holder:
    ``Order``, ``Order.weight``, ``included``.
    """

    holder: str
    key: str
    example: str
    occurrences: int
    why: str = UNKNOWN_KEY

    @property
    def path(self) -> str:
        """Return holder and key, such as ``Order.gift_wrap``."""
        return with_surrogates_escaped(f"{self.holder}.{self.key}")


def piece_of(content: bytes, piece: bytes) -> str:
    """Return a piece of an unparsable page as text, or ``WITHHELD`` if the page has a key of personal data."""
    return WITHHELD if mentions(content) else piece.decode(errors="replace")


def shown(value: Any, holder: str, key: str) -> str:  # noqa: ANN401 - any JSON
    """Return a value as truncated JSON, or ``WITHHELD`` if it is personal at this key of ``holder``."""
    kept = STRICTLY_KEPT.get(holder)
    personal = key in PERSON or key in PLACES or key in STRICTLY_KEPT or (kept is not None and key not in kept)
    return WITHHELD if personal else as_text(value)


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return a value as truncated JSON, with personal data inside it removed."""
    if isinstance(value, NonFiniteNumber | WrittenNumber):
        return value.text
    try:
        return _without_persons(value)
    except RecursionError:
        return _without_persons(shallow(value))


def _without_persons(value: Any) -> str:  # noqa: ANN401 - any JSON
    text = _dumped(value)
    if isinstance(value, dict | list):
        copied = json.loads(text)
        if scrub(copied, table=STRICTLY_KEPT):
            text = _dumped(copied)
    return with_surrogates_escaped(text)[:TEXT_LIMIT]


def pairs_as_text(pairs: list[tuple[str, Any]]) -> str:
    """Return an object with a repeated key as a truncated JSON list of pairs, or ``WITHHELD`` if it is personal."""
    found = dict(pairs)
    if found.get("type") in tuple(STRICTLY_KEPT) or not (PERSON | OF_ADDRESSES | PLACES.keys()).isdisjoint(found):
        return WITHHELD
    return as_text([list(pair) for pair in pairs])


def _dumped(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, ensure_ascii=False, default=lambda number: number.text)


def with_surrogates_escaped(text: str) -> str:
    """Return the text with lone surrogates escaped, so that it can be encoded as UTF-8."""
    return text.encode(errors="backslashreplace").decode()
