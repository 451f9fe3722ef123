"""Read the list envelope of a page (specification 2.6) without decoding the records.

msgspec skips what is not declared here, so a page of 5 MB takes a few milliseconds; DuckDB decodes the records later,
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.loose_json import loosely
from wms_sync.privacy.detection import mentions_no_person, page_decoder
from wms_sync.service.errors import NotAList, ProtocolError
from wms_sync.service.page_cursor import named_host, page_cursor
from wms_sync.shallow_json import cut_to_depth
from wms_sync.whole_numbers import INT64, whole


class _Meta(Struct):
    count: int | None = None
    cursor_start: Any = None


class Envelope(Struct, frozen=True):
    """What paging needs from a page: the ids in the order served (without unreadable ones) and the next page cursor.

    ``next`` is that page cursor; ``host`` is the host that the service gave with it, if any. ``has_more`` is true too
    where the service says no and yet gives a next page that leads on: believing it could lose the rest. ``suspect``:
    the page was checked for personal data and may contain some.
    """

    records: int
    ids: tuple[int, ...]
    has_more: bool
    next: int | None
    count: int | None
    host: str | None = None
    suspect: bool = False


_PLAIN, _WATCHING = (
    page_decoder(watched=watched, has_more=bool, next=Any, meta=_Meta | None, errors=Any) for watched in (False, True)
)


def read_envelope(content: bytes, *, watched: bool = False) -> Envelope:
    """Decode a page's envelope and, if ``watched``, check the page for personal data at the same time.

    Invalid JSON (``NaN``, broken UTF-8) and records without a usable id do not stop the read: such a page is landed as
    received, and flattening reports what does not fit. Raises ``NotAList`` for anything but a JSON object with a
    collection, and for errors beside an empty one; ``ProtocolError`` if the rest of the envelope cannot be read.
    """
    try:
        page = (_WATCHING if watched else _PLAIN).decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if watched:
            return replace(read_envelope(content), suspect=True)
        return _read_leniently(content)
    return _envelope(page, suspect=watched and not mentions_no_person(page, content))


def _envelope(page: Any, *, suspect: bool) -> Envelope:  # noqa: ANN401 - a generated struct
    _refuse_failed(page.collection, page.errors)
    ids = tuple(record.id for record in page.collection)
    if ids and (max(ids) not in INT64 or min(ids) not in INT64):
        ids = tuple(one for one in ids if one in INT64)  # a record with another one goes to quarantine
    count, cursor_start = (page.meta.count, page.meta.cursor_start) if page.meta else (None, None)
    following = _following(page.next, cursor_start)
    has_more = page.has_more or _leads_on(page.next, ids)
    return Envelope(len(page.collection), ids, has_more, following, whole(count), named_host(page.next), suspect)


def _leads_on(stated: object, ids: Sequence[int]) -> bool:
    """Return whether a ``next`` leads to ids above those of its page."""
    if stated is None or not ids:
        return False
    cursor = page_cursor(stated)
    return cursor is not None and cursor > max(ids)


def _following(stated: object, cursor_start: object) -> int | None:
    cursor = page_cursor(stated)
    return page_cursor(cursor_start) if cursor is None else cursor


def _read_leniently(content: bytes) -> Envelope:
    page = _list_response(content)
    try:
        records = page["collection"]
        if records is None:
            records = []
        if isinstance(records, dict):  # PHP writes a list with gaps as an object
            records = list(records.values())
        if not isinstance(records, list):
            raise TypeError("collection")
        ids = [record.get("id") for record in records if isinstance(record, dict)]
        stated, meta = page.get("next"), page.get("meta") or {}
        count, cursor_start = meta.get("count"), meta.get("cursor_start")
        has_more = bool(page["next"]) if page.get("has_more") in {None, ""} else _flag(page["has_more"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(
            "The service sent a list response whose envelope cannot be read (collection, has_more, next, meta): "
            f"{type(error).__name__} in {count_of(len(content), 'byte')}."
        ) from None
    _refuse_failed(records, page.get("errors"))
    whole_ids = tuple(id_ for one in ids if (id_ := whole(one)) is not None)
    return Envelope(
        records=len(records),
        ids=whole_ids,
        has_more=has_more or _leads_on(stated, whole_ids),
        next=_following(stated, cursor_start),
        count=whole(count),
        host=named_host(stated),
    )


def _list_response(content: bytes) -> dict[str, Any]:
    try:
        page = _loaded(content.decode("utf-8-sig", errors="replace"))
    except ValueError:
        page = None
    if not isinstance(page, dict) or "collection" not in page:
        raise NotAList(f"The service sent a page that is not a list response: {len(content):,} bytes.")
    return page


def _refuse_failed(records: Sequence[object], errors: object) -> None:
    """Raise ``NotAList`` for an empty list with errors beside it: it does not say that there are no records."""
    if errors and not records:
        raise NotAList("The service sent a page without records and with errors.")


def _flag(value: object) -> bool:
    """Return a flag that may be written as a number or as text. Raises ``TypeError``."""
    flags = {True: True, False: False, "1": True, "0": False, "true": True, "false": False}
    if not isinstance(value, int | str) or value not in flags:
        raise TypeError("has_more")
    return flags[value]


def _loaded(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return loosely(text)
    except RecursionError:
        return loosely(cut_to_depth(text.encode(errors="replace")).decode())
