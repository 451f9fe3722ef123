"""The list envelope of a page (specification 2.6), read without reading the records.

msgspec skips what is not declared here, so a page of 5 MB costs a few milliseconds; the records themselves are decoded
once, later, by DuckDB.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from wms_sync.api.errors import ProtocolError
from wms_sync.privacy.watched import page_decoder, speaks_of_nobody
from wms_sync.shallow_json import cut_to_depth


class _Meta(msgspec.Struct):
    count: int | None = None


@dataclass(frozen=True)
class Envelope:
    """What paging needs of a page: the ids in the order served (unreadable ones left out) and where to go next.

    ``suspect`` says that somebody may stand in a page that was watched.
    """

    records: int
    ids: tuple[int, ...]
    has_more: bool
    next: str | None
    count: int | None
    suspect: bool = False


_LARGEST_ID = 2**63 - 1
"""What a BIGINT and the state store hold; a record with a larger id goes to quarantine."""
_DIGITS = 20
_PLAIN, _WATCHING = (
    page_decoder(watched=watched, has_more=bool, next=str | None, meta=_Meta | None) for watched in (False, True)
)


def read_envelope(content: bytes, *, watched: bool = False) -> Envelope:
    """Decode a page's envelope and, where it is watched, look for persons on the way.

    Content that is not strict JSON (``NaN``, broken UTF-8) or records without a usable id are no reason to stop
    reading: such a page is landed as it came and the flattening step reports what does not fit. Raises
    ``ProtocolError`` where not even the envelope can be made out.
    """
    try:
        page = (_WATCHING if watched else _PLAIN).decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if watched:
            return replace(read_envelope(content), suspect=True)
        return _read_leniently(content)
    return _envelope(page, suspect=watched and not speaks_of_nobody(page, content))


def _envelope(page: Any, *, suspect: bool) -> Envelope:  # noqa: ANN401 - a generated struct
    ids = tuple(record.id for record in page.collection)
    if ids and max(ids) > _LARGEST_ID:
        ids = tuple(one for one in ids if one <= _LARGEST_ID)
    count = page.meta.count if page.meta else None
    return Envelope(len(page.collection), ids, page.has_more, page.next, count, suspect)


def _read_leniently(content: bytes) -> Envelope:
    text = content.decode("utf-8-sig", errors="replace")
    try:
        page = _loaded(text)
        records = page["collection"]
        ids = [record.get("id") for record in records if isinstance(record, dict)]
        following, meta = page.get("next"), page.get("meta") or {}
        count = meta.get("count")
        if not isinstance(page["has_more"], bool) or not isinstance(following, str | None):
            raise TypeError("has_more or next")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        begins = content[: 40 if content.startswith(b"<") else 1]  # of HTML; of JSON it could be somebody's name
        raise ProtocolError(
            "The service sent a page that is not a list response (collection, has_more, next): "
            f"{type(error).__name__} in {len(content):,} bytes that start with {begins!r}."
        ) from None
    return Envelope(
        records=len(records),
        ids=tuple(whole for i in ids if (whole := _whole(i)) is not None),
        has_more=page["has_more"],
        next=following,
        count=_whole(count),
    )


def _loaded(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text)
    except RecursionError:
        return json.loads(cut_to_depth(text.encode(errors="replace")))


def _whole(value: object) -> int | None:
    """The number that an id or count is, or is written as: PHP writes ``"12"`` now and then; guards must see it."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _DIGITS:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_ID else None
