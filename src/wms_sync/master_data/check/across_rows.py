"""What the rows of one file owe each other: keys that are there once, parents before children.

Keys that differ only in case count as the same. The specification says "unique" without saying how case is compared,
and the service's answer "already in use" is taken as proof that a row was created: two such rows in one file could be
taken for one. Each of the rows is refused, since a create cannot be undone and nothing tells which was meant; two files
can hold what is meant to differ in case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wms_sync.master_data.check.offences import Offence, Record, Reference
from wms_sync.master_data.kinds.kind import Kind


def repeated(kind: Kind, column: str, keys: Mapping[int, str]) -> Iterator[Offence]:
    """Rows whose key stands on another line too; ``keys`` by line, as the service would store them."""
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for line, key in keys.items():
        lines[key.casefold()].append(line)
    for same in lines.values():
        for line in same if len(same) > 1 else ():
            others = [other for other in same if other != line]
            where = f"line {others[0]}" if len(others) == 1 else f"lines {', '.join(map(str, others))}"
            how = "" if all(keys[other] == keys[line] for other in others) else ", but for upper and lower case,"
            yield Offence(
                line, column, keys[line], f"The same {kind.key}{how} stands on {where}. Keep one of the rows."
            )


@dataclass(frozen=True)
class Families:
    """The records that stay, parents first and otherwise as in the file, and what is wrong with the others."""

    records: tuple[Record, ...]
    offences: tuple[Offence, ...]


def families(kind: Kind, records: Sequence[Record], rejected: Mapping[str, int]) -> Families:
    """Put parents first; ``rejected`` are the keys of rows that broke a rule, with their lines."""
    by_key = {record.key: record for record in records}
    kept: list[Record] = []
    offences: list[Offence] = []
    out = dict(rejected)
    order, circles = _walk(kind, by_key)
    for record in order:
        wrong = circles.get(record.key) or next(_troubled_parents(kind, record, out, by_key), None)
        if wrong:
            offences.append(wrong)
            out[record.key] = record.line
        else:
            kept.append(record)
    return Families(tuple(kept), tuple(offences))


def _parents(kind: Kind, record: Record) -> Iterator[tuple[str, Reference]]:
    return ((key, one) for one in record.references if one.kind == kind.type and not one.by_id for key in one.keys)


def _walk(kind: Kind, by_key: Mapping[str, Record]) -> tuple[list[Record], dict[str, Offence]]:
    """Every record behind its parents, otherwise as in the file; and those that are their own ancestors, by key.

    Depth first with a path of its own, since a chain of parents may be longer than Python's stack.
    """
    done: dict[str, Record] = {}
    circles: dict[str, Offence] = {}
    for first in by_key:
        path = {first: _parents(kind, by_key[first])} if first not in done else {}
        while path:
            here = next(reversed(path))
            parent = next((key for key, _ in path[here] if key in by_key and key not in done), None)
            if parent is None:
                done[here] = by_key[here]
                del path[here]
            elif parent in path:
                members = list(path)[list(path).index(parent) :]
                circles |= {member: _circle(kind, by_key[member], members) for member in members}
            else:
                path[parent] = _parents(kind, by_key[parent])
    return list(done.values()), circles


def _circle(kind: Kind, record: Record, members: Sequence[str]) -> Offence:
    start = members.index(record.key)
    turned = [*members[start:], *members[:start]]
    reference = next(one for key, one in _parents(kind, record) if key == turned[1 % len(turned)])
    if len(members) == 1:
        return Offence(record.line, reference.column, record.key, f"The {kind.one} {record.key} names itself.")
    way = " -> ".join([*turned, record.key])
    return Offence(
        record.line, reference.column, turned[1], f"Goes round in a circle: {way}. Leave one of these references out."
    )


def _troubled_parents(
    kind: Kind, record: Record, out: Mapping[str, int], by_key: Mapping[str, Record]
) -> Iterator[Offence]:
    for key, reference in _parents(kind, record):
        if key in out:
            yield Offence(
                record.line,
                reference.column,
                key,
                f"The {kind.one} {key} on line {out[key]} is rejected itself. Correct that line first.",
            )
        elif kind.inactive and key in by_key and by_key[key].body.get("status") == kind.inactive:
            yield Offence(
                record.line,
                reference.column,
                key,
                f"The {kind.one} {key} on line {by_key[key].line} is {kind.inactive} and cannot be a parent.",
            )
