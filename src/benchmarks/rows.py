"""The rows that a contender made, by the product's names of tables, so that all can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

from wms_sync.catalogue import quote, tables

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
"""Tables that dlt's rule names differently."""

Rows = Mapping[str, int]


def rows_by_table(database: Path, schema: str = "main") -> Rows:
    """Return the number of rows of each table that the service's objects fill. No table, no rows."""
    counted = {table.name: 0 for table in tables() if table.schema == "main"}
    with duckdb.connect(database, read_only=True) as connection:
        found = connection.execute("select table_name from duckdb_tables() where schema_name = ?", [schema]).fetchall()
        for (name,) in found:
            known = DLT_TABLES.get(name, name)
            if known in counted:
                row = connection.execute(f"select count(*) from {quote(schema)}.{quote(name)}").fetchone()
                counted[known] += int(row[0]) if row else 0
    return counted


def difference(rows: Rows, expected: Rows) -> str:
    """Say in which tables the numbers of rows differ; empty if in none."""
    return ", ".join(
        f"{table}: {rows[table]:,} instead of {expected[table]:,}" for table in rows if rows[table] != expected[table]
    )
