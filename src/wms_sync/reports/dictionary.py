"""The data dictionary: every table, mart and column, as an HTML page and as the sources of a dbt project.

Both are generated from ``sql/``, so they match the tables that this release publishes. The page needs no network and no
JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Column, Relation, Table, history_tables, marts, ops_tables, tables
from wms_sync.reports.output import is_marked, refuse_output, rendered
from wms_sync.settings import Settings
from wms_sync.storage.durable import write_whole
from wms_sync.targets.database import PresentRelation, create_empty, records, relations_in

_JOINS = re.compile(r"joins (?P<table>[\w.]+)\.(?P<column>\w+)")
MARK_OF_PAGE = '<meta name="generator" content="wms-sync dictionary">'
MARK_OF_SOURCES = "# Made by `wms-sync dictionary`"
SUBJECTS = (
    ("marts", "Marts", "Views for everyday questions. Start here."),
    ("shipments", "Shipments", "Shipments with their items and packages."),
    ("orders", "Orders", "Orders with their items. An order without a shipment is not in this data."),
    ("main", "Referenced objects", "Merchants, retailers, warehouses, products and others, each once."),
    ("history", "History", "Every version that was read."),
    ("pii", "Personal data", "Filled only if WMS_INCLUDE_ADDRESSES is on; wms-sync forget removes rows."),
    ("ops", "About the sync", "Windows, loads, checks, and values that did not fit."),
)
"""The subjects of the page, in order: key, heading, and a sentence."""


class ForeignKey(Struct, frozen=True):
    """A column that has the key of another table. ``is_part``: each row is a part of the row that it refers to."""

    column: str
    to: str
    to_column: str
    is_part: bool


class Described(Struct, frozen=True, dict=True):
    """A table or mart with the types that DuckDB gives its columns, and the references of its columns."""

    relation: Relation
    types: dict[str, str]

    @property
    def name(self) -> str:
        """Return the name to show to people: with the schema, unless the schema is ``main``."""
        return self.relation.title

    @property
    def subject(self) -> str:
        """Return the key of the subject that the page lists this table or mart under."""
        relation = self.relation
        if relation.schema != "main":
            return relation.schema
        root = relation.root if isinstance(relation, Table) else ""
        return root if root in ("shipments", "orders") else "main"

    @property
    def columns(self) -> Sequence[Column]:
        """Return the columns, in order."""
        return self.relation.columns

    @cached_property
    def head(self) -> dict[str, str]:
        """Return the header of the relation's SQL file: grain, keys, source, notes."""
        return sql_files.headers(self.relation.create)

    @cached_property
    def references(self) -> tuple[ForeignKey, ...]:
        """Return the references of the relation's columns, parsed from the comments of the columns."""
        part_of = self.relation.root if isinstance(self.relation, Table) and not self.relation.is_root else None
        return tuple(
            ForeignKey(column.name, to, found["column"], is_part=to == part_of)
            for column in self.columns
            for found in _JOINS.finditer(column.comment)
            for to in [found["table"].removeprefix("main.")]
        )

    def refers(self, column: Column) -> ForeignKey | None:
        """Return the reference of a column; None if the column refers to no table."""
        return next((reference for reference in self.references if reference.column == column.name), None)


class Value(Struct, frozen=True):
    """A known value of a column, and its meaning. ``is_open`` is None if the column is not a status."""

    value: str
    meaning: str
    is_open: bool | None


class Dictionary:
    """The content of the dictionary, read from an empty database with all tables and marts."""

    def __init__(self) -> None:
        with duckdb.connect() as connection:
            create_empty(connection)
            found = relations_in(connection)
            values = records(connection.execute(sql_files.read("queries/known_values.sql")))
        everything: Iterable[Relation] = (*marts(), *tables(), *ops_tables(), *history_tables())
        self.relations = tuple(Described(relation, column_types(found[relation.place])) for relation in everything)
        self.values: dict[str, list[Value]] = {}
        for row in values:
            self.values.setdefault(row["column_name"], []).append(Value(row["value"], row["meaning"], row["is_open"]))

    @property
    def subjects(self) -> Iterator[tuple[str, str, str, list[Described]]]:
        """Yield key, heading, sentence and relations of each subject that has relations."""
        for key, heading, about in SUBJECTS:
            if found := [described for described in self.relations if described.subject == key]:
                yield key, heading, about, found

    @property
    def questions(self) -> Iterator[tuple[str, str, str]]:
        """Yield each sample question: the question, the grain of the answer, and the query."""
        for path in sql_files.listed("queries/questions"):
            head = sql_files.headers(text := sql_files.read(path))
            lines = text.splitlines()
            yield head["question"], head["grain"], "\n".join(line for line in lines if not line.startswith("-- "))

    def referred_by(self, of: Described) -> list[Described]:
        """Return the tables with a column that refers to the given table."""
        return [
            described
            for described in self.relations
            if isinstance(described.relation, Table) and any(ref.to == of.name for ref in described.references)
        ]

    def html(self) -> str:
        """Return the page."""
        return rendered("dictionary", dictionary=self, version=version("wms-sync"))

    def sources(self) -> str:
        """Return the content of ``sources.yml`` for a dbt project that attaches the published file as ``wms``."""
        import yaml  # only needed here

        schemas: dict[str, list[Described]] = {}
        for described in self.relations:
            schemas.setdefault(described.relation.schema, []).append(described)
        sources = [
            {
                "name": _source(schema),
                "database": "wms",
                "schema": schema,
                "tables": [
                    {
                        "name": described.relation.name,
                        "description": described.relation.comment,
                        "columns": [self._source_column(described, column) for column in described.columns],
                    }
                    for described in found
                ],
            }
            for schema, found in sorted(schemas.items())
        ]
        text = yaml.safe_dump({"version": 2, "sources": sources}, sort_keys=False, allow_unicode=True, width=120)
        return f"{MARK_OF_SOURCES}, version {version('wms-sync')}.\n{text}"

    def _source_column(self, described: Described, column: Column) -> dict[str, Any]:
        tests = list(self._tests(described, column)) if isinstance(described.relation, Table) else []
        shown = {"name": column.name, "data_type": described.types[column.name], "description": column.comment}
        return shown | ({"data_tests": tests} if tests else {})

    def _tests(self, described: Described, column: Column) -> Iterator[str | dict[str, Any]]:
        """Yield dbt's tests for a column that is a key or a reference."""
        if column.name in described.relation.keys:
            yield "not_null"
        if described.relation.keys == (column.name,):
            yield "unique"
        named = {other.name: other for other in self.relations}
        reference = described.refers(column)
        if reference and reference.to in named and named[reference.to].relation.keys == (reference.to_column,):
            to = named[reference.to].relation
            arguments = {"to": f"source('{_source(to.schema)}', '{to.name}')", "field": reference.to_column}
            severity = "error" if reference.is_part else "warn"  # the service may leave out other objects
            yield {"relationships": {"arguments": arguments, "config": {"severity": severity}}}


def write_dictionary(settings: Settings, folder: Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write ``dictionary.html`` and ``sources.yml`` into a folder; create the folder if it does not exist.

    With ``force``, replace files of these names that this command did not write. Otherwise raise ``OutputRefused``.
    """
    page, sources = folder / "dictionary.html", folder / "sources.yml"
    refuse_output(settings, page, lambda there: is_marked(there, MARK_OF_PAGE), force=force)
    refuse_output(settings, sources, lambda there: is_marked(there, MARK_OF_SOURCES), force=force)
    made = Dictionary()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(page, made.html().encode())
    write_whole(sources, made.sources().encode())
    return page, sources


def column_types(relation: PresentRelation) -> dict[str, str]:
    """Return the types that DuckDB gives the columns, in lower case, with ``timestamptz`` as a short form."""
    return {
        name: kind.lower().replace("timestamp with time zone", "timestamptz")
        for name, (kind, _) in relation.columns.items()
    }


def _source(schema: str) -> str:
    return "wms" if schema == "main" else f"wms_{schema}"
