"""A file as hundreds of nights leave it, made in a moment: much of it is free space between what is in use."""

from __future__ import annotations

from pathlib import Path

import duckdb

MUCH = 4_000_000
"""Random numbers, which do not compress: 27 MB."""
MOVED = "main.order_items"


def bloat(database: Path) -> None:
    """Make room in the file, and move the rows of a table behind it, so that it is not cut off."""
    with duckdb.connect(database) as connection:
        connection.execute(f"create table ops.much as select random() as number from range({MUCH})")
        connection.execute("checkpoint")
        connection.execute(f"create temp table moved as from {MOVED}")
        connection.execute(f"truncate {MOVED}")
        connection.execute(f"insert into {MOVED} from moved")
        connection.execute("checkpoint")
        connection.execute("drop table ops.much")
        connection.execute("checkpoint")
