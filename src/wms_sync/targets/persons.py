"""The rows and values of the tables that are or hold personal data of orders, and the SQL that removes it.

The temporary table ``forgotten`` lists the orders (``prepare``).
"""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, tables
from wms_sync.privacy.fields import COMPANYS_OWN, SHIP_TO
from wms_sync.privacy.scrub import scrubbed
from wms_sync.targets.database import number_in, relations_in, replace_rows


def concerned_tables() -> list[Table]:
    """Return the tables that may hold personal data of an order: as rows, or in free-form values."""
    return [table for table in tables() if table.root == "orders" and (is_personal(table) or _free_form(table))]


def is_personal(table: Table) -> bool:
    """Return whether every row of the table is personal data."""
    return table.schema == "pii"


def _free_form(table: Table) -> list[str]:
    """Return the columns with free-form values of the service, which may contain personal data."""
    return [column.name for column in table.columns if column.type == "json" and column.name not in COMPANYS_OWN]


def _emptied(table: Table) -> list[str]:
    """Return the columns with the destination of an order, which are emptied if the order is forgotten."""
    return [column for column in table.column_names if table.name == "orders" and column in SHIP_TO]


def prepare(connection: duckdb.DuckDBPyConnection, order_ids: Collection[int]) -> None:
    """Create the table ``forgotten`` with these orders, and the function that removes personal data from a value."""
    connection.execute("create temp table forgotten as select unnest($1::bigint[]) as order_id", [sorted(order_ids)])
    connection.create_function("scrubbed", scrubbed, ["VARCHAR"], "VARCHAR")


def persons(table: Table, there: Collection[str]) -> str:
    """Return the SQL condition for a row that is or holds personal data; ``there`` are the existing columns."""
    values = [f"held.{quote(column)}" for column in _free_form(table) if column in there]
    found = [f"{value}::varchar <> scrubbed({value})" for value in values]
    found += [f"held.{quote(column)} is not null" for column in _emptied(table) if column in there]
    return " or ".join(found) or str(is_personal(table))


def kept_rows(table: Table, there: Collection[str], source: str) -> str:
    """Return the query for the rows and values of a table that stay when the orders are forgotten."""
    columns = [column for column in table.column_names if column in there]
    return sql_files.read("forget/kept.sql").format(
        columns=", ".join(f"{_cleaned(table, column)} as {quote(column)}" for column in columns),
        source=source,
        key=quote(table.root_key),
        kept="forgotten.order_id is null" if is_personal(table) else "true",
    )


def _cleaned(table: Table, column: str) -> str:
    value = f"held.{quote(column)}"
    if column not in (*_emptied(table), *_free_form(table)):
        return value
    return f"case when forgotten.order_id is null then {value} else {_changed(table, column)} end"


def _changed(table: Table, column: str) -> str:
    """Return the new value of a column for a forgotten order, as SQL."""
    return "null" if column in _emptied(table) else f"scrubbed(held.{quote(column)})::json"


def held_rows(connection: duckdb.DuckDBPyConnection, order_ids: Collection[int]) -> dict[str, int]:
    """Return the number of rows that are or hold personal data of these orders, for each table that has any.

    Calls ``prepare`` first.
    """
    prepare(connection, order_ids)
    held = {}
    for table, there in present_tables(connection):
        query = sql_files.read("forget/held.sql").format(
            table=table.qualified, key=quote(table.root_key), personal=persons(table, there)
        )
        if count := number_in(connection.execute(query)):
            held[table.slug] = count
    return held


def present_tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[Table, set[str]]]:
    """Return the existing tables that may hold personal data of an order, each with its columns."""
    present = relations_in(connection)
    return [(table, set(present[table.place].columns)) for table in concerned_tables() if table.place in present]


def erase(connection: duckdb.DuckDBPyConnection, order_ids: Collection[int]) -> None:
    """Remove the personal data of these orders from the stored tables, in the caller's transaction, and record that.

    Call ``prepare`` or ``held_rows`` with these orders first.
    """
    for table, there in present_tables(connection):
        connection.execute(_erased(table, there))
    write_forgotten(connection, order_ids)


def _erased(table: Table, there: Collection[str]) -> str:
    """Return the statement that removes the personal data of the orders from a stored table."""
    names = {"table": table.qualified, "key": quote(table.root_key)}
    if is_personal(table):
        return sql_files.read("forget/delete.sql").format(**names)
    columns = [column for column in (*_free_form(table), *_emptied(table)) if column in there]
    changes = ", ".join(f"{quote(column)} = {_changed(table, column)}" for column in columns)
    return sql_files.read("forget/update.sql").format(**names, changes=changes, personal=persons(table, there))


def write_forgotten(connection: duckdb.DuckDBPyConnection, order_ids: Collection[int]) -> None:
    """Record in ``ops.forgotten_orders`` that the tables have no personal data of these orders."""
    replace_rows(connection, "forgotten_orders", [SimpleNamespace(order_id=order_id) for order_id in sorted(order_ids)])


def forgotten_in(connection: duckdb.DuckDBPyConnection) -> frozenset[int]:
    """Return the orders whose personal data was removed from the tables."""
    rows = connection.execute("select order_id from ops.forgotten_orders").fetchall()
    return frozenset(order_id for (order_id,) in rows)
