"""The checks: queries that return the offending rows. A failed blocking check prevents publishing.

The checks for unique keys, for the parents of children and for the ends of histories are derived from ``sql/tables``
and ``sql/history``. Every other check is a file in ``sql/checks`` that declares ``-- severity: error|warn``,
``-- blocking: yes|no``, ``-- table:``, ``-- description:`` (the rule), ``-- wrong:`` and ``-- named:`` (see
``sentence``) and ``-- asked:``, one of
- ``the rows of shipments, orders``: after a load, the query reads only the rows of these tables that the load may have
  changed. It names them without a schema; ``main.orders`` is always the whole table.
- ``everything, because ...``: each load checks everything, which must be cheap.
- ``whole tables, because ...``: cannot be limited to the rows of a load, so it runs only when whole tables are checked.
With ``-- from:`` each offending row comes from a row of that table, so a load skips the check while the table is empty.
With ``-- mart:`` the check concerns that mart, and a catalogue shows it there.

Belongs here: the queries and their sentences. Keep out: running checks and recording results (``checking``).

A finding is a sentence with a few values: ``3 statuses are unknown: teleported (shipments.status), …``. ``wrong`` is
its first part: ``{count}`` is the number of offending rows, any other name in braces is a numeric column of the first
row, and ``[status is|statuses are]`` agrees with the preceding number. ``named`` is the name of each offending row,
made of columns without personal data and without free text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Literal

from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, history_tables, literal, quote, table, tables, tracked
from wms_sync.grammar import agreed
from wms_sync.targets.errors import AnalyticsError

SHOWN = 3
LONGEST = 60
"""The maximum number of characters shown of a value: a code may be any string that the service sent."""
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


Scope = Literal["rows", "everything", "whole tables"]
_ROWS = "the rows of "
_OF_LOAD = "_of_load"


class Check(Struct, frozen=True):
    """A check; ``table`` is the table that it concerns, ``mart`` the mart, if any.

    ``description`` is the rule; ``wrong`` and ``named`` make the finding, see ``sentence``. ``query`` reads whole
    tables. ``limited`` reads the rows of a load; it needs the common table expressions of ``expressions``. The two
    queries are equal if the scope is not ``rows``. ``reads`` are the tables from which the load's rows are taken. The
    check finds nothing while ``comes_from`` has no rows.
    """

    name: str
    table: str
    severity: str
    blocking: bool
    description: str
    wrong: str
    named: str
    query: str
    scope: Scope
    limited: str
    reads: tuple[str, ...] = ()
    comes_from: str | None = None
    mart: str | None = None


@cache
def checks() -> tuple[Check, ...]:
    """Return every check, ordered by name."""
    declared = (_declared(path) for path in sql_files.listed("checks"))
    return tuple(sorted((*declared, *_derived()), key=lambda check: check.name))


@cache
def release() -> str:
    """Return the release of wms-sync with a digest of its checks, which distinguishes sets of checks."""
    asked = "".join(f"{check.name}{check.query}{check.limited}" for check in checks())
    return f"{version('wms-sync')} {hashlib.sha256(asked.encode()).hexdigest()[:12]}"


def counted_rows(slug: str) -> str:
    """Return the query for the number of rows of a table that a load may have changed; see ``expressions``."""
    return f"select count(*) from {quote(slug + _OF_LOAD)}"


def expressions(slugs: Sequence[str]) -> str:
    """Return the common table expressions for the rows of these tables that a load may have changed.

    ``<slug>_of_load`` has the keys and is computed once. If checks read other columns too, a second expression
    (every column, from ``copies``) hides the table by having its name. A third has the rows of the table's history.
    """
    parts: list[str] = []
    histories = {table(history.name).slug: history for history in history_tables()}
    for slug in dict.fromkeys(slugs):
        of = table(slug)
        columns = ", ".join(map(quote, dict.fromkeys((of.root_key, *of.keys, *of.parent_key))))
        is_copied = slug in _read_whole()
        keys = f"select {columns} from {_copy(slug)}" if is_copied else _rows_of_load(of, columns)
        parts.append(f"{quote(slug + _OF_LOAD)} as materialized ({keys})")
        if is_copied:
            parts.append(f"{quote(slug)} as not materialized (from {_copy(slug)})")
        if slug in histories:
            rows = _rows_of_load(histories[slug], "*")
            parts.append(f"{quote(_history_of_load(slug))} as not materialized ({rows})")
    return "with " + ",\n".join(parts) if parts else ""


def copies(slugs: Sequence[str]) -> Iterator[str]:
    """Yield statements that copy the rows that a load may have changed, if checks read more of a table than the keys.

    The checks use these rows dozens of times, and each use would search a whole table.
    """
    for slug in dict.fromkeys(slugs):
        if slug in _read_whole():
            yield f"create or replace temp table {_copy(slug)} as {_rows_of_load(table(slug), '*')}"


def _copy(slug: str) -> str:
    return quote(f"copied_{slug}")


def _history_of_load(slug: str) -> str:
    return f"history_of_{slug}{_OF_LOAD}"


def _rows_of_load(of: Table, columns: str) -> str:
    path = "rows_of_windows" if of.schema == "ops" else "rows_of_load"
    return sql_files.read(f"asked/{path}.sql").format(
        columns=columns, table=of.qualified, root_key=quote(of.root_key), root=literal(of.root)
    )


@cache
def _read_whole() -> frozenset[str]:
    """Return the tables of which a check reads columns other than the keys."""
    by_files = (slug for path in sql_files.listed("checks") for slug in _declared(path).reads)
    return frozenset((*by_files, *(history.name for history in history_tables())))


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
        f"{of.slug}_have_unique_keys",
        f"Every row has a unique key ({', '.join(of.keys)}) without nulls.",
        f"{{count}} [key|keys] of {of.title} [is|are] repeated or incomplete",
        f"select {keys}, count(*) as occurrences from {{0}} group by all having count(*) > 1 or {lacking}",
        of,
    )


def _has_parent(of: Table, parent: Table) -> Check:
    keys = ", ".join(f"child.{quote(key)}" for key in of.keys)
    pairs = zip(of.parent_key, parent.keys, strict=True)
    on = " and ".join(f"child.{quote(own)} = parent.{quote(key)}" for own, key in pairs)
    return _blocking(
        f"{of.slug}_belong_to_{parent.slug}",
        f"Every row belongs to a row of {parent.name}, by {', '.join(of.parent_key)}.",
        f"{{count}} [row|rows] of {of.title} [belongs|belong] to no row of {parent.title}",
        f"select {keys} from {{0}} as child anti join {{1}} as parent on {on}",
        of,
        parent,
    )


def _ends_in_the_table(history: Table) -> Check:
    root = table(history.name)
    single = root.name.removesuffix("s")

    def query(stored: str, versions: str) -> str:
        return sql_files.read("asked/history_ends.sql").format(
            key=quote(root.root_key),
            columns=", ".join(map(quote, tracked(history))),
            stored=stored,
            history=versions,
        )

    return Check(
        name=f"history_of_{root.name}_ends_in_the_table",
        table=root.slug,
        severity="warn",
        blocking=False,
        description=f"Every row of {root.name} equals the current version of the {single} in history.",
        wrong=f"{{count}} [row|rows] of {root.title} [differs|differ] from [its|their] current version in history",
        named="{id}",
        query=query(root.qualified, history.qualified),
        scope="rows",
        limited=query(quote(root.slug), quote(_history_of_load(root.slug))),
        reads=(root.slug,),
    )


def _blocking(name: str, description: str, wrong: str, query: str, *reads: Table) -> Check:
    """Return a blocking check of the first of these tables; the query has a placeholder for each of them."""
    return Check(
        name=name,
        table=reads[0].slug,
        severity="error",
        blocking=True,
        description=description,
        wrong=wrong,
        named="/".join(f"{{{key}}}" for key in reads[0].keys),
        query=query.format(*(of.qualified for of in reads)),
        scope="rows",
        limited=query.format(*(quote(of.slug + _OF_LOAD) for of in reads)),
        reads=tuple(of.slug for of in reads),
    )


def _declared(path: str) -> Check:
    query = sql_files.read(path)
    headers = sql_files.headers(query)
    try:
        asked = headers["asked"]
        return Check(
            name=sql_files.stem(path),
            table=headers["table"],
            severity=headers["severity"],
            blocking=headers["blocking"] == "yes",
            description=headers["description"],
            wrong=headers["wrong"],
            named=headers.get("named", ""),
            query=query,
            scope=_scope(path, asked),
            limited=query,
            reads=tuple(asked.removeprefix(_ROWS).split(", ")) if asked.startswith(_ROWS) else (),
            comes_from=headers.get("from"),
            mart=headers.get("mart"),
        )
    except KeyError as error:
        raise AnalyticsError(f"sql/{path} has no header {error}.") from None


def _scope(path: str, asked: str) -> Scope:
    if asked.startswith(_ROWS):
        return "rows"
    if asked.startswith("everything, because "):
        return "everything"
    if asked.startswith("whole tables, because "):
        return "whole tables"
    raise AnalyticsError(
        f"The header asked of sql/{path} is {asked!r}. Write `the rows of <tables>`, `everything, because <reason>` or "
        "`whole tables, because <reason>`."
    )
