"""A connection all of whose work is one transaction, whoever begins and commits parts of it.

On a file each part commits by itself, since the file is not published before the end. A lake has no other copy: what is
committed is published. So there the parts begin and commit nothing, and the load commits once.

It also knows which tables of a lake have no rows yet. DuckLake asks its catalogue about such a table again for each
column of each statement: to read an empty table of 13 columns costs 60 requests to PostgreSQL.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import duckdb

from wms_sync.analytics.errors import NotCommitted


class OneTransaction:
    """Stands for the connection that it was made of, with a transaction that is open until ``commit_all``.

    ``empty`` are the tables, by schema and name, of which it is known that they have no rows.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.empty: set[tuple[str, str]] = set()
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
        """Commit everything. Raise ``NotCommitted``."""
        try:
            self._connection.commit()
        except duckdb.Error as error:
            raise NotCommitted(error) from None  # whose text has values of columns

    def close(self) -> None:
        """Roll back what is not committed, and close the connection.

        DuckDB ends the whole process if it finds while it closes a connection that the session of an open transaction
        in PostgreSQL was lost. The same loss met by a rollback is an error like any other.
        """
        with suppress(duckdb.Error):
            self._connection.rollback()
        self._connection.close()


def is_known_empty(connection: duckdb.DuckDBPyConnection, place: tuple[str, str]) -> bool:
    """Return whether a table surely has no rows, so that nobody needs to ask it for them."""
    return isinstance(connection, OneTransaction) and place in connection.empty


def filled(connection: duckdb.DuckDBPyConnection, place: tuple[str, str]) -> None:
    """Note that a table has got rows."""
    if isinstance(connection, OneTransaction):
        connection.empty.discard(place)
