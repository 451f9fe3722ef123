"""The records of valid rows, and the rules that involve several rows: each key once, parents before children.

Keys that differ only in case count as equal. The specification does not define whether "unique" ignores case, and the
answer "already in use" proves that a row was created, so two such rows could count as one. All rows with equal keys are
refused, because a create cannot be undone and it is unknown which row was meant. Rows whose keys intentionally differ
only in case can be pushed in two files.

A record has a content, which is compared, and a body, which is sent. The content is canonical JSON of the row, with
references by natural key, so that it does not depend on the known ids. The body has ids instead. If the file refers to
an object by id, both have the id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal, InvalidOperation
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from msgspec import Struct
from msgspec.structs import replace

from wms_sync.grammar import agreed
from wms_sync.master_data.kind import Kind, Violation

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 10
"""The maximum number of other rows that a message names. Without it, a key that filled a column of 40,000 rows gave 10
GB of messages."""
Remote = Mapping[str, Any]
"""A reference as the service accepts it: ``{type, id}``."""
Ids = Mapping[tuple[str, str], Remote]
"""References by kind, in the service's word for it, and natural key."""
ABSENT = object()


class Reference(Struct, frozen=True):
    """A reference of a record to other objects, to be resolved before sending.

    ``column`` is its column in the file, as written. ``path`` is its dotted path in the body. ``kind`` is the service's
    word for the kind of the objects. ``keys`` are natural keys, or ids if ``by_id``. ``ids`` is the column that takes
    ids in place of natural keys.
    """

    path: str
    column: str
    kind: str
    keys: tuple[str, ...]
    many: bool
    by_id: bool = False
    ids: str = ""


class Record(Struct, frozen=True):
    """A row that passes every rule that does not need the service. ``body`` lacks only the references."""

    line: int
    key: str
    body: dict[str, Any]
    references: tuple[Reference, ...]


def duplicate_keys(kind: Kind, column: str, keys: pd.Series[str]) -> Iterator[Violation]:
    """Yield a violation for each row whose key is also on another line.

    ``keys`` are by line, in the form that the service stores.
    """
    folded = keys.map(str.casefold)
    for _, same in keys[folded.duplicated(keep=False)].groupby(folded, sort=False):
        lines, how = list(same.index), ", apart from case," if same.nunique() > 1 else ""
        for line, key in zip(lines, same, strict=True):
            others = [other for other in lines[: MOST_NAMED + 1] if other != line][:MOST_NAMED]
            more = len(lines) - 1 - len(others)
            where = f"{agreed(len(lines) - 1, 'line', 'lines')} {', '.join(map(str, others))}"
            where += f" and {more:,} more" if more else ""
            yield Violation(line, column, key, f"The same {kind.key}{how} is on {where}. Keep one of the rows.")


def parents_first(
    kind: Kind, records: Sequence[Record], rejected: Mapping[str, int]
) -> tuple[tuple[Record, ...], list[Violation]]:
    """Return the records to send, parents before children, and the violations of the others.

    ``rejected`` has the keys of rows that break a rule, with their lines.

    If rows refer in circles, name one circle. The rows of other circles count as children of rejected rows.
    """
    by_key = {record.key: record for record in records}
    sorter = TopologicalSorter(
        {key: [parent for parent, _ in _parents(kind, by_key[key]) if parent != key] for key in by_key}
    )
    circle: list[str] = []
    try:
        sorter.prepare()
    except CycleError as error:
        circle = error.args[1][::-1]  # each row refers to the next, and the last row is the first
    order: dict[str, None] = {}
    while ready := sorter.get_ready():
        order |= dict.fromkeys(ready)
        sorter.done(*ready)
    blocked = [key for key in by_key if key not in order]
    out = {**rejected, **{key: by_key[key].line for key in blocked}}
    kept: list[Record] = []
    violations: list[Violation] = []
    for record in (by_key[key] for key in (*order, *blocked) if key in by_key):
        if wrong := next(_troubled_parents(kind, record, by_key, out, circle), None):
            violations.append(wrong)
            out[record.key] = record.line
        else:
            kept.append(record)
    return tuple(kept), violations


def _parents(kind: Kind, record: Record) -> Iterator[tuple[str, Reference]]:
    return (
        (key, reference)
        for reference in record.references
        if reference.kind == kind.type and not reference.by_id
        for key in reference.keys
    )


def _troubled_parents(
    kind: Kind, record: Record, by_key: Mapping[str, Record], out: Mapping[str, int], circle: Sequence[str]
) -> Iterator[Violation]:
    for key, reference in _parents(kind, record):
        if key == record.key:
            rule = f"The {kind.singular} {key} refers to itself."
        elif key in circle and record.key in circle:
            way = [*circle[:MOST_NAMED], "...", circle[-1]] if len(circle) > MOST_NAMED else circle
            rule = f"Refers in a circle: {' -> '.join(way)}. Remove one of these references."
        elif key in out:
            rule = f"The {kind.singular} {key} on line {out[key]} is rejected too. Correct that line first."
        elif kind.inactive and key in by_key and by_key[key].body.get("status") == kind.inactive:
            rule = f"The {kind.singular} {key} on line {by_key[key].line} is {kind.inactive} and cannot be a parent."
        else:
            continue
        yield Violation(record.line, reference.column, key, rule)


class Change(Struct, frozen=True):
    """A field whose value in the file has changed. ``ABSENT`` stands for the value of a missing field."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.field}: {_shown(self.old)} -> {_shown(self.new)}"


def content(record: Record) -> str:
    """Return a record as canonical JSON: keys sorted, no whitespace."""
    return json.dumps(
        _with_references(record, lambda _, key: key), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )


def stored(record: Record, shown: dict[str, Any], changed: Sequence[Change]) -> str:
    """Return the content of a record as the service stored it: the body ``shown``, with the values that ``changed``."""
    kept = [
        reference
        for reference in record.references
        if not any(change.field.startswith(reference.path) for change in changed)
    ]
    return content(replace(record, body=shown, references=tuple(kept)))


def digest(text: str) -> str:
    """Return the SHA-256 of a record's content, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def body(record: Record, ids: Ids) -> dict[str, Any]:
    """Return the body to send, with every reference resolved."""
    return _with_references(record, lambda reference, key: dict(ids[reference.kind, key]))


def _with_references(record: Record, named: Callable[[Reference, str], object]) -> dict[str, Any]:
    """Return the body of a record with its references: by id as in the file, others as they are ``named``.

    A packaging item is sent as Product: an id does not tell them apart.
    """
    whole = deepcopy(record.body)
    for reference in record.references:
        to = reference.kind
        found = [{"type": to, "id": int(key)} if reference.by_id else named(reference, key) for key in reference.keys]
        put(whole, reference.path.split("."), found if reference.many else found[0])
    return whole


def as_shown(sent: Any, shown: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return what was sent with the values that the answer to its create shows.

    Keep what was sent where the answer lacks a field or only writes its value differently: numbers as text, another
    Unicode form or line break, blanks at the end, another order of references.
    """
    if isinstance(sent, dict) and isinstance(shown, dict):
        # an item is sent as a Product if only its id is known, so the type of a reference says nothing
        names = sent.keys() - {"type"} if sent.keys() == {"type", "id"} else sent
        return sent | {name: as_shown(sent[name], shown.get(name, sent[name])) for name in names}
    if isinstance(sent, list) and isinstance(shown, list):
        old, new = _in_order(sent, shown)
        is_same = len(old) == len(new) and all(as_shown(*pair) == pair[0] for pair in zip(old, new, strict=True))
        return sent if is_same else shown
    return sent if _is_written_as(sent, shown) else shown


def _in_order(*lists: list[Any]) -> Iterator[list[Any]]:
    """Yield lists of references and of custom fields sorted, because their order means nothing, and others as given."""
    entries = [entry for entries in lists for entry in entries]
    names = (name for name in ("id", "code") if all(isinstance(entry, dict) and name in entry for entry in entries))
    name = next(names, None)
    yield from (sorted(given, key=lambda entry: str(entry[name])) if name else given for given in lists)


def _is_written_as(sent: object, shown: object) -> bool:
    if isinstance(sent, str) and isinstance(shown, str | int | float):
        old, new = (normalize("NFC", str(value)).replace("\r\n", "\n").rstrip() for value in (sent, shown))
        return old == new
    if isinstance(sent, int | float):
        shown = {"true": 1, "false": 0}.get(str(shown).lower(), shown)
        try:
            return Decimal(str(shown)) == Decimal(str(sent + 0))  # True + 0 is 1
        except InvalidOperation:
            return False
    return sent == shown


def changes(old: str, new: str) -> tuple[Change, ...]:
    """Return the fields in which two contents differ.

    1 equals 1.0, texts in different Unicode forms are equal, and the order of custom fields is ignored.
    """
    before, after = (dict(_fields(json.loads(normalize("NFC", text)))) for text in (old, new))
    values = (
        (name, before.get(name, ABSENT), after.get(name, ABSENT)) for name in sorted(before.keys() | after.keys())
    )
    return tuple(
        Change(name, was, now)
        for name, was, now in values
        if was != now or isinstance(was, bool) != isinstance(now, bool)  # 1 equals True
    )


def put(whole: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Set the field at a path, in objects that are made if they are missing."""
    inner = whole
    for part in path[:-1]:
        inner = inner.setdefault(part, {})
    inner[path[-1]] = value


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    if path == "custom_fields" and isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        value = {str(entry.pop("code", "")): entry for entry in value}
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _fields(inner, f"{path}.{name}" if path else name)
    else:
        yield path, value


def _shown(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)
