"""The statements of ``sql/flatten`` for one batch: what they read, and nothing that has no rows in it.

To plan a query costs more than to run it on a few rows. So ``from page."Order"`` becomes the read of the kind's file at
once, without a view; what ``completed`` says is only joined, and a part of a union only kept, where there are objects.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote

_KIND = re.compile(r'\bpage\.(?:"(\w+)"|(\w+))')
_UNION = "\nunion all\n"


class Kinds(Struct, frozen=True):
    """Of each kind how its objects are read, by SQL after ``from``, and its fields; and the kinds that have objects."""

    reads: Mapping[str, str]
    fields: Mapping[str, Collection[str]]
    filled: Collection[str]


def statement(path: str, kinds: Kinds) -> str:
    """Return the statement of a file for these objects.

    With the header ``completed: OrderItem``, fields are taken from included objects of that kind, and from what is
    ``stated`` only where these have none.
    """
    text = _without_empty_parts(sql_files.read(path), kinds)
    kind = sql_files.headers(text).get("completed", "")
    if kind in kinds.filled:
        text = _completed(text, kind, kinds.fields[kind])
    return _KIND.sub(lambda named: kinds.reads[named[1] or named[2]], text)


def select_of(table: Table, kinds: Kinds) -> str:
    """Return the SELECT for all columns of a table. Parameters: the batch's provenance; none for tables of ``ops``."""
    if table.schema == "ops":
        return f"from {table.qualified}"
    select = statement(f"flatten/{table.slug}.sql", kinds)
    return sql_files.read("flatten/page/provenance.sql").format(select=select)


@cache
def needs(table: Table) -> frozenset[str]:
    """Return the kinds and stages of which at least one has rows wherever the table has (header ``needs``)."""
    if table.schema == "ops":
        return frozenset({table.slug})
    return frozenset(sql_files.headers(sql_files.read(f"flatten/{table.slug}.sql"))["needs"].split(", "))


def _completed(text: str, kind: str, fields: Collection[str]) -> str:
    replaced = ", ".join(f"coalesce(included.{name}, stated.{name}) as {name}" for name in map(quote, fields))
    select = sql_files.read("flatten/page/completed.sql").format(kind=quote(kind), fields=replaced)
    before, _, after = text.rpartition("from stated")
    return f"{before}from ({select}) as stated{after}"


def _without_empty_parts(text: str, kinds: Kinds) -> str:
    """Leave out the parts of the outermost union that read a kind without objects, but one."""
    parts = text.split(_UNION)
    filled = [part for part in parts if any((one or other) in kinds.filled for one, other in _KIND.findall(part))]
    return text if len(parts) == 1 else _UNION.join(filled or parts[:1])
