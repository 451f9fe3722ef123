"""Read the list envelope of a page (specification 2.6), without decoding the records of a regular page.

msgspec skips undeclared fields, so a page of 5 MB takes a few milliseconds; DuckDB decodes the records later. Only the
ids and ``updated_at`` of the records are used here.

Only the page cursor of ``next`` is used (4.6). ``next`` is an absolute URL (behind a proxy perhaps with a different
scheme or host), a path with or without its root, or a query. ``next`` is never used as an address: the next page is
requested from the configured base URL with ``cursor_start``, an integer (4.4). If ``next`` has no cursor,
``meta.cursor_start`` is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from wms_sync.grammar import count_of
from wms_sync.json_values import INT64, cut_to_depth, identity, loosely, whole
from wms_sync.privacy.detection import mentions_no_person, page_decoder
from wms_sync.service.body import decoded
from wms_sync.service.errors import NotAList, ProtocolError

_CURSOR_START = re.compile(r"(?:^|[?&;])cursor_start=([0-9]{1,19})(?![^&#\s])")
YEARS = range(1900, 9999)


class _Meta(Struct):
    count: int | None = None
    cursor_start: Any = None


class Envelope(Struct, frozen=True):
    """The values of a page that paging needs.

    ``ids`` are the readable ids in the order served, ``next`` is the next page cursor. ``has_more`` is also true if the
    service states false but gives a next page with higher ids, because records could be lost otherwise. ``suspect``
    means that the page was checked for personal data and may contain some.
    """

    records: int
    ids: tuple[int, ...]
    has_more: bool
    next: int | None
    count: int | None
    suspect: bool = False


_PLAIN, _WATCHING = (
    page_decoder(watched=watched, has_more=bool, next=Any, meta=_Meta | None, errors=Any) for watched in (False, True)
)


def read_envelope(content: bytes, *, watched: bool = False) -> Envelope:
    """Decode a page's envelope and, if ``watched``, check the page for personal data at the same time.

    Invalid JSON (``NaN``, broken UTF-8) and records without a usable id do not stop the read: such a page is landed as
    received, and flattening reports invalid values. Raise ``NotAList`` for anything but a JSON object with the key
    ``collection``, and for an empty collection with errors. Raise ``ProtocolError`` if the envelope of a list is
    unreadable.
    """
    try:
        page = (_WATCHING if watched else _PLAIN).decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return replace(read_envelope(content), suspect=True) if watched else _read_leniently(content)
    return _envelope(page, suspect=watched and not mentions_no_person(page, content))


def _envelope(page: Any, *, suspect: bool) -> Envelope:  # noqa: ANN401 - a generated struct
    _refuse_failed(page.collection, page.errors)
    ids = tuple(record.id for record in page.collection)
    if ids and (max(ids) not in INT64 or min(ids) not in INT64):
        ids = tuple(id_ for id_ in ids if id_ in INT64)  # records with other ids go to quarantine
    count, cursor_start = (page.meta.count, page.meta.cursor_start) if page.meta else (None, None)
    following = _following(page.next, cursor_start)
    has_more = page.has_more or _leads_on(page.next, ids)
    return Envelope(len(page.collection), ids, has_more, following, whole(count), suspect)


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
        records = _records(page)
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
    whole_ids = tuple(number for id_ in ids if (number := whole(id_)) is not None)
    return Envelope(
        records=len(records),
        ids=whole_ids,
        has_more=has_more or _leads_on(stated, whole_ids),
        next=_following(stated, cursor_start),
        count=whole(count),
    )


def _list_response(content: bytes) -> dict[str, Any]:
    try:
        page = _loaded(content.decode("utf-8-sig", errors="replace"))
    except ValueError:
        page = None
    if not isinstance(page, dict) or "collection" not in page:
        raise NotAList(f"The service sent a page that is not a list response: {len(content):,} bytes.")
    return page


def _records(page: Mapping[str, Any]) -> list[Any]:
    """Return the records of a list response. Raise ``TypeError`` if they are not in a list."""
    records = [] if page["collection"] is None else page["collection"]
    if isinstance(records, dict):  # PHP writes a list with gaps as an object
        return list(records.values())
    if not isinstance(records, list):
        raise TypeError("collection")
    return records


def _refuse_failed(records: Sequence[object], errors: object) -> None:
    """Raise ``NotAList`` for an empty list that comes with errors: it does not mean that there are no records."""
    if errors and not records:
        raise NotAList("The service sent a page with errors and without records.")


def _flag(value: object) -> bool:
    """Return the value of a flag, which may be written as a number or as text. Raise ``TypeError`` for other values."""
    flags = {True: True, False: False, "1": True, "0": False, "true": True, "false": False}
    if not isinstance(value, int | str) or value not in flags:
        raise TypeError("has_more")
    return flags[value]


def _loaded(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return loosely(text)
    except RecursionError:
        return loosely(cut_to_depth(text.encode(errors="replace")).decode())


def page_cursor(stated: object) -> int | None:
    """Return the cursor in a ``next`` of any form, or in a ``meta.cursor_start``; None if there is none."""
    if not isinstance(stated, str):
        return identity(stated)
    found = _CURSOR_START.findall(stated)
    return identity(found[-1] if found else stated)


class _DatedRecord(Struct):
    id: Any = None
    updated_at: Any = None


class _DatedPage(Struct):
    collection: list[_DatedRecord]


_DATED_PAGE = msgspec.json.Decoder(_DatedPage)


def change_times(content: bytes) -> Mapping[int, object]:
    """Return the ``updated_at`` of each record by id, as received; None if it is null, empty or absent.

    Records without a usable id are left out. The page is one that ``read_envelope`` has read.
    """
    try:
        dated = [(record.id, record.updated_at) for record in decoded(content, _DATED_PAGE).collection]
    except (msgspec.DecodeError, UnicodeDecodeError):
        objects = (record for record in _records(_list_response(content)) if isinstance(record, dict))
        dated = [(record.get("id"), record.get("updated_at")) for record in objects]
    ids = ((whole(id_), updated_at) for id_, updated_at in dated)
    return {record_id: updated_at or None for record_id, updated_at in ids if record_id is not None}


def change_time(updated_at: object) -> datetime | None:
    """Return an ``updated_at`` in UTC; None if it is unreadable. A time without a zone is UTC.

    Times outside ``YEARS`` count as unreadable: near its ends, the calendar lacks the day before or after.
    """
    try:
        changed = datetime.fromisoformat(str(updated_at))
        changed = (changed if changed.tzinfo else changed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return changed if changed.year in YEARS else None


def changed_before(updated_at: object, moment: datetime) -> bool:
    """Return whether an ``updated_at`` is readable and earlier than a moment."""
    changed = change_time(updated_at)
    return changed is not None and changed < moment
