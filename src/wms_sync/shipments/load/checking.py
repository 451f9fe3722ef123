"""Run the checks on the tables, and record the results.

``ops.checks`` holds the result of each check and is published with the rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.shipments.load.checks import Check, checks, sentence
from wms_sync.targets.database import replace_rows
from wms_sync.targets.errors import AnalyticsError

SAMPLE_ROWS = 5
MOST_ROWS = 20_000_000
"""The rows that are read before the tables are opened anew: until then, DuckDB keeps eight bytes in memory for each row
of a table with deletions."""


class Sample(Struct, frozen=True):
    """The first offending rows of a check, as text; empty if the check passed."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def records(self) -> Iterator[Mapping[str, str]]:
        """Yield each row as a mapping from column to cell."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    @property
    def lines(self) -> Iterator[str]:
        """Yield the lines of a table for a terminal: the names of the columns, then each row."""
        for row in (self.columns, *self.rows) if self.rows else ():
            yield " | ".join(" ".join(cell.split()) for cell in row)


NO_ROWS = Sample()


class CheckResult(Struct, frozen=True):
    """The result of a check. ``sample`` has the first offending rows."""

    check: Check
    offending: int
    sample: Sample

    @property
    def passed(self) -> bool:
        """Return whether there are no offending rows."""
        return self.offending == 0

    @property
    def finding(self) -> str | None:
        """Return the finding with a few values; None if the check passed."""
        if self.passed:
            return None
        return sentence(self.check.wrong, self.check.named, self.offending, list(self.sample.records))

    @property
    def blocks_publishing(self) -> bool:
        """Return whether the check failed and is blocking."""
        return self.check.blocking and not self.passed


def check_tables(opened: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]]) -> tuple[CheckResult, ...]:
    """Run every check, one at a time, because each takes its own memory.

    ``opened`` opens the tables; it is called again after ``MOST_ROWS``.
    """
    left, results = deque(checks()), []
    while left:
        with opened() as connection:
            rows = dict(connection.execute(sql_files.read("queries/estimated_rows.sql")).fetchall())
            read = 0
            while left and read < MOST_ROWS:
                check = left.popleft()
                results.append(_result(connection, check))
                read += rows.get(check.table, 0)
    return tuple(results)


def write_checks(
    connection: duckdb.DuckDBPyConnection, results: Iterable[CheckResult], rows: Mapping[str, int]
) -> None:
    """Write the results of all checks into ``ops.checks``; ``rows`` counts the rows of each table."""
    written = (
        SimpleNamespace(
            name=result.check.name,
            table_slug=result.check.table,
            severity=result.check.severity,
            blocking=result.check.blocking,
            offending=result.offending,
            rows_in_table=rows[result.check.table],
            finding=result.finding,
        )
        for result in results
    )
    replace_rows(connection, "checks", written)


def _result(connection: duckdb.DuckDBPyConnection, check: Check) -> CheckResult:
    try:
        [(offending,)] = connection.execute(f"select count(*) from (\n{check.query}\n)").fetchall()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise AnalyticsError(f"The check {check.name} could not be run: {error}") from None
    return CheckResult(check, offending, _sample(connection, check.query) if offending else NO_ROWS)


def _sample(connection: duckdb.DuckDBPyConnection, query: str) -> Sample:
    """Return the first rows of a query, sorted by all columns so that the sample is always the same."""
    relation = connection.execute(f"select * from (\n{query}\n) order by all limit {SAMPLE_ROWS}")
    columns = tuple(str(column[0]) for column in relation.description or ())
    rows = (tuple("null" if cell is None else str(cell) for cell in row) for row in relation.fetchall())
    return Sample(columns, tuple(rows))
