"""A connection all of whose work is one transaction, whoever begins and commits parts of it.

On a file each part commits by itself, since the file is not published before the end. A lake has no other copy: what is
committed is published. So there the parts begin and commit nothing, and the load commits once.
"""

from __future__ import annotations

from typing import Any

import duckdb


class OneTransaction:
    """Stands for the connection that it was made of, with a transaction that is open until ``commit_all``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        connection.begin()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a connection has
        return getattr(self._connection, name)

    def begin(self) -> None:
        """Do nothing: the transaction is open."""

    def commit(self) -> None:
        """Do nothing: there is more to come."""

    def rollback(self) -> None:
        """Do nothing: whoever opened the connection rolls everything back."""

    def commit_all(self) -> None:
        """Commit everything."""
        self._connection.commit()
