"""Checks: queries that return the offending rows; blocking ones gate publishing.

The checks that keys are unique and that children have parents are derived from the headers ``keys``, ``root`` and
``parent`` of ``sql/tables``. Every other check is a file in ``sql/checks``, which declares ``-- severity: error|warn``,
``-- blocking: yes|no``, ``-- table:`` and ``-- description:``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.errors import AnalyticsError
from wms_sync.catalogue import Table, quote, table, tables

SAMPLE_ROWS = 5


@dataclass(frozen=True)
class Check:
    """A check; ``table`` is the table that it is about."""

    name: str
    table: str
    severity: str
    blocking: bool
    description: str
    query: str


@dataclass(frozen=True)
class CheckResult:
    """What a check found. ``sample`` is a Markdown table of the first offending rows, empty if it passed."""

    check: Check
    offending: int
    sample: str

    @property
    def passed(self) -> bool:
        """Return whether no row offends."""
        return self.offending == 0

    @property
    def blocks_publishing(self) -> bool:
        """Return whether the check failed and is a blocking one."""
        return self.check.blocking and not self.passed


@cache
def checks() -> tuple[Check, ...]:
    """Return every check, ordered by name."""
    declared = (_declared(path) for path in sql_files.listed("checks"))
    return tuple(sorted((*declared, *_derived()), key=lambda check: check.name))


def _derived() -> Iterator[Check]:
    """Yield the checks that follow from the definitions of the tables."""
    for one in tables():
        yield _unique_keys(one)
        if one.parent is not None:
            yield _has_parent(one, table(one.parent))


def _unique_keys(one: Table) -> Check:
    keys = ", ".join(map(quote, one.keys))
    lacking = " or ".join(f"{quote(key)} is null" for key in one.keys)
    return _blocking(
        one,
        "have_unique_keys",
        f"No two rows have the same {', '.join(one.keys)}, and none lacks any of them.",
        f"select {keys}, count(*) as occurrences from {one.qualified} group by all having count(*) > 1 or {lacking}",
    )


def _has_parent(one: Table, parent: Table) -> Check:
    keys = ", ".join(f"child.{quote(key)}" for key in one.keys)
    pairs = zip(one.parent_key, parent.keys, strict=True)
    on = " and ".join(f"child.{quote(own)} = parent.{quote(key)}" for own, key in pairs)
    return _blocking(
        one,
        f"belong_to_{parent.slug}",
        f"Every row belongs to a row of {parent.name}, by {', '.join(one.parent_key)}.",
        f"select {keys} from {one.qualified} as child anti join {parent.qualified} as parent on {on}",
    )


def _blocking(one: Table, says: str, description: str, query: str) -> Check:
    return Check(
        name=f"{one.slug}_{says}",
        table=one.slug,
        severity="error",
        blocking=True,
        description=description,
        query=query,
    )


def run_checks(open_file: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]]) -> tuple[CheckResult, ...]:
    """Run every check on the database that is about to be published.

    DuckDB keeps some data of each table that it has read, such as which rows were deleted, in memory until the file is
    closed. If that leaves too little memory for a check, the check is repeated on a freshly opened file.
    """
    found: list[CheckResult] = []
    while len(found) < len(checks()):
        with open_file() as connection:
            found += _run_while_there_is_memory(connection, checks()[len(found) :])
    return tuple(found)


def _run_while_there_is_memory(connection: duckdb.DuckDBPyConnection, left: Sequence[Check]) -> Iterator[CheckResult]:
    """Raise ``duckdb.OutOfMemoryException`` if there is not enough memory even for the first of these alone."""
    for number, check in enumerate(left):
        try:
            yield _run(connection, check)
        except duckdb.OutOfMemoryException:
            if number == 0:
                raise
            return


def _run(connection: duckdb.DuckDBPyConnection, check: Check) -> CheckResult:
    try:
        relation = connection.execute(check.query)
        columns = [column[0] for column in relation.description or []]
        rows = relation.fetchmany(SAMPLE_ROWS)
        if not rows:
            return CheckResult(check, 0, "")
        count = connection.execute(f"select count(*) from ({check.query})").fetchone()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise AnalyticsError(f"The check {check.name} could not be run: {error}") from None
    return CheckResult(check, int(count[0]) if count else len(rows), _markdown(columns, rows))


def _declared(path: str) -> Check:
    query = sql_files.read(path)
    headers = sql_files.headers(query)
    try:
        return Check(
            name=sql_files.stem(path),
            table=headers["table"],
            severity=headers["severity"],
            blocking=headers["blocking"] == "yes",
            description=headers["description"],
            query=query,
        )
    except KeyError as error:
        raise AnalyticsError(f"sql/{path} has no header {error}.") from None


def _markdown(columns: list[str], rows: list[tuple[object, ...]]) -> str:
    return "\n".join(_lines(columns, rows))


def _lines(columns: list[str], rows: list[tuple[object, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)
    for row in rows:
        yield "| " + " | ".join(str(value).replace("|", "\\|").replace("\n", " ") for value in row) + " |"
