"""Published files that were changed by somebody else, or as hundreds of nights leave them."""

from pathlib import Path

import duckdb

LOADED = "insert into ops.latest_load values (now(), now(), 'run', '1', 'UTC', null)"
"""What a load leaves in tables without a row."""
MOVED = ("main.order_items", "main.shipments", "main.package_items", "main.orders")


def change(database: Path, *statements: str) -> None:
    """Change a published file, which nobody may write, in its place."""
    mode = database.stat().st_mode
    database.chmod(0o600)
    with duckdb.connect(database) as connection:
        for statement in statements:
            connection.execute(statement)
    database.chmod(mode)


def double_a_shipment(database: Path) -> None:
    """Make a blocking check fail."""
    change(database, "insert into shipments select * from shipments order by id limit 1")


def bloat(database: Path) -> None:
    """Make room in the file, and move the rows of tables behind it, so that it is not cut off."""
    change(
        database,
        # these do not compress: 27 MB
        "create table ops.much as select random() as number from range(4_000_000)",
        "checkpoint",
        *(
            f"create temp table moved as from {table}; truncate {table}; insert into {table} from moved; "
            "checkpoint; drop table moved"
            for table in MOVED
        ),
        "drop table ops.much",
        "checkpoint",
    )
