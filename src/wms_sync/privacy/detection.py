"""Detect personal data in a page cheaply: with a strict decoder and a search.

A page's envelope is decoded anyway, skipping the records. The decoder built here skips them too, but fails if an
address, a candidate or a ship-to location in a known place has a personal field. Elsewhere, personal data is found by
its keys (``PERSON``), except in custom fields. The decoder returns custom fields as raw bytes, so that their keys can
be subtracted.

Every page is searched, so the search uses the Rust regex engine inside pydantic, through a string validator with a
pattern: 0.7 ms for a page of 7.5 MB, against 5 ms for pyarrow and 9 ms for ``re``. The validator also rejects text that
is not UTF-8, but with a different type of error. `make bench BENCH=persons` measures detection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Raw
from pydantic import StringConstraints, TypeAdapter, ValidationError
from typing_extensions import Buffer

from wms_sync.privacy.fields import (
    CANDIDATE,
    COMPANYS_OWN,
    KEPT,
    KEPT_AS_TEXT,
    PERSON,
    PLACES,
    fields_of,
    fields_of_kind,
)

# JSON never needs an escape for a lower-case letter or an underscore, and it could hide a key
_KEY, _ESCAPE = rf'"(?:{"|".join(sorted(PERSON))})"\s*:', r"\\u00(?:5[fF]|6[1-9a-fA-F]|7[0-9aA])"
_SEARCH = TypeAdapter(Annotated[str, StringConstraints(pattern=f"{_KEY}|{_ESCAPE}")])
_MENTION = re.compile(_KEY.encode()), re.compile(_ESCAPE.encode())
"""The same search as two patterns, to count: ``re`` needs a quarter of the time that it needs for one of both."""
_NOTHING: Any = Raw()
_OWN: dict[str, Any] = dict.fromkeys(COMPANYS_OWN, Raw)


def _struct(name: str, fields: dict[str, Any], *, strict: bool = False, required: Collection[str] = ()) -> Any:  # noqa: ANN401
    columns: list[Any] = [
        (field, kind) if field in required else (field, kind, _NOTHING if kind in (Raw, str | None) else None)
        for field, kind in fields.items()
    ]
    return msgspec.defstruct(
        name, columns, forbid_unknown_fields=strict, omit_defaults=not strict, kw_only=True, gc=False
    )


def places(*, strict: bool) -> dict[str, Any]:
    """Return the type at each place that may have personal data, and of each such list under ``included``.

    It has the fields that are not personal. Decoding an object with others fails if ``strict``; else they are left out.
    """
    kinds = {
        kind: _struct(
            kind,
            {
                name: str | None if name in KEPT_AS_TEXT.get(kind, ()) else Raw
                for name in fields_of_kind(kind)
                if name in kept
            }
            | ({} if strict else {"type": Literal[kind]}),
            strict=strict,
        )
        for kind, kept in KEPT.items()
    }
    lists: dict[str, Any] = {kind: list[struct] | None for kind, struct in kinds.items()}  # type: ignore[valid-type]
    return lists | {place: lists[kind] if kind == CANDIDATE else kinds[kind] | None for place, kind in PLACES.items()}


_AT = places(strict=True)
_ORDER = _struct("Order", {**_AT, **_OWN})
_HOLDERS = {
    kind: _ORDER if kind == "Order" else _struct(kind, _OWN)
    for kind in fields_of("included")
    if not COMPANYS_OWN.isdisjoint(fields_of_kind(kind))
}
"""The kinds under ``included`` that have custom fields."""


def page_decoder(*, watched: bool, **envelope: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - types by key
    """Return a decoder for the keys of ``envelope`` and the ``id`` of each record.

    If ``watched``, the decoder fails on personal data in a known place; ``mentions_no_person`` checks all other places.
    """
    # a shipment may contain a whole order
    fields = {**_AT, "order": _ORDER | int | str | None} if watched else {}
    shipment: Any = _struct("Shipment", {"id": int, **fields}, required=("id",))
    included = _struct(
        "Included",
        {kind: list[struct] | None for kind, struct in _HOLDERS.items()} | _AT,  # type: ignore[valid-type]
    )
    page = {"collection": list[shipment], **({"included": included | None} if watched else {}), **envelope}
    return msgspec.json.Decoder(_struct("Page", page, required=("collection", "has_more")))


_WATCHED = page_decoder(watched=True)


def is_impersonal(content: bytes) -> bool:
    """Return whether a page has the right shape and is without personal data, as far as detection can tell."""
    try:
        return mentions_no_person(_WATCHED.decode(content), content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def mentions_no_person(page: Any, content: bytes) -> bool:  # noqa: ANN401 - a generated struct
    """Return whether a page that a watched decoder accepted has no key of personal data outside custom fields.

    Return False too if the search cannot tell: a letter is written as an escape, or the text is not UTF-8.
    """
    return not mentions_person(content) or (
        mentions_person(own := b"".join(_custom_fields(page))) and mentions(content) == mentions(own)
    )


def _custom_fields(page: Any) -> Iterator[bytes]:  # noqa: ANN401 - a generated struct
    for kind in _HOLDERS if page.included is not None else ():
        for record in getattr(page.included, kind) or ():
            yield from (getattr(record, name) for name in COMPANYS_OWN)


def mentions(text: Buffer) -> int:
    """Return how many keys of personal data the text may have; it need not be JSON."""
    return sum(len(pattern.findall(text)) for pattern in _MENTION)


def mentions_person(text: Buffer) -> bool:
    """Return whether the text may have a key of personal data, or is not UTF-8; it need not be JSON."""
    try:
        _SEARCH.validate_python(bytes(text))
    except ValidationError as error:
        return error.errors(include_input=False)[0]["type"] != "string_pattern_mismatch"
    return True
