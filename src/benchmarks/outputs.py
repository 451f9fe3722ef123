"""What the contenders stored, table by table and column by column, by the product's names: equal, or no figure counts.

Two columns are equal if they have as many values and their hashes have the same sum, after a cast to the product's
type. Compared are the rows of every table, and every column that both have and that holds neither JSON nor a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from benchmarks.contenders import Installation
from benchmarks.measuring import ContenderFailed
from wms_sync.catalogue import Table, history_tables, quote, tables

DLT_SCHEMA = "main_data"
DLT_TABLES = {
    "shipment_items__reservations": "shipment_item_reservations",
    "shipments__packages": "packages",
    "shipments__packages__collected_data": "package_collected_data",
    "shipments__packages__items": "package_items",
    "shipments__packages__packaging": "package_packaging",
    "packing_solutions__containers": "packing_solution_containers",
    "packing_solutions__containers__items": "packing_solution_container_items",
    "packaging_containers": "products",
    "packaging_data_collection": "products",
    "packaging_infill": "products",
    "packaging_instructions": "products",
    "packaging_supplies": "products",
}
"""Tables that dlt's rule names differently. It names columns by the product's rule, but for a double underscore."""
NOT_ALIKE = {("package_items", "order_item_quantity"), ("warehouses", "timezone")}
"""The service has two names for the quantity, and dlt a column for each. The product finds out the time zone itself."""

Summary = Mapping[tuple[str, str], int]
"""By table and measure: `rows`, `count of <column>`, `sum of <column>`."""


@dataclass(frozen=True)
class Stored:
    """A contender's table. `columns` are its names of columns by the product's."""

    table: Table
    qualified: str
    columns: Mapping[str, str]


def stored_tables(connection: duckdb.DuckDBPyConnection) -> Iterator[Stored]:
    """Yield the tables that a contender filled from the service's objects, and the product's history."""
    known = {table.place: table for table in (*tables(), *history_tables()) if table.schema != "pii"}
    query = "select schema_name, table_name, list(column_name) from duckdb_columns() group by all"
    for schema, name, columns in connection.execute(query).fetchall():
        place = ("main", DLT_TABLES.get(name, name)) if schema == DLT_SCHEMA else (schema, name)
        if place in known:
            by_name = {column.replace("__", "_"): column for column in columns}
            yield Stored(known[place], f"{quote(schema)}.{quote(name)}", by_name)


def compare(installations: Sequence[Installation]) -> None:
    """Print how much is equal. Raise `ContenderFailed` if a contender stored something else than the first one."""
    first, *others = ((installation.contender.name, summary(installation)) for installation in installations)
    for name, stored in others:
        if different := differences(stored, first[1]):
            raise ContenderFailed(f"{name} stored something else than {first[0]}: {', '.join(different[:10])}")
        rows = sum(value for (_, measure), value in stored.items() if measure == "rows")
        columns = sum(measure.startswith("sum") for _, measure in stored.keys() & first[1].keys())
        print(f"{name} stored the same {rows:,} rows as {first[0]}, equal in {columns} columns.", flush=True)


def differences(stored: Summary, expected: Summary) -> list[str]:
    """Return the rows, and the columns of both, that differ."""
    keys = {key for key in stored.keys() | expected.keys() if key[1] == "rows"} | (stored.keys() & expected.keys())
    return [
        f"{table}: {measure} is {stored.get((table, measure), 0):,} instead of {expected.get((table, measure), 0):,}"
        for table, measure in sorted(keys)
        if stored.get((table, measure), 0) != expected.get((table, measure), 0)
    ]


def summary(installation: Installation) -> Summary:
    """Return what is compared. Several tables of a contender may be one of the product's."""
    found: Counter[tuple[str, str]] = Counter()
    with duckdb.connect(installation.database, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        for stored in stored_tables(connection):
            if stored.table.schema == "main":
                measures = dict(_measures(stored))
                query = f"select {', '.join(measures.values())} from {stored.qualified}"
                values = connection.execute(query).fetchone() or ()
                for measure, value in zip(measures, values, strict=True):
                    found[stored.table.name, measure] += value or 0
    return found


def _measures(stored: Stored) -> Iterator[tuple[str, str]]:
    yield "rows", "count(*)"
    for column in stored.table.columns:
        name, type_ = column.name, column.type
        is_alike = (stored.table.name, name) not in NOT_ALIKE and type_ != "json" and not type_.endswith("[]")
        if name in stored.columns and is_alike and not name.startswith("_"):
            value = quote(stored.columns[name])
            yield f"count of {name}", f"count({value})"
            yield f"sum of {name}", f"sum(hash({value}::{type_})::hugeint) filter ({value} is not null)"
