"""Read the facts in the published tables: rows, loads, the last audit, checks, the inbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import duckdb
from msgspec import Struct, field

from wms_sync import sql_files
from wms_sync.errors import WmsSyncError
from wms_sync.reports.inbox import InboxEntry, open_entries
from wms_sync.settings import Settings
from wms_sync.shipments.load.checking import NO_ROWS, CheckResult, Sample, ask_whole_tables
from wms_sync.shipments.load.omitted import not_sent_lately
from wms_sync.state.engine import refuse_older
from wms_sync.state.store import StateStore
from wms_sync.targets.database import records, row_counts
from wms_sync.targets.errors import NothingCheckedError
from wms_sync.targets.target import target_of


class LastAudit(Struct, frozen=True):
    """The last audit, which reread the old shipments with ids above ``after_id``, up to ``to_id`` (None: the end).

    It marked ``missing`` shipments as missing; ``missing_in_all`` are so marked in total. Its round has read
    ``round_shipments`` of the ``shipments`` in the tables.
    """

    window_id: str
    run_id: str
    read_at: datetime
    after_id: int
    to_id: int | None
    compared: int
    changed: int
    orders_changed: int
    missed: int
    absent: int
    missing: int
    voided: int
    round_shipments: int
    shipments: int
    missing_in_all: int


class CheckFound(Struct, frozen=True):
    """The result of one check. ``finding`` describes the problem, with a few values; None if there is no problem.

    ``sample`` has the first offending rows; it is empty if these rows are not stored.
    """

    name: str
    severity: str
    finding: str | None
    offending: int
    sample: Sample = NO_ROWS


class Published(Struct, frozen=True):
    """The facts in the published tables; empty if there are no tables. ``unreadable`` says why they cannot be opened.

    ``inbox`` does not show acknowledgements. ``not_sent`` has a sentence for each name of data that was requested but
    not sent.
    """

    at: datetime | None = None
    rows: dict[str, int] = field(default_factory=dict)
    last_loads: tuple[dict[str, object], ...] = ()
    last_audit: LastAudit | None = None
    not_sent: Mapping[str, str] = {}
    checks: tuple[CheckFound, ...] = ()
    inbox: tuple[InboxEntry, ...] = ()
    unreadable: str | None = None


def published_of(settings: Settings) -> Published:
    """Return the facts in the published tables; only ``at`` and ``unreadable`` if they cannot be opened."""
    target, at = target_of(settings), None
    try:
        if not target.is_published:
            return Published()
        at = target.published_at
        with target.published() as connection, StateStore(settings.database_url) as store:
            return _read(at, connection, store)
    except (WmsSyncError, duckdb.Error) as error:
        return Published(at, unreadable=str(error))


def _read(at: datetime | None, connection: duckdb.DuckDBPyConnection, store: StateStore) -> Published:
    audits = records(connection.execute(sql_files.read("queries/last_audit.sql")))
    rows = row_counts(connection)
    has_found = rows["ops_quarantine"] or rows["ops_schema_drift"]
    return Published(
        at=at,
        rows=rows,
        last_loads=tuple(records(connection.execute(sql_files.read("queries/last_loads.sql")))),
        last_audit=next((LastAudit(**row) for row in audits), None),
        not_sent=not_sent_lately(connection),
        checks=_last_checks(connection),
        inbox=open_entries(connection, store) if has_found else (),
    )


def _last_checks(connection: duckdb.DuckDBPyConnection) -> tuple[CheckFound, ...]:
    rows = records(connection.execute("select name, severity, finding, offending from ops.checks order by name"))
    return tuple(CheckFound(**row) for row in rows)


def last_checks(settings: Settings) -> Sequence[CheckFound]:
    """Return the check results of the load that published the tables.

    Raise ``NothingCheckedError`` if no tables are published.
    """
    _refuse_unpublished(settings)
    with target_of(settings).published() as connection:
        return _last_checks(connection)


def check_whole_tables(settings: Settings) -> Sequence[CheckFound]:
    """Run every check on the whole published tables. Raise ``NothingCheckedError`` if no tables are published."""
    _refuse_unpublished(settings)
    with target_of(settings).published(memory_limit=settings.memory_limit) as connection:
        return [_found(result) for result in ask_whole_tables(connection)]


def _found(result: CheckResult) -> CheckFound:
    check = result.check
    return CheckFound(check.name, check.severity, result.finding, result.offending, result.sample)


def _refuse_unpublished(settings: Settings) -> None:
    refuse_older(settings.database_url)
    if not target_of(settings).is_published:
        raise NothingCheckedError("Nothing can be checked: nothing is published yet. Run `wms-sync sync` first.")
