"""The checks: queries that return the offending rows. A failed blocking check prevents publishing.

The checks for unique keys, for the parents of children and for the ends of histories are derived from ``sql/tables``
and ``sql/history``. Every other check is a file in ``sql/checks`` that declares ``-- severity: error|warn``,
``-- blocking: yes|no``, ``-- table:``, ``-- description:`` (the rule), ``-- wrong:`` and ``-- named:`` (see
``sentence``). With ``-- mart:`` the check concerns that mart, and a catalogue shows it there. A check reads whole
tables, in every load.

``ops.checks`` holds the result of each check and is published with the rows.

A finding is a sentence with a few values: ``3 statuses are unknown: teleported (shipments.status), …``. ``wrong`` is
its first part: ``{count}`` is the number of offending rows, any other name in braces is a numeric column of the first
row, and ``[status is|statuses are]`` agrees with the preceding number. ``named`` is the name of each offending row,
made of columns without personal data and without free text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from types import SimpleNamespace

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, history_tables, quote, table, tables, tracked
from wms_sync.grammar import agreed
from wms_sync.targets.database import replace_rows
from wms_sync.targets.errors import AnalyticsError

SHOWN = 3
LONGEST = 60
"""The maximum number of characters shown of a value: a code may be any string that the service sent."""
SAMPLE_ROWS = 5
MOST_ROWS = 20_000_000
"""The rows that are read before the tables are opened anew: until then, DuckDB keeps eight bytes in memory for each row
of a table with deletions."""
_PART = re.compile(r"\{(?P<number>\w+)\}|\[(?P<one>[^|\]]*)\|(?P<many>[^|\]]*)\]")


def sentence(wrong: str, named: str, offending: int, rows: Sequence[Mapping[str, str]]) -> str:
    """Return the finding as a sentence; ``rows`` are the first offending rows, as text by column."""
    text = _with_numbers(wrong, {**(rows[0] if rows else {}), "count": str(offending)})
    names = list(dict.fromkeys(named.format_map({key: _cut(cell) for key, cell in row.items()}) for row in rows))
    if not named or not names:
        return f"{text}."
    has_more = len(names) > SHOWN or offending > len(rows)
    return f"{text}: {', '.join(names[:SHOWN])}{', …' if has_more else '.'}"


def _with_numbers(wrong: str, numbers: Mapping[str, str]) -> str:
    last = 0

    def part(found: re.Match[str]) -> str:
        nonlocal last
        if (column := found["number"]) is None:
            return agreed(last, found["one"], found["many"])
        last = int(numbers[column])
        return f"{last:,}"

    return _PART.sub(part, wrong)


def _cut(cell: str) -> str:
    plain = " ".join(cell.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


class Check(Struct, frozen=True):
    """A check; ``table`` is the table that it concerns, ``mart`` the mart, if any.

    ``description`` is the rule; ``wrong`` and ``named`` make the finding, see ``sentence``. ``query`` returns the
    offending rows.
    """

    name: str
    table: str
    severity: str
    blocking: bool
    description: str
    wrong: str
    named: str
    query: str
    mart: str | None = None


@cache
def checks() -> tuple[Check, ...]:
    """Return every check, ordered by name."""
    return tuple(
        sorted((*(_declared(path) for path in sql_files.listed("checks")), *_derived()), key=lambda check: check.name)
    )


def _derived() -> Iterator[Check]:
    """Yield the checks that follow from the definitions of the tables."""
    yield from map(_ends_in_the_table, history_tables())
    for of in tables():
        yield _unique_keys(of)
        if of.parent is not None:
            yield _has_parent(of, table(of.parent))


def _unique_keys(of: Table) -> Check:
    keys = ", ".join(map(quote, of.keys))
    lacking = " or ".join(f"{quote(key)} is null" for key in of.keys)
    return _blocking(
        of,
        f"{of.slug}_have_unique_keys",
        f"Every row has a unique key ({', '.join(of.keys)}) without nulls.",
        f"{{count}} [key|keys] of {of.title} [is|are] repeated or incomplete",
        f"select {keys}, count(*) as occurrences from {of.qualified} group by all having count(*) > 1 or {lacking}",
    )


def _has_parent(of: Table, parent: Table) -> Check:
    keys = ", ".join(f"child.{quote(key)}" for key in of.keys)
    pairs = zip(of.parent_key, parent.keys, strict=True)
    on = " and ".join(f"child.{quote(own)} = parent.{quote(key)}" for own, key in pairs)
    return _blocking(
        of,
        f"{of.slug}_belong_to_{parent.slug}",
        f"Every row belongs to a row of {parent.name}, by {', '.join(of.parent_key)}.",
        f"{{count}} [row|rows] of {of.title} [belongs|belong] to no row of {parent.title}",
        f"select {keys} from {of.qualified} as child anti join {parent.qualified} as parent on {on}",
    )


def _blocking(of: Table, name: str, description: str, wrong: str, query: str) -> Check:
    return Check(name, of.slug, "error", True, description, wrong, "/".join(f"{{{key}}}" for key in of.keys), query)


def _ends_in_the_table(history: Table) -> Check:
    root = table(history.name)
    single = root.name.removesuffix("s")
    query = sql_files.read("queries/history_ends.sql").format(
        key=quote(root.root_key),
        columns=", ".join(map(quote, tracked(history))),
        stored=root.qualified,
        history=history.qualified,
    )
    return Check(
        name=f"history_of_{root.name}_ends_in_the_table",
        table=root.slug,
        severity="warn",
        blocking=False,
        description=f"Every row of {root.name} equals the current version of the {single} in history.",
        wrong=f"{{count}} [row|rows] of {root.title} [differs|differ] from [its|their] current version in history",
        named="{id}",
        query=query,
    )


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
            wrong=headers["wrong"],
            named=headers.get("named", ""),
            query=query,
            mart=headers.get("mart"),
        )
    except KeyError as error:
        raise AnalyticsError(f"sql/{path} has no header {error}.") from None


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


class CheckResult(Struct, frozen=True):
    """The result of a check. ``finding`` describes the problem, with a few values; None if the check passed.

    ``sample`` has the first offending rows, which ``ops.checks`` does not keep.
    """

    check: Check
    offending: int
    finding: str | None
    sample: Sample = Sample()

    @property
    def passed(self) -> bool:
        """Return whether there are no offending rows."""
        return self.offending == 0

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
    if not offending:
        return CheckResult(check, offending, None)
    sample = _sample(connection, check.query)
    return CheckResult(check, offending, sentence(check.wrong, check.named, offending, [*sample.records]), sample)


def _sample(connection: duckdb.DuckDBPyConnection, query: str) -> Sample:
    """Return the first rows of a query, sorted by all columns so that the sample is always the same."""
    relation = connection.execute(f"select * from (\n{query}\n) order by all limit {SAMPLE_ROWS}")
    columns = tuple(str(column[0]) for column in relation.description or ())
    rows = (tuple("null" if cell is None else str(cell) for cell in row) for row in relation.fetchall())
    return Sample(columns, tuple(rows))
