"""Remove personal data from a page by replacing only its bytes: the fast path of ``scrub``.

Parts without a mark (``privacy.marks``) are not looked at. The others are taken apart, level by level, into slices of
the page: members of objects and items of lists. Personal members are left out when the slices are put together again.
All other bytes stay: numbers, spaces, escapes, the order of keys.

A decoder finds the slices. They must account for every byte of an object in order, so that nothing hides between them.
Otherwise (a key twice in such an object, a letter as an escape, text that is not strict JSON, deep nesting) the page is
``NotSpliceable``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

from wms_sync.numbered import is_numbered
from wms_sync.privacy.fields import COMPANYS_OWN, KEPT, KEPT_AS_TEXT, LOCATION, kept_fields, place_of
from wms_sync.privacy.marks import is_marked, is_odd

_DEEPEST = 32
"""Each level is searched again, so levels must be few; the specification has at most 12."""
_TOGETHER = 32
"""The number of items that are searched at once."""
_LARGE = 256 * 1024
"""The size in bytes from which an object is taken apart without a search, which would only find a mark."""
_BLANKS = rb"[ \t\n\r]*"
_KEY = re.compile(rb'%b,?%b("(?:[^"\\]|\\.)*+")%b:%b' % ((_BLANKS,) * 4), re.DOTALL)
_COMMA = re.compile(rb"%b,?%b" % ((_BLANKS,) * 2))
_TO_COMMA = re.compile(rb"%b," % _BLANKS)
_END = re.compile(rb"%b}%b" % ((_BLANKS,) * 2))
_DECIDING = ("type", *(name for names in KEPT_AS_TEXT.values() for name in names))
"""The members whose values decide which members stay."""

_OBJECT: msgspec.json.Decoder[dict[str, Raw]] = msgspec.json.Decoder(dict[str, Raw])
_LIST: msgspec.json.Decoder[list[Raw]] = msgspec.json.Decoder(list[Raw])


class _Reference(msgspec.Struct, forbid_unknown_fields=True):
    type: str | None = None
    id: int | str | float | None = None


@cache
def _clean_list(kind: str) -> msgspec.json.Decoder[Any]:
    """Return a decoder of lists that accepts only objects of this kind without personal data, in their usual form."""
    usual = str | int | float | bool | None | list[str] | _Reference
    texts = KEPT_AS_TEXT.get(kind, ())
    fields = [(name, str | None if name in texts else usual, None) for name in KEPT[kind] - {"type"}]
    struct = msgspec.defstruct(kind, [("type", Literal[kind] | None, None), *fields], forbid_unknown_fields=True)
    return msgspec.json.Decoder(list[struct | None])  # type: ignore[valid-type]


class NotSpliceable(Exception):
    """It cannot be shown that replacing bytes of this page has the effect of decoding and encoding it."""


class _Member(NamedTuple):
    """A member of an object: the comma and key before its value, and the value."""

    before: bytes
    key: str
    value: bytes


def spliced(page: bytes) -> bytes | None:
    """Return the page without personal data; None if there is nothing to remove. Raise ``NotSpliceable``."""
    if is_odd(page) or not page.startswith(b"{"):
        raise NotSpliceable
    try:
        return _cleaned_object(page, None, 0)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotSpliceable from error


def _cleaned(value: bytes, kind: str | None, depth: int) -> bytes | None:
    """Return a value without personal data, None if it has none. ``kind`` is that implied by its key."""
    if depth > _DEEPEST:
        raise NotSpliceable
    if value.startswith(b"{") and (kind or len(value) > _LARGE or is_marked(value)):
        return _cleaned_object(value, kind, depth)
    if value.startswith(b"[") and (kind or is_marked(value)):
        return _cleaned_list(value, kind, depth)
    return None


def _cleaned_object(text: bytes, kind: str | None, depth: int) -> bytes | None:
    *members, end = _members(text)
    deciding = {one.key: msgspec.json.decode(one.value) for one in members if one.key in _DECIDING}
    if members and all(_is_numbered(one) for one in members):  # a list
        values = [_cleaned(one.value, kind, depth + 1) for one in members]
        staying = members
    else:
        kept = kept_fields({one.key: None for one in members} | deciding, kind)
        staying = [one for one in members if kept is None or one.key in kept]
        values = [_cleaned_member(one.key, one.value, depth + 1) for one in staying]
    if len(staying) == len(members) and not any(values):
        return None
    pieces = [piece for one, clean in zip(staying, values, strict=True) for piece in (one.before, clean or one.value)]
    if staying and staying[0] is not members[0]:
        pieces[0] = _TO_COMMA.sub(b"", pieces[0], 1)
    return b"".join((b"{", *pieces, end.before))


def _is_numbered(one: _Member) -> bool:
    return is_numbered(one.key, {} if one.value.startswith(b"{") else None)


def _members(text: bytes) -> Iterator[_Member]:
    """Yield the members of an object, then its end as one. Raise ``NotSpliceable`` if they are not the whole text."""
    at = 1
    for key, raw in _OBJECT.decode(text).items():
        value = bytes(raw)
        found = _KEY.match(text, at)
        if found is None or msgspec.json.decode(found[1]) != key or not text.startswith(value, found.end()):
            raise NotSpliceable
        at = found.end() + len(value)
        yield _Member(found[0], key, value)
    if not _END.fullmatch(text, at):
        raise NotSpliceable
    yield _Member(text[at:], "", b"")


def _cleaned_member(key: str, value: bytes, depth: int) -> bytes | None:
    place = place_of(key)
    if key in COMPANYS_OWN:
        return None
    if place in {None, LOCATION}:
        return _cleaned(value, place, depth)
    if value.startswith(b'"'):  # an address written as text
        return b"null"
    if value.startswith(b"["):
        items = [bytes(one) for one in _LIST.decode(value)]
        objects = [one for one in items if not one.startswith(b'"')]
        if len(objects) < len(items):
            return (
                b"[%b]" % b",".join(_cleaned(one, place, depth + 1) or one for one in objects) if objects else b"null"
            )
    return _cleaned(value, place, depth)


def _cleaned_list(text: bytes, kind: str | None, depth: int) -> bytes | None:
    items = [bytes(raw) for raw in _LIST.decode(text)]
    cleaned = dict(_cleaned_items(items, kind, depth + 1))
    if not cleaned:
        return None
    pieces, at = [b"["], 1
    for number, item in enumerate(items):
        found = _COMMA.match(text, at)
        if found is None or not text.startswith(item, found.end()):
            raise NotSpliceable
        at = found.end() + len(item)
        pieces += [found[0], cleaned.get(number, item)]
    return b"".join((*pieces, text[at:]))


def _cleaned_items(items: Sequence[bytes], kind: str | None, depth: int) -> Iterator[tuple[int, bytes]]:
    """Yield the items without personal data that have some, with their places in the list."""
    for first in range(0, len(items), _TOGETHER):
        together = items[first : first + _TOGETHER]
        text = b"[%b]" % b",".join(together)
        if not _is_clean(text, kind) if kind else is_marked(text):
            for number, item in enumerate(together, start=first):
                if (clean := _cleaned(item, kind, depth)) is not None:
                    yield number, clean


def _is_clean(text: bytes, kind: str) -> bool:
    try:
        _clean_list(kind).decode(text)
    except msgspec.DecodeError:
        return False
    return True
