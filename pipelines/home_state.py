"""Whether Dagster's schedule is on and its daemon runs, read from the files of a home without importing Dagster.

That takes milliseconds, where Dagster takes seconds. A home with its history elsewhere (PostgreSQL) tells nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import ColumnClause, column, create_engine, select, table
from sqlalchemy.exc import SQLAlchemyError

from pipelines.home import home_of_user
from wms_sync.reports.attention import Item, state
from wms_sync.settings import Settings

NIGHTLY = "nightly"
SILENT_AFTER = timedelta(minutes=5)
"""The daemon says every half minute that it runs."""


class HomeState(Struct, frozen=True):
    """What a home tells. ``schedule`` is None and ``daemon_heard_at`` is None if that is not known."""

    home: Path | None
    schedule: Literal["on", "off"] | None
    daemon_heard_at: datetime | None

    def items(self, now: datetime) -> Iterator[Item]:
        """Yield an item if the schedule is on and no daemon runs it."""
        if self.schedule == "on" and not self.is_alive(now):
            heard = f"since {self.daemon_heard_at:%Y-%m-%d %H:%M:%S} UTC" if self.daemon_heard_at else "so far"
            yield state(
                "daemon",
                f"The schedule is on, and Dagster's daemon was not heard {heard}: nothing runs by itself until it is "
                "started again (`make ui`).",
            )

    def is_alive(self, now: datetime) -> bool:
        """Return whether the daemon was heard lately."""
        return self.daemon_heard_at is not None and now - self.daemon_heard_at < SILENT_AFTER


def home_state(settings: Settings) -> HomeState:
    """Return what the home of ``DAGSTER_HOME`` tells, or else the one in the data folder."""
    home = home_of_user() or settings.layout.dagster_home
    if not home.is_dir():
        return HomeState(None, None, None)
    schedules = _rows(home / "schedules" / "schedules.db", "instigators", "status", "instigator_body")
    beats = _rows(home / "history" / "runs.db", "daemon_heartbeats", "timestamp")
    return HomeState(home, _schedule(schedules, settings.instance), _newest(beats))


def _schedule(rows: Sequence[dict[Any, Any]] | None, instance: str | None) -> Literal["on", "off"] | None:
    """Return whether the schedule is on; nobody has switched it on if there is no row of it.

    Of several instances of the service in one home, the location with the name of this one counts.
    """
    if rows is None:
        return None
    of_nightly = [row["status"] for row in rows if _is_nightly(json.loads(row["instigator_body"]), instance)]
    return "on" if "RUNNING" in of_nightly else "off"


def _is_nightly(body: dict[str, Any], instance: str | None) -> bool:
    found = dict(_texts(body))
    name = found.get("job_name") or found.get("instigator_name")
    return name == NIGHTLY and (instance is None or found.get("location_name", instance) == instance)


def _texts(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Yield each key with a text, whatever holds it: the form of the origin is Dagster's own."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, str):
            yield key, inner
        yield from _texts(inner)


def _newest(rows: Sequence[dict[Any, Any]] | None) -> datetime | None:
    moments = [datetime.fromisoformat(str(row["timestamp"])).replace(tzinfo=UTC) for row in rows or ()]
    return max(moments, default=None)


def _rows(path: Path, name: str, *columns: str) -> Sequence[dict[Any, Any]] | None:
    """Return columns of a table in one of Dagster's files; None if there is no such file or table."""
    if not path.exists():
        return None
    engine = create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            chosen: list[ColumnClause[Any]] = [column(one) for one in columns]
            return [dict(row) for row in connection.execute(select(*chosen).select_from(table(name))).mappings()]
    except SQLAlchemyError:
        return None
    finally:
        engine.dispose()
