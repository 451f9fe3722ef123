"""The catalogue of tables and marts, read from ``sql/``: names, keys, columns, comments.

A table is one file under ``sql/tables`` (filled by ``flatten``), ``sql/ops`` or ``sql/history`` (filled by the load), a
mart one file under ``sql/marts``. The file is the only definition: the ``create`` statement, a comment at the end of
each column's line, and header comments. The header keywords:

- ``grain``: the meaning of one row; begins the comment of the table or mart.
- ``keys``: the columns that together identify a row.
- ``root: orders by order_id``: each row of this table belongs to a row of ``orders``, and the rows of an order are
  replaced together with it; ``order_id`` is the column of this table with the order's key. A root table is its own
  root.
- ``parent: packages by shipment_id, package_position``: the table between this table and its root, if there is one.
  Without this header the parent is the root.
- ``same: id, created_at``: columns that must not contradict each other in two rows of one object. Needed where a key is
  only a position in a list, which does not prove that it is the same object.
- ``newer``: the column that decides which of two versions of a root is newer; ``_extracted_at`` by default.

Belongs here: reading these files, and quoting identifiers and strings. Keep out: running statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter

from msgspec import Struct

from wms_sync import sql_files

_COLUMN = re.compile(r'^    "?(?P<name>\w+)"? (?P<type>.+?)(?: not null)?,? -- (?P<comment>.+)$', re.MULTILINE)
_SECTION = re.compile(r" \(spec [\d., ]+\)")
"""A section of the specification in a header comment, which says nothing to a reader of the table."""
_SELECTED = re.compile(r'^    (?:.*[ .])?"?(?P<name>\w+)"?,? -- (?P<comment>.+)$', re.MULTILINE)
_SOURCE = re.compile(r"\b(?:from|join)\s+(?:(?P<schema>\w+)\.)?(?P<name>\w+)", re.IGNORECASE)
_COMMENT = re.compile(r"--.*")
_CREATED = re.compile(r"^create (?:or replace )?(?:table|view) (?:(?P<schema>\w+)\.)?(?P<name>\w+)", re.MULTILINE)

SETTLING = "interval 10 minute"
"""The maximum time between the ``updated_at`` of a change and its commit. A version without ``updated_at`` ranks as if
it had been changed this long before it was read. So a first change that was committed after the read ranks as newer,
although its ``updated_at`` may be earlier than the read."""


def quote(identifier: str) -> str:
    """Return the identifier in double quotes. Every name in a statement goes through this function."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return the text as an SQL string in single quotes, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


class Column(Struct, frozen=True):
    """A column. ``type`` is the type written in the file; empty for a view."""

    name: str
    type: str
    comment: str


class Relation(Struct, frozen=True):
    """A table or a mart. ``keys`` are the columns that together identify a row."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    comment: str
    create: str
    keys: tuple[str, ...]

    @property
    def qualified(self) -> str:
        """Return schema and name, quoted."""
        return f"{quote(self.schema)}.{quote(self.name)}"

    @property
    def place(self) -> tuple[str, str]:
        """Return schema and name."""
        return self.schema, self.name

    @property
    def slug(self) -> str:
        """Return the name of the relation's files and folders: ``orders``, ``pii_order_addresses``."""
        return self.name if self.schema == "main" else f"{self.schema}_{self.name}"

    @property
    def title(self) -> str:
        """Return the name to show to people: with the schema, unless the schema is ``main``."""
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, in order."""
        return tuple(column.name for column in self.columns)


class Table(Relation, frozen=True):
    """A stored table.

    ``root_key`` is the column of this table that holds the key of ``root``. Each row is a part of a row of ``parent``,
    and ``parent_key`` are the columns of this table that hold the parent's keys. A root table has no parent. Two
    rows with equal ``keys`` are the same object only if they do not contradict each other in ``same``.
    """

    root: str
    root_key: str
    parent: str | None
    parent_key: tuple[str, ...]
    same: tuple[str, ...]
    newer: str | None

    @property
    def version(self) -> str:
        """Return the SQL expression that ranks versions of a row: a greater value is newer.

        Without a ``newer`` column the time of extraction ranks; where ``newer`` is null, that time minus ``SETTLING``.
        """
        return f"coalesce({quote(self.newer)}, _extracted_at - {SETTLING})" if self.newer else "_extracted_at"

    @property
    def is_root(self) -> bool:
        """Return whether the table is its own root: its rows are not parts of another table's rows."""
        return self.root == self.name


class Mart(Relation, frozen=True):
    """A view for analysts. ``reads`` are the places of all that it selects from, and the names of its own queries."""

    reads: frozenset[tuple[str, str]]


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables that ``flatten`` fills, parents before children."""
    return tuple(
        sorted(
            [_table(path) for path in sql_files.listed("tables")],
            key=lambda table: (not table.is_root, len(table.keys), table.schema, table.name),
        )
    )


@cache
def ops_tables() -> tuple[Table, ...]:
    """Return the tables of schema ``ops`` that the load fills."""
    return tuple(_table(path) for path in sql_files.listed("ops"))


@cache
def history_tables() -> tuple[Table, ...]:
    """Return the tables of schema ``history``; each has the name of the root table whose versions it keeps."""
    return tuple(_table(path) for path in sql_files.listed("history"))


@cache
def marts() -> tuple[Mart, ...]:
    """Return the views, each after the views that it reads. A few are outside schema ``marts``."""
    return in_order(mart_of(sql_files.read(path), path) for path in sql_files.listed("marts"))


def in_order(found: Iterable[Mart]) -> tuple[Mart, ...]:
    """Return marts in a fixed order, each after the marts that it reads. Raise ``graphlib.CycleError`` for a cycle."""
    by_place = {mart.place: mart for mart in sorted(found, key=lambda mart: mart.name)}
    ordered = TopologicalSorter({place: sorted(mart.reads & by_place.keys()) for place, mart in by_place.items()})
    return tuple(by_place[place] for place in ordered.static_order())


@cache
def stored_tables() -> tuple[Table, ...]:
    """Return every table of the database: the flattened tables, those of schema ``ops``, and the history."""
    return (*tables(), *ops_tables(), *history_tables())


@cache
def relations() -> tuple[Relation, ...]:
    """Return every relation of the database: all tables, then the marts."""
    return (*stored_tables(), *marts())


@cache
def table(slug: str) -> Table:
    """Return a table by its slug."""
    return next(found for found in stored_tables() if found.slug == slug)


def tracked(history: Table) -> tuple[str, ...]:
    """Return the service's columns of both tables, except ``newer`` and keys: a change in one makes a new version."""
    root = table(history.name)
    return tuple(
        name
        for name in history.column_names
        if name in root.column_names and name not in (*root.keys, root.newer) and name[0] != "_"
    )


def _table(path: str) -> Table:
    text = sql_files.read(path)
    head = sql_files.headers(text)
    schema, name = _created(path, text)
    keys = _names(head["keys"])
    root, _, root_key = head.get("root", f"{name} by {keys[0]}").partition(" by ")
    parent, _, parent_key = head.get("parent", f"{root} by {root_key}").partition(" by ")
    newer = head.get("newer", "_extracted_at")
    columns = tuple(Column(line["name"], line["type"], line["comment"]) for line in _COLUMN.finditer(text))
    return Table(
        schema=schema,
        name=name,
        columns=columns,
        comment=_comment(head),
        create=text,
        keys=keys,
        root=root,
        root_key=root_key,
        parent=None if root == name else parent,
        parent_key=() if root == name else _names(parent_key),
        same=_names(head["same"]) if "same" in head else (),
        newer=None if newer == "_extracted_at" else newer,
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(","))


def mart_of(text: str, path: str) -> Mart:
    """Parse a mart from the text of its file. Raise ``ValueError``, with the path, if it creates no view or table."""
    head = sql_files.headers(text)
    schema, name = _created(path, text)
    columns = tuple(Column(line["name"], "", line["comment"]) for line in _SELECTED.finditer(text))
    return Mart(
        schema=schema,
        name=name,
        columns=columns,
        comment=_comment(head),
        create=text,
        keys=_names(head["keys"]),
        reads=frozenset((from_ or "main", read) for from_, read in _SOURCE.findall(_COMMENT.sub("", text))),
    )


def _created(path: str, text: str) -> tuple[str, str]:
    created = _CREATED.search(text)
    if created is None:
        raise ValueError(f"sql/{path} creates no table or view.")
    return created["schema"] or "main", created["name"]


def _comment(head: dict[str, str]) -> str:
    parts = [head["grain"][:1].upper() + head["grain"][1:]]
    parts += [f"{label}: {head[word]}" for label, word in (("Source", "source"), ("Note", "notes")) if word in head]
    return _SECTION.sub("", ". ".join(parts)) + "."
