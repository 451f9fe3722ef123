"""Tables of the state store, and the named, ordered migrations that create them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    inspect,
    select,
)

from wms_sync.layout import LONGEST_ID
from wms_sync.state.errors import StateOlder

METADATA = MetaData()
Migration = tuple[str, Callable[[Connection], object]]
MIGRATIONS: tuple[Migration, ...] = (("0001_state", METADATA.create_all),)
"""The migrations, in order. Never edit a released migration: append another. An appended migration also runs on a new
store, where ``0001_state`` has created the tables in their current form, so it must succeed if nothing is left to do.
"""

installation = Table(
    "installation",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("snapshot", BigInteger, nullable=False),
    Column("trouble", Text),
)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as naive UTC in every database because SQLite does not keep time zones."""

    impl = DateTime
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """Return the type of the values."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401
        """Convert an aware datetime to naive UTC for storage."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ANN401
        """Convert stored naive UTC to an aware datetime."""
        return None if value is None else value.replace(tzinfo=UTC)


windows = Table(
    "windows",
    METADATA,
    Column("id", String(LONGEST_ID), primary_key=True),
    Column("from_at", UtcDateTime, nullable=False),
    Column("to_at", UtcDateTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", String(16), nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("signature", Text, nullable=False),
    Column("count_reported", BigInteger),
    Column("pages", Integer, nullable=False, default=0),
    Column("records", BigInteger, nullable=False, default=0),
    Column("bytes", BigInteger, nullable=False, default=0),
    Column("started_at", UtcDateTime, nullable=False),
    Column("landed_at", UtcDateTime),
    Column("loaded_at", UtcDateTime),
    Column("read_seconds", Float),
    Column("service", Text),
    Column("omitted", JSON, nullable=False),
    Index("windows_by_state", "state"),
)

pages = Table(
    "pages",
    METADATA,
    Column("window_id", String(64), ForeignKey("windows.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("file", String(64), nullable=False),
    Column("next_cursor", BigInteger),
    Column("records", Integer, nullable=False),
    Column("last_id", BigInteger),
    Column("bytes", BigInteger, nullable=False),
    Column("content_bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("served_at", UtcDateTime, nullable=False),
)

read_plans = Table(
    "read_plans",
    METADATA,
    Column("from_at", UtcDateTime, primary_key=True),
    Column("to_at", UtcDateTime, nullable=False),
    Column("since", UtcDateTime, nullable=False),
    Column("horizon", UtcDateTime, nullable=False),
    Column("counted", BigInteger),
    Column("highest_id", BigInteger, nullable=False),
)

observations = Table(
    "observations",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("value", BigInteger, nullable=False),
    Column("about", Text, nullable=False),
    Column("observed_at", UtcDateTime, nullable=False),
)

push_ledger = Table(
    "push_ledger",
    METADATA,
    Column("service", Text, primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("body_sha256", String(64), nullable=False),
    Column("remote_id", BigInteger),
    Column("run_id", String(64), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("message", Text),
    Column("intended_at", UtcDateTime, nullable=False),
    Column("settled_at", UtcDateTime),
    Column("seen_at", UtcDateTime),
    Index("push_ledger_by_state", "state"),
)

push_files = Table(
    "push_files",
    METADATA,
    Column("service", Text, primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("unsent", BigInteger, nullable=False),
    Column("waits", BigInteger, nullable=False),
    Column("rejected", BigInteger, nullable=False),
    Column("corrected", BigInteger, nullable=False),
    Column("rejects", Text),
    Column("reason", Text),
    Column("began_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
)

forgotten_orders = Table(
    "forgotten_orders",
    METADATA,
    Column("order_id", BigInteger, primary_key=True, autoincrement=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("done_at", UtcDateTime),
)

audits = Table(
    "audits",
    METADATA,
    Column("window_id", String(64), primary_key=True),
    Column("run_id", String(64), nullable=False),
    Column("read_at", UtcDateTime, nullable=False),
    Column("after_id", BigInteger, nullable=False),
    Column("to_id", BigInteger, nullable=False),
    Column("settled_at", UtcDateTime, nullable=False),
    Column("settled_counted", BigInteger, nullable=False),
    Column("total_to_id", BigInteger, nullable=False),
    Column("total_counted", BigInteger, nullable=False),
    Column("compared", BigInteger),
    Column("changed", BigInteger),
    Column("missed", BigInteger),
    Column("absent", BigInteger),
    Column("orders_changed", BigInteger),
    Column("settled_in_tables", BigInteger),
    Column("total_in_tables", BigInteger),
    Column("voided", BigInteger),
    Column("examples", Text),
)

leases = Table(
    "leases",
    METADATA,
    Column("what", String(32), primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("run_id", String(64)),
    Column("process", BigInteger, nullable=False),
    Column("host", String(255), nullable=False),
    Column("began_at", UtcDateTime, nullable=False),
)

missing_shipments = Table(
    "missing_shipments",
    METADATA,
    Column("shipment_id", BigInteger, primary_key=True, autoincrement=False),
    Column("window_id", String(64), primary_key=True),
    Column("missing_since", UtcDateTime, nullable=False),
    Column("returned_at", UtcDateTime),
)

read_warnings = Table(
    "read_warnings",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("warned_at", UtcDateTime, nullable=False),
)

refusals = Table(
    "refusals",
    METADATA,
    Column("service", Text, primary_key=True),
    Column("api_version", String(16), primary_key=True),
    Column("parameter", String(128), primary_key=True),
    Column("said", Text, nullable=False),
    Column("tried_at", UtcDateTime, nullable=False),
)

runs = Table(
    "runs",
    METADATA,
    Column("run_id", String(64), primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("source", String(32), nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Column("due_at", UtcDateTime),
    Column("outcome", String(16), nullable=False),
    Column("error", Text),
    Column("error_kind", String(64)),
    Column("phases", Text, nullable=False),
    Column("counts", Text, nullable=False),
    Column("data_as_of", UtcDateTime),
    Column("number", BigInteger, nullable=False),
    Index("runs_by_start", "started_at"),
)

sent_alerts = Table(
    "sent_alerts",
    METADATA,
    Column("finding", Text, primary_key=True),
    Column("facts", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sent_at", UtcDateTime, nullable=False),
)

alerts = Table(
    "alerts",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("channel", String(32), primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("due_at", UtcDateTime, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("refusal", Text),
)

acknowledgements = Table(
    "acknowledgements",
    METADATA,
    Column("item", String(64), primary_key=True),
    Column("facts", String(64), nullable=False),
    Column("acknowledged_at", UtcDateTime, nullable=False),
)

migrations_table = Table(
    "schema_migrations",
    MetaData(),
    Column("name", String(64), primary_key=True),
    Column("applied_at", UtcDateTime, nullable=False),
)


def migrate(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply and record the pending migrations, in the caller's transaction.

    Raise ``StateOlder`` if migrations were applied, but not the first of these.
    """
    applied = _applied(connection)
    if applied and migrations[0][0] not in applied:
        raise StateOlder
    for name, step in migrations:
        if name not in applied:
            step(connection)
            connection.execute(migrations_table.insert().values(name=name, applied_at=datetime.now(UTC)))


def is_current(connection: Connection) -> bool:
    """Return whether every migration is applied."""
    return inspect(connection).has_table(migrations_table.name) and _applied(connection).issuperset(
        name for name, _ in MIGRATIONS
    )


def unknown(connection: Connection) -> tuple[str, ...]:
    """Return the applied migrations that only a newer release knows."""
    return tuple(sorted(_applied(connection) - {name for name, _ in MIGRATIONS}))


def _applied(connection: Connection) -> set[str]:
    """Return the applied migrations; create their table if there is none."""
    migrations_table.create(connection, checkfirst=True)
    return set(connection.scalars(select(migrations_table.c.name)))
