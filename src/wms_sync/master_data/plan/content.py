"""A record as text that can be compared, and as the body that is sent.

The content is canonical JSON of what the file says, each reference by its natural key: it is the same whether the ids
are known or not. The body has ids in their place. What the file names by an id has it in both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from wms_sync.master_data.check.rows import Record, Reference

Remote = Mapping[str, Any]
"""A reference as the service takes it: ``{type, id}``."""
Ids = Mapping[tuple[str, str], Remote]
"""By the service's word for the kind and the natural key."""
ONLY_BY_ID = frozenset({"LotType", "Regulation"})
"""What has no natural key: its id alone stands in a content, as in those that ledgers hold."""


ABSENT = object()


@dataclass(frozen=True)
class Change:
    """A field that the file now gives another value; ``ABSENT`` where one of them has no such field."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.field}: {_shown(self.old)} -> {_shown(self.new)}"


def content(record: Record) -> str:
    """Canonical JSON: keys in order, no blanks."""
    whole = deepcopy(record.body)
    for reference in record.references:
        named = [_remote(reference, key) if _is_told_by_id(reference) else key for key in reference.keys]
        _place(whole, reference, named if reference.many else named[0])
    return json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """The SHA-256 of a content, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def body(record: Record, ids: Ids) -> dict[str, Any]:
    """The body to send, every reference resolved."""
    whole = deepcopy(record.body)
    for reference in record.references:
        by_id = reference.by_id
        remote = [_remote(reference, key) if by_id else dict(ids[reference.kind, key]) for key in reference.keys]
        _place(whole, reference, remote if reference.many else remote[0])
    return whole


def changes(old: str, new: str) -> tuple[Change, ...]:
    """The fields in which two contents differ, dotted; 1 and 1.0 are the same, whatever the order of custom fields."""
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
    """What an id names; of a product nothing says that it is a packaging item."""
    return {"type": reference.kind, "id": int(key)}


def _place(whole: dict[str, Any], reference: Reference, value: object) -> None:
    *above, field = reference.path.split(".")
    inner = whole
    for one in above:
        inner = inner[one]
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
    """Whether it is a product's list of custom fields, each with a code of its own; JSON may have said another."""
    entries = value if isinstance(value, list) else [None]
    codes = [one.get("code") if isinstance(one, dict) else None for one in entries]
    return all(isinstance(code, str) for code in codes) and len(set(codes)) == len(codes)


def _shown(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)
