"""A record as text that can be compared (its content), and as the body that is sent.

A content is canonical JSON of what the file says, with references by natural key: it does not depend on which ids are
known. The body has ids instead. A reference that the file gives by id has the id in both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from msgspec import Struct

from wms_sync.master_data.check.records import Record, Reference

Remote = Mapping[str, Any]
"""A reference as the service accepts it: ``{type, id}``."""
Ids = Mapping[tuple[str, str], Remote]
"""References by the service's word for the kind and the natural key."""
ONLY_BY_ID = frozenset({"LotType", "Regulation"})
"""Kinds without a natural key: a content holds their bare id, as do the contents in existing ledgers."""


ABSENT = object()


class Change(Struct, frozen=True):
    """A field whose value in the file has changed; ``ABSENT`` on the side that has no such field."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.field}: {_shown(self.old)} -> {_shown(self.new)}"


def content(record: Record) -> str:
    """Return a record as canonical JSON: keys sorted, no blanks."""
    whole = deepcopy(record.body)
    for reference in record.references:
        named = [_remote(reference, key) if _is_told_by_id(reference) else key for key in reference.keys]
        _place(whole, reference, named if reference.many else named[0])
    return json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """Return the SHA-256 of a content, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def body(record: Record, ids: Ids) -> dict[str, Any]:
    """Return the body to send, with every reference resolved."""
    whole = deepcopy(record.body)
    for reference in record.references:
        by_id = reference.by_id
        remote = [_remote(reference, key) if by_id else dict(ids[reference.kind, key]) for key in reference.keys]
        _place(whole, reference, remote if reference.many else remote[0])
    return whole


def changes(old: str, new: str) -> tuple[Change, ...]:
    """Compare two contents field by field (dotted names); 1 equals 1.0, the order of custom fields is ignored."""
    before, after = dict(_fields(json.loads(old))), dict(_fields(json.loads(new)))
    return tuple(
        Change(field, before.get(field, ABSENT), after.get(field, ABSENT))
        for field in sorted(before.keys() | after.keys())
        if not _same(before.get(field, ABSENT), after.get(field, ABSENT))
    )


def _same(old: object, new: object) -> bool:
    return old == new and isinstance(old, bool) == isinstance(new, bool)


def _is_told_by_id(reference: Reference) -> bool:
    return reference.by_id and reference.kind not in ONLY_BY_ID


def _remote(reference: Reference, key: str) -> dict[str, Any]:
    """Return the reference for an id; a packaging item is named as a Product, since the id does not tell."""
    return {"type": reference.kind, "id": int(key)}


def _place(whole: dict[str, Any], reference: Reference, value: object) -> None:
    *above, field = reference.path.split(".")
    inner = whole
    for part in above:
        inner = inner[part]
    inner[field] = value


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    if path == "custom_fields" and _is_by_code(value):
        value = {entry["code"]: {name: one for name, one in entry.items() if name != "code"} for entry in value}
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _fields(inner, f"{path}.{name}" if path else name)
    else:
        yield path, value


def _is_by_code(value: object) -> bool:
    """Whether it is a product's list of custom fields with distinct codes; resource_json may have set another value."""
    entries = value if isinstance(value, list) else [None]
    codes = [entry.get("code") if isinstance(entry, dict) else None for entry in entries]
    return all(isinstance(code, str) for code in codes) and len(set(codes)) == len(codes)


def _shown(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)
