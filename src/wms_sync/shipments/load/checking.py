"""Run the checks on the rows that a load changed or on whole tables, and record the results.

A check that found nothing in the whole tables can find something only in rows that changed since. So a load checks only
the rows whose shipment, order or other root object is on a page that it merged.
Whole tables are checked
- by a check that found something in its last run;
- by every check at a rebuild, at the end of an audit round, if the release or any check has changed, and when the load
  is so large that this costs less.

``ops.checks`` holds the result of each check and is published with the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import literal, ops_tables, quote, table, tables
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import FlattenedWindow
from wms_sync.shipments.load.checks import Check, checks, copies, counted_rows, expressions, release, sentence
from wms_sync.targets.database import records, replace_rows, row_counts
from wms_sync.targets.errors import AnalyticsError

SAMPLE_ROWS = 5
LARGE = 4
"""Whole tables are checked if a load has more than one in this number of all shipments."""
WHOLE = "whole tables"
OF_LOAD = "the rows of this load"
RELATIONS = (*tables(), *ops_tables())


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
    """The result of a check. ``sample`` has the first offending rows.

    ``rows`` is the number of rows of the check's table that were checked; ``asked`` describes these rows.
    """

    check: Check
    offending: int
    sample: Sample
    rows: int
    asked: str

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


class _Found(Struct, frozen=True):
    """A row of ``ops.checks``."""

    name: str
    table_slug: str
    severity: str
    blocking: bool
    offending: int
    rows_asked: int
    asked: str
    whole_at: datetime
    rows_in_table: int
    release: str
    finding: str | None


class Checked(Struct, frozen=True):
    """The results of all checks, by name, and the number of rows by table."""

    results: tuple[CheckResult, ...]
    rows: Mapping[str, int]

    @property
    def accepted(self) -> bool:
        """Return whether no check blocks publishing."""
        return not any(result.blocks_publishing for result in self.results)


def ask_after_load(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    windows: Mapping[str, FlattenedWindow],
    *,
    everything: bool,
) -> Checked:
    """Run every check on tables into which a load has merged these ``windows``, and record the results.

    Whole tables are checked if ``everything`` was merged again, or for the reasons at the top of this module.
    """
    rows = row_counts(connection, RELATIONS)
    found = records(connection.execute("from ops.checks where release = ?", [release()]))
    before = {row["name"]: _Found(**row) for row in found}
    connection.execute(
        "create or replace temp table load_windows as select unnest($1::text[]) as window_id", [list(windows)]
    )
    merged = connection.execute(sql_files.read("asked/windows.sql")).fetchall()
    whole = (
        everything
        or before.keys() != {check.name for check in checks()}
        or any(ended for *_, ended in merged)
        or sum(shipments for _, shipments, _ in merged) * LARGE > rows["shipments"]
    )
    limited = [] if whole else [check for check in checks() if not before[check.name].offending]
    results = _OfLoad(connection, layout, windows.values(), rows, before).ask(limited) if limited else []
    results += _of_whole_tables(connection, [check for check in checks() if check not in limited], rows)
    results.sort(key=lambda result: result.check.name)
    now = datetime.now(UTC)
    rows["ops_checks"] = len(results)
    replace_rows(connection, "checks", [_row(result, rows, before, now) for result in results])
    return Checked(tuple(results), rows)


def ask_whole_tables(
    connection: duckdb.DuckDBPyConnection, asked: Sequence[Check] | None = None
) -> tuple[CheckResult, ...]:
    """Run these checks, by default all, on whole tables, without recording the results."""
    return tuple(_of_whole_tables(connection, checks() if asked is None else asked, row_counts(connection, RELATIONS)))


class _OfLoad:
    """Runs checks that passed before on the rows that a load may have changed."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        windows: Collection[FlattenedWindow],
        rows: Mapping[str, int],
        before: Mapping[str, _Found],
    ) -> None:
        self._connection = connection
        self._windows = windows
        self._layout = layout
        self._rows = rows
        self._before = before

    def ask(self, passed: Sequence[Check]) -> list[CheckResult]:
        """Return the results of these checks, run in one statement."""
        files = {
            table.name: [file for window in self._windows for file in window.files(self._layout, table.slug)]
            for table in tables()
            if table.schema != "ops" and table.is_root
        }
        _fill_load_keys(self._connection, files)
        changed = {
            table.slug
            for table in tables()
            if self._rows[table.slug] and (self._windows if table.schema == "ops" else files[table.root])
        }
        asked = [check for check in passed if self._may_find(check, changed)]
        slugs = tuple(dict.fromkeys(slug for check in asked for slug in check.reads))
        for statement in copies(slugs):
            self._connection.execute(statement)
        common = expressions(slugs)
        counts = [_offending(check.name, check.limited) for check in asked]
        counts += [f"select {literal(slug)}, ({counted_rows(slug)})" for slug in slugs]
        found = _counted(self._connection, counts, common)
        return [self._result(check, common, found) for check in passed]

    def _may_find(self, check: Check, changed: Container[str]) -> bool:
        """Return whether a check that passed before may find something now.

        It cannot if its table is empty, except with scope ``everything`` outside ``ops``: such a check also reads small
        tables of windows.
        """
        if check.comes_from is not None and not self._rows[check.comes_from]:
            return False
        if check.scope == "everything":
            return self._rows[check.table] > 0 or table(check.table).schema != "ops"
        return self._rows[check.table] > 0 and any(slug in changed for slug in check.reads)

    def _result(self, check: Check, common: str, counted: Mapping[str, int]) -> CheckResult:
        if check.scope == "whole tables":
            before = self._before[check.name]
            asked = f"{WHOLE}, at {before.whole_at:%Y-%m-%d %H:%M:%S} UTC"
            return CheckResult(check, 0, NO_ROWS, before.rows_asked, asked)
        offending = counted.get(check.name, 0)
        sample = _sample(self._connection, check.limited, common) if offending else NO_ROWS
        if check.scope == "everything":
            return CheckResult(check, offending, sample, self._rows[check.table], WHOLE)
        return CheckResult(check, offending, sample, counted.get(check.table, 0), OF_LOAD)


def _of_whole_tables(
    connection: duckdb.DuckDBPyConnection, asked: Sequence[Check], rows: Mapping[str, int]
) -> list[CheckResult]:
    found: dict[str, int] = {}
    for check in asked:  # one at a time, because each takes its own memory
        found |= _counted(connection, [_offending(check.name, check.query)])
    return [
        CheckResult(
            check,
            found[check.name],
            _sample(connection, check.query) if found[check.name] else NO_ROWS,
            rows[check.table],
            WHOLE,
        )
        for check in asked
    ]


def _row(result: CheckResult, rows: Mapping[str, int], before: Mapping[str, _Found], now: datetime) -> SimpleNamespace:
    """Return the row of ``ops.checks`` for a result."""
    check = result.check
    return SimpleNamespace(
        name=check.name,
        table_slug=check.table,
        severity=check.severity,
        blocking=check.blocking,
        offending=result.offending,
        rows_asked=result.rows,
        asked=result.asked,
        whole_at=now if result.asked == WHOLE else before[check.name].whole_at,
        rows_in_table=rows[check.table],
        release=release(),
        finding=result.finding,
    )


def _fill_load_keys(connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[str]]) -> None:
    """Fill the temporary table ``load_keys`` with the keys in these files, by root table."""
    keys = [
        f"union all select {literal(root)}, {quote(key)} from read_parquet(${root})"
        for root, key in ((table.name, table.root_key) for table in tables() if files.get(table.name))
    ]
    connection.execute(
        sql_files.read("asked/load_keys.sql").format(keys="\n    ".join(keys)),
        {root: listed for root, listed in files.items() if listed},
    )


def _offending(name: str, query: str) -> str:
    return f"select {literal(name)}, count(*) from (\n{query}\n)"


def _counted(connection: duckdb.DuckDBPyConnection, counts: Sequence[str], common: str = "") -> dict[str, int]:
    if not counts:
        return {}
    try:
        return dict(connection.execute(f"{common}\n" + "\nunion all\n".join(counts)).fetchall())
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise AnalyticsError(f"A check could not be run: {error}") from None


def _sample(connection: duckdb.DuckDBPyConnection, query: str, common: str = "") -> Sample:
    """Return the first rows of a query, sorted by all columns so that the sample is always the same."""
    relation = connection.execute(f"{common}\nselect * from (\n{query}\n) order by all limit {SAMPLE_ROWS}")
    columns = tuple(str(column[0]) for column in relation.description or ())
    rows = (tuple("null" if cell is None else str(cell) for cell in row) for row in relation.fetchall())
    return Sample(columns, tuple(rows))
