"""Room in memory for a merge of tables that are too large for one transaction.

DuckDB keeps eight bytes in memory of each row of a row group that it has read and in which rows are deleted, until the
file is closed, and drops nothing of it. A night's changes lie all over the tables. So a merge of many millions of rows
opens the file anew on its way: no oftener than needed, because that takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import duckdb

from wms_sync.analytics import database
from wms_sync.catalogue import Table
from wms_sync.settings import memory_bytes

IN_ONE = 0.4
"""A share of the memory limit, of which what is known of deleted rows may take so much in one transaction."""


class Room:
    """Opens the file of a connection anew before a table for which too little memory is left."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, memory_limit: str) -> None:
        self._connection = connection
        self._memory_limit = memory_limit
        self._limit = memory_bytes(memory_limit)
        self._places = database.places(connection)
        self._read: set[tuple[str, str]] = set()

    @property
    def is_enough(self) -> bool:
        """Return whether all tables can be merged in one transaction; if not, one fails in the middle."""
        return self._taken_by(self._places) <= IN_ONE * self._limit

    def make(self, read: Sequence[Table]) -> None:
        """Make room for these tables. No transaction may be under way."""
        next_read = {one.place for one in read}
        changed, _ = database.memory_in_use(self._connection)
        if self._read and changed + self._taken_by(self._read | next_read) > database.FILLED * self._limit:
            database.open_anew(self._connection, self._memory_limit)
            self._read.clear()
        self._read |= next_read

    def _taken_by(self, read: Iterable[tuple[str, str]]) -> float:
        return database.where_deleted(self._places.get(place, 0) for place in read)
