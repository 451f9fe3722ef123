"""When checks are asked of what, and what is remembered of it: a load asks about what it may have changed.

A check that found nothing in the whole tables can only find something in rows that were changed since. So a load asks
of the rows whose shipment, order or other root object is on a page that no check was asked about, whichever run merged
it: receipts in ``ops.loads`` without ``checked_at``. They are written in the merge's transaction, and completed only
once every check was asked and none blocks. So rows of a load that was killed or refused are asked about again, and a
working file that is restored from the published one brings along what was asked about that one.

Whole tables are asked

- by a check that found something when it was last asked;
- by every check at the first load of a file or a release, at a rebuild, at the end of an audit round, when rows came or
  went outside a load, when the Parquet files of a window are gone, and when the load is so large that it costs less.

``ops.checks`` holds what each check found, in the same file as the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import SimpleNamespace

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.analytics.checks import (
    Check,
    checks,
    copies,
    counted_rows,
    doubled_keys,
    expressions,
    keys_check,
    release,
)
from wms_sync.analytics.database import (
    FULL,
    Places,
    is_filled,
    make_room,
    places,
    records,
    replace_rows,
    row_counts,
    transaction,
)
from wms_sync.analytics.errors import AnalyticsError
from wms_sync.analytics.finding import sentence
from wms_sync.analytics.one_transaction import OneTransaction
from wms_sync.analytics.tally import Tally, counted
from wms_sync.catalogue import Table, literal, ops_tables, quote, table, tables
from wms_sync.flatten.window import FlattenedWindow, flattened_window, is_flattened
from wms_sync.layout import Layout

SAMPLE_ROWS = 5
LARGE = 4
"""A load that brings more than one in so many of all shipments asks whole tables."""
COUNTED = 0.3
"""A share of the memory limit: counting all rows may take so much before the load begins."""
FEWER = 8
"""Checks that have too little memory together are asked so many times fewer at once."""
FEW = 1_000_000
"""The keys of so many rows are looked at in one table of groups: each takes 2 MiB, which costs more than its rows."""
WHOLE = "whole tables"
OF_LOAD = "the rows of this load"
RELATIONS = (*tables(), *ops_tables())


class Sample(Struct, frozen=True):
    """The first offending rows of a check, as texts; none if it passed."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def records(self) -> Iterator[Mapping[str, str]]:
        """Yield the rows by column."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    @property
    def lines(self) -> Iterator[str]:
        """Yield the lines of a table for a terminal: the names of the columns, then each row."""
        for row in (self.columns, *self.rows) if self.rows else ():
            yield " | ".join(" ".join(cell.split()) for cell in row)


NO_ROWS = Sample()


class CheckResult(Struct, frozen=True):
    """What a check found. ``sample`` has the first offending rows.

    ``rows`` is the number of rows of the check's table that were looked at, ``asked`` says which.
    """

    check: Check
    offending: int
    sample: Sample
    rows: int
    asked: str

    @property
    def passed(self) -> bool:
        """Return whether no row offends."""
        return self.offending == 0

    @property
    def finding(self) -> str | None:
        """Return what is wrong, with a few values; None if the check passed."""
        if self.passed:
            return None
        return sentence(self.check.wrong, self.check.named, self.offending, list(self.sample.records))

    @property
    def blocks_publishing(self) -> bool:
        """Return whether the check failed and is a blocking one."""
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


class Counting:
    """Counts the rows of tables. Where the memory is not enough for all at once, it counts table by table.

    Call ``go_on`` until it returns True, each time with the file opened anew. Then ``rows`` are the numbers by table.
    ``committed`` as in ``row_counts``.
    """

    def __init__(self, of: Sequence[Table], memory_limit: str, *, committed: bool = True) -> None:
        self.rows: dict[str, int] = {}
        self._left = list(of)
        self._memory_limit = memory_limit
        self._at_once = True
        self._committed = committed

    @property
    def is_complete(self) -> bool:
        """Return whether every table was counted."""
        return not self._left

    def go_on(self, connection: duckdb.DuckDBPyConnection, *, alone: bool) -> bool:
        """Count what is left; return whether that was all.

        Raise ``duckdb.OutOfMemoryException`` if the file was opened for this ``alone`` and one table is too much.
        """
        while self._left:
            part = self._left if self._at_once else self._left[:1]
            try:
                self.rows |= row_counts(connection, part, committed=self._committed)
            except duckdb.OutOfMemoryException:
                if alone and not self._at_once:
                    raise
                self._at_once = False
                return False
            self._left = self._left[len(part) :]
            if self._left and is_filled(connection, self._memory_limit, COUNTED):
                return False
            alone = False  # what was just counted takes some of the memory
        return True


class Checking:
    """Asks every check about the working file that a load has changed.

    Call ``begin`` before the load changes anything, then ``ask`` until ``is_complete``, each time with the file opened
    anew. Then ``rows`` are the numbers of rows by table, and ``is_news`` is whether windows were merged that no check
    was asked about, so that what is published now is new.
    """

    def __init__(self, layout: Layout, memory_limit: str) -> None:
        self.is_complete = False
        self.is_news = False
        self.results: list[CheckResult] = []
        self._counted_before = Counting(tables(), memory_limit)
        self._counted = Counting(RELATIONS, memory_limit, committed=False)
        self._knows_what_to_count = False
        self._rows_before: dict[str, int] = {}
        self._places_before: Places = {}
        self._since: int | None = None
        self._wrote: Mapping[str, int] = {}
        self._layout = layout
        self._memory_limit = memory_limit
        self._before: dict[str, _Found] | None = None
        self.has_begun = False
        self._whole = False
        self._at_once = len(checks())

    @property
    def rows(self) -> dict[str, int]:
        """Return the numbers of rows by table."""
        return self._counted.rows

    @property
    def accepted(self) -> bool:
        """Return whether no check blocks publishing."""
        return not any(result.blocks_publishing for result in self.results)

    def begin(self, connection: duckdb.DuckDBPyConnection, *, is_as_left: bool = False) -> bool:
        """Read what the checks found last, and whether the tables are still as they were then; once.

        If they are surely ``is_as_left`` by the load that asked last, no row is counted. Return whether the file should
        be opened anew: there is more to count, or it took much of the memory.
        """
        if self.has_begun:
            return False
        self._places_before = places(connection)
        if self._before is None:
            found = records(connection.execute("from ops.checks where release = ?", [release()]))
            self._before = {row["name"]: _Found(**row) for row in found}
            self._whole = self._before.keys() != {check.name for check in checks()}
        if not self._whole:
            known = {one.slug: self._before[keys_check(one.slug)].rows_in_table for one in tables()}
            if not is_as_left and not self._counted_before.go_on(connection, alone=True):
                return True
            self._whole = not is_as_left and self._counted_before.rows != known
            self._rows_before = {one.slug: known[one.slug] for one in counted()}
        self.has_begun = True
        return is_filled(connection, self._memory_limit, COUNTED)

    def ask(self, connection: duckdb.DuckDBPyConnection, *, alone: bool, tally: Tally | None = None) -> None:
        """Ask what is left to ask, and record what was found once everything was asked.

        With a ``tally`` of what the load did, tables are neither counted nor searched for the load's rows where it
        agrees with them. If the memory is not enough, return: closing the file frees it. If the file was opened for
        this ``alone``, raise ``duckdb.OutOfMemoryException`` instead where no check could be asked.
        """
        windows = connection.execute(sql_files.read("asked/windows.sql")).fetchall()
        if not self._knows_what_to_count:
            self._use(connection, tally, windows)
        was_counted = self._counted.is_complete
        if not self._counted.go_on(connection, alone=alone):
            return
        alone = alone and was_counted  # what was just counted takes some of the memory
        self.is_news = bool(windows)
        self._whole = self._whole or self._asks_whole_tables(windows, self.rows["shipments"])
        if self._whole and not alone and is_filled(connection, self._memory_limit):
            return
        limited = [] if self._whole else [check for check in self._left() if not self._found(check).offending]
        while limited:
            part, limited = limited[: self._at_once], limited[self._at_once :]
            try:
                self.results += self._of_load(connection, [window for window, _, _ in windows], part)
            except duckdb.OutOfMemoryException:
                if alone and len(part) == 1:
                    raise
                if alone:
                    self._at_once = max(1, len(part) // FEWER)
                return
            alone = False  # what was just asked takes some of the memory
        self.results += _while_there_is_memory(connection, self._left(), self.rows, alone=alone)
        if len(self.results) == len(checks()):
            self.results.sort(key=lambda result: result.check.name)
            make_room(connection, self._memory_limit, FULL)
            self._record(connection)
            self.is_complete = True

    def _use(
        self, connection: duckdb.DuckDBPyConnection, tally: Tally | None, windows: Sequence[tuple[str, int, bool]]
    ) -> None:
        """Look at the tally: which tables are still to be counted, and whether the load's rows are the latest ones."""
        self._knows_what_to_count = True
        if self._whole or tally is None:
            return
        is_alone = isinstance(connection, OneTransaction)  # in a transaction of its own, in which nobody else writes
        if not is_alone and not tally.is_all_that_changed(self._places_before, places(connection)):
            return
        known = tally.rows(self._rows_before)
        if not known or self._asks_whole_tables(windows, known["shipments"]):
            return
        uncounted = [one for one in RELATIONS if one.slug not in known]
        self._counted = Counting(uncounted, self._memory_limit, committed=False)
        self._counted.rows |= known
        if tally.is_plain and tally.groups == 1 and tally.windows == {window for window, _, _ in windows}:
            self._since, self._wrote = tally.since, tally.inserted

    def _left(self) -> list[Check]:
        known = {result.check.name for result in self.results}
        return [check for check in checks() if check.name not in known]

    def _asks_whole_tables(self, windows: Sequence[tuple[str, int, bool]], stored: int) -> bool:
        return (
            any(ended_a_round or not is_flattened(self._layout, window) for window, _, ended_a_round in windows)
            or sum(shipments for _, shipments, _ in windows) * LARGE > stored
        )

    def _of_load(
        self, connection: duckdb.DuckDBPyConnection, windows: Sequence[str], passed: Sequence[Check]
    ) -> list[CheckResult]:
        """Return the results of checks that passed before, asked in one statement of the rows of these windows."""
        files = self._files([flattened_window(self._layout, window) for window in windows])
        if self._since is None:
            _fill_load_keys(connection, files)
        filled = [one for one in tables() if self.rows[one.slug]]
        changed = {one.slug for one in filled if (windows if one.schema == "ops" else files[one.root])}
        asked = [check for check in passed if self._may_find(check, changed)]
        slugs = tuple(slug for check in asked for slug in check.reads)
        is_copied = isinstance(connection, OneTransaction)
        for statement in copies(slugs, self._since) if is_copied else ():
            connection.execute(statement)
        common = expressions(slugs, self._since, copied=is_copied)
        is_small = self._since is not None and sum(self._wrote.values()) <= FEW
        at_once = [check for check in asked if check.is_of_keys] if is_small else []
        counts = [_offending(check) for check in asked if check not in at_once]
        counts += [f"({doubled_keys([check.table for check in at_once])})"] if at_once else []
        counts += [f"select {literal(slug)}, ({counted_rows(slug)})" for slug in dict.fromkeys(slugs)]
        found = dict(connection.execute(f"{common}\n" + "\nunion all\n".join(counts)).fetchall()) if counts else {}
        doubtful = [_offending(check) for check in at_once if check.name in found]
        if doubtful:
            found |= dict(connection.execute(f"{common}\n" + "\nunion all\n".join(doubtful)).fetchall())
        if self._since is not None and any(found.get(slug, 0) != self._wrote[slug] for slug in _of_objects(slugs)):
            self._since = None  # somebody changed them afterwards
            return self._of_load(connection, windows, passed)
        return [self._result(connection, check, common, found) for check in passed]

    def _may_find(self, check: Check, changed: Container[str]) -> bool:
        """Return whether a check may find something now that found nothing before: not in a table without rows.

        One that is asked of everything and is about shipments reads small tables about windows.
        """
        if check.comes_from is not None and not self.rows[check.comes_from]:
            return False
        if check.scope == "everything":
            return self.rows[check.table] > 0 or table(check.table).schema != "ops"
        return self.rows[check.table] > 0 and any(slug in changed for slug in check.reads)

    def _files(self, windows: Sequence[FlattenedWindow]) -> dict[str, list[str]]:
        """Return the Parquet files of these windows by root table."""
        return {
            one.name: [file for window in windows for file in window.files(self._layout, one.slug)]
            for one in counted()
            if one.is_root
        }

    def _result(
        self, connection: duckdb.DuckDBPyConnection, check: Check, common: str, counted: Mapping[str, int]
    ) -> CheckResult:
        if check.scope == "whole tables":
            before = self._found(check)
            asked = f"{WHOLE}, at {before.whole_at:%Y-%m-%d %H:%M:%S} UTC"
            return CheckResult(check, 0, NO_ROWS, before.rows_asked, asked)
        offending = counted.get(check.name, 0)
        sample = _sample(connection, check.limited, common) if offending else NO_ROWS
        if check.scope == "everything":
            return CheckResult(check, offending, sample, self.rows[check.table], WHOLE)
        return CheckResult(check, offending, sample, counted.get(check.table, 0), OF_LOAD)

    def _found(self, check: Check) -> _Found:
        assert self._before is not None, "begin was not called"  # noqa: S101 - a defect
        return self._before[check.name]

    def _record(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write ``ops.checks``, and, if no check blocks, that every window was asked about."""
        now = datetime.now(UTC)
        found = [self._row(result, now) for result in self.results]
        self.rows["ops_checks"] = len(found)
        with transaction(connection):
            replace_rows(connection, "checks", found)
            if self.accepted:
                connection.execute("update ops.loads set checked_at = ? where checked_at is null", [now])

    def _row(self, result: CheckResult, now: datetime) -> SimpleNamespace:
        check = result.check
        return SimpleNamespace(
            name=check.name,
            table_slug=check.table,
            severity=check.severity,
            blocking=check.blocking,
            offending=result.offending,
            rows_asked=result.rows,
            asked=result.asked,
            whole_at=now if result.asked == WHOLE else self._found(check).whole_at,
            rows_in_table=self.rows[check.table],
            release=release(),
            finding=result.finding,
        )


def ask_whole_tables(
    open_file: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]],
    asked: Sequence[Check],
    *,
    memory_limit: str,
) -> tuple[CheckResult, ...]:
    """Ask these checks of whole tables, and record nothing.

    ``open_file`` opens the file with ``memory_limit``. DuckDB keeps some data of each table that it has read, such as
    which rows were deleted, in memory until the file is closed. If that leaves too little memory for a check, the check
    is repeated on a freshly opened file.
    """
    found: list[CheckResult] = []
    counting = Counting(RELATIONS, memory_limit)
    while not counting.is_complete:
        with open_file() as connection:
            counting.go_on(connection, alone=True)
    rows = counting.rows
    while len(found) < len(asked):
        with open_file() as connection:
            found += _while_there_is_memory(connection, asked[len(found) :], rows, alone=True)
    return tuple(found)


def _fill_load_keys(connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[str]]) -> None:
    """Fill the temporary table ``load_keys`` with the keys that these files show, by root table."""
    keys = [
        f"union all select {literal(root)}, {quote(key)} from read_parquet(${root})"
        for root, key in ((one.name, one.root_key) for one in tables() if files.get(one.name))
    ]
    connection.execute(
        sql_files.read("asked/load_keys.sql").format(keys="\n    ".join(keys)),
        {root: listed for root, listed in files.items() if listed},
    )


def _offending(check: Check) -> str:
    return f"select {literal(check.name)}, count(*) from ({check.limited})"


def _of_objects(slugs: Sequence[str]) -> Sequence[str]:
    return [one.slug for one in counted() if one.slug in slugs]


def _while_there_is_memory(
    connection: duckdb.DuckDBPyConnection, left: Sequence[Check], rows: Mapping[str, int], *, alone: bool
) -> Iterator[CheckResult]:
    """Raise ``duckdb.OutOfMemoryException`` if the first has too little memory in a file opened for it ``alone``."""
    for number, check in enumerate(left):
        try:
            offending, sample = _ask(connection, check)
        except duckdb.OutOfMemoryException:
            if alone and number == 0:
                raise
            return
        yield CheckResult(check, offending, sample, rows[check.table], WHOLE)


def _ask(connection: duckdb.DuckDBPyConnection, check: Check) -> tuple[int, Sample]:
    try:
        sample = _sample(connection, check.query)
        if len(sample.rows) < SAMPLE_ROWS:
            return len(sample.rows), sample
        counted = connection.execute(f"select count(*) from ({check.query})").fetchone()
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise AnalyticsError(f"The check {check.name} could not be run: {error}") from None
    return int(counted[0]) if counted else 0, sample


def _sample(connection: duckdb.DuckDBPyConnection, query: str, common: str = "") -> Sample:
    """Return the first rows of a query in their own order: the same rows are always shown in the same way."""
    relation = connection.execute(f"{common}\nselect * from (\n{query}\n) order by all limit {SAMPLE_ROWS}")
    columns = tuple(str(column[0]) for column in relation.description or ())
    return Sample(columns, tuple(tuple(map(_as_text, row)) for row in relation.fetchall()))


def _as_text(cell: object) -> str:
    return "null" if cell is None else str(cell)
