"""What checks leave in memory is given back: a file that was just opened has all of it."""

from __future__ import annotations

from contextlib import AbstractContextManager

import duckdb

from benchmarks.growth import multiply
from tests.test_sync import first_synced
from wms_sync.analytics.asking import Counting, ask_whole_tables
from wms_sync.analytics.checks import checks
from wms_sync.analytics.database import memory_in_use, open_for_reading, open_for_writing, row_counts
from wms_sync.analytics.room import Room
from wms_sync.catalogue import table, tables
from wms_sync.layout import Layout

COPIES = 8
DERIVED = [check for check in checks() if check.blocking]
"""Each of these needs little by itself."""
ENOUGH = 2
"""One opening counts the rows, and one is for all checks."""


class Opening:
    """Opens a database with so many MB, and counts how often."""

    def __init__(self, layout: Layout, megabytes: int) -> None:
        self.times = 0
        self._layout = layout
        self.limit = f"{megabytes}MB"

    def __call__(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        self.times += 1
        return open_for_reading(self._layout, self._layout.working_database, memory_limit=self.limit)


def test_checks_that_have_not_enough_memory_one_after_the_other_have_enough_each_by_itself(bench, sandbox):
    """How much is not enough depends on the machine, so it is lowered until one opening does not do."""
    _, refreshed = first_synced(bench, sandbox)
    database = bench.layout.working_database
    rows = multiply(database, COPIES)
    assert rows["package_items"] == COPIES * refreshed.rows["package_items"] > 0
    with duckdb.connect(database) as connection:
        for table in tables():  # as many nights leave it: some rows are deleted everywhere
            connection.execute(f"delete from {table.qualified} where rowid % 1000 = 7")
    for megabytes in range(40, 4, -2):
        opening = Opening(bench.layout, megabytes)
        outcomes = ask_whole_tables(opening, DERIVED, memory_limit=opening.limit)
        if opening.times > ENOUGH:
            break
    assert opening.times > ENOUGH
    assert [one.check for one in outcomes] == DERIVED
    for megabytes in range(20, 2, -1):
        counting, openings = Counting(tables(), limit := f"{megabytes}MB"), 0
        while not counting.is_complete:
            openings += 1
            with open_for_reading(bench.layout, database, memory_limit=limit) as connection:
                counting.go_on(connection, alone=True)
        if openings > 1:
            break
    assert openings > 1
    with duckdb.connect(database, read_only=True) as connection:
        assert counting.rows == row_counts(connection)


def test_a_file_is_opened_anew_before_a_table_for_which_too_little_memory_is_left(tmp_path):
    """DuckDB remembers of each row of what it has read whether it is deleted: 8 MB of a million."""
    limit, read = "40MB", (table("brands"), table("merchants"))
    with open_for_writing(tmp_path / "large.duckdb", memory_limit="400MB") as connection:
        for one in read:
            connection.execute(f"insert into {one.qualified} (id) from range(2500000)")
            connection.execute(f"delete from {one.qualified} where id % 2000 = 7")
    with open_for_writing(tmp_path / "large.duckdb", memory_limit=limit) as connection:
        assert Room(connection, "400MB").is_enough
        room = Room(connection, limit)
        assert not room.is_enough
        taken = []
        for one in (*read, read[1]):
            room.make([one])
            assert row_counts(connection, [one]) == {one.slug: 2500000 - 1250}
            taken.append(memory_in_use(connection)[1])
    assert taken[0] > 10e6
    assert max(taken) < 1.5 * taken[0]
