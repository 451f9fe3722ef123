"""The outbox of alerts: which facts were told, and what is still to be delivered to which channel.

A fact has a key, and a fingerprint of what is so. It is told once: in one transaction its row is written and an alert
per channel is put into the outbox, unless another process did so first. An alert is deleted when its channel has taken
it. Before each attempt the next one is planned, so a process that dies while it sends leaves the alert due again: each
is delivered at least once. Nobody needs a turn for it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from wms_sync.state.engine import Opened, insert_of
from wms_sync.state.schema import alerts, sent_alerts

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 15, 60))
"""Between the attempts to deliver an alert; the last one repeats."""
GIVEN_UP_AFTER = 24
"""Attempts: with one command a day they take most of a month."""

Body = Mapping[str, Any]
"""What is delivered, as JSON: ids, counts and sentences."""


class SentAlert(Struct, frozen=True):
    """One row of ``sent_alerts``: a fact that was told and is still so."""

    key: str
    event: str
    fingerprint: str
    sent_at: datetime


class Waiting(Struct, frozen=True):
    """One row of ``alerts``: what a channel has not taken yet. ``refusal`` says why the last attempt failed."""

    id: str
    channel: str
    body: Body
    created_at: datetime
    due_at: datetime
    attempts: int
    refusal: str | None

    def is_due(self, moment: datetime) -> bool:
        """Return whether to deliver it now; what is due later than any pause was planned by a clock that was ahead."""
        return self.due_at <= moment or self.due_at > moment + PAUSES[-1]


class Outbox(Opened):
    """The store of told facts and of alerts to deliver; any process may use it at any time."""

    def sent(self) -> dict[str, SentAlert]:
        """Return the facts that were told and have not ended, by key."""
        with self._reading() as connection:
            return {row.key: SentAlert(**row._mapping) for row in connection.execute(select(sent_alerts))}

    def add(self, fact: SentAlert, body: Body, channels: Collection[str], *, newest_only: bool = False) -> bool:
        """Put an alert into the outbox, unless the fact was told with this fingerprint; return whether it was put.

        With ``newest_only`` it replaces what still waits for these channels.
        """
        with self._engine.begin() as connection:
            if not self._is_new(connection, fact):
                return False
            if newest_only:
                connection.execute(alerts.delete().where(alerts.c.channel.in_(channels)))
            _put(connection, body, channels, fact.sent_at)
        return True

    def end(self, fact: SentAlert, body: Body | None, channels: Collection[str], now: datetime) -> bool:
        """Record that a fact is over and put the alert that says so, if any; False if another process did so first."""
        same = sent_alerts.c.key == fact.key, sent_alerts.c.fingerprint == fact.fingerprint
        with self._engine.begin() as connection:
            ended = connection.execute(sent_alerts.delete().where(*same)).rowcount == 1
            if ended and body is not None:
                _put(connection, body, channels, now)
        return ended

    def waiting(self) -> tuple[Waiting, ...]:
        """Return what is not delivered yet, oldest first."""
        query = select(alerts).order_by(alerts.c.created_at, alerts.c.id, alerts.c.channel)
        with self._reading() as connection:
            return tuple(_waiting(row._mapping) for row in connection.execute(query))

    def claim(self, alert: Waiting, now: datetime) -> bool:
        """Plan the attempt after the one that now begins; False if another process has begun it."""
        pause = PAUSES[min(alert.attempts, len(PAUSES) - 1)]
        unchanged = alerts.c.attempts == alert.attempts
        with self._engine.begin() as connection:
            planned = update(alerts).where(_this(alert), unchanged)
            return connection.execute(planned.values(attempts=alert.attempts + 1, due_at=now + pause)).rowcount == 1

    def delivered(self, alert: Waiting) -> None:
        """Delete an alert that its channel has taken."""
        with self._engine.begin() as connection:
            connection.execute(alerts.delete().where(_this(alert)))

    def refused(self, alert: Waiting, why: str) -> None:
        """Record why an attempt failed."""
        with self._engine.begin() as connection:
            connection.execute(update(alerts).where(_this(alert)).values(refusal=why))

    def prune(self, channels: Collection[str], kept_until: Mapping[str, datetime], before: datetime) -> int:
        """Delete alerts for channels that are not set any more, and those that were put too long ago.

        What was put before ``before`` must also have been tried ``GIVEN_UP_AFTER`` times: a clock that is weeks ahead
        for a night makes no alert old. ``kept_until`` has channels with a limit of their own, which is by time alone.
        Return how many were deleted.
        """
        too_long = and_(alerts.c.created_at < before, alerts.c.attempts >= GIVEN_UP_AFTER)
        old = [too_long, alerts.c.channel.not_in(channels)]
        old += [(alerts.c.channel == channel) & (alerts.c.created_at < limit) for channel, limit in kept_until.items()]
        with self._engine.begin() as connection:
            return connection.execute(alerts.delete().where(or_(*old))).rowcount

    def _is_new(self, connection: Connection, fact: SentAlert) -> bool:
        values = asdict(fact)
        another = sent_alerts.c.key == fact.key, sent_alerts.c.fingerprint != fact.fingerprint
        if connection.execute(update(sent_alerts).where(*another).values(values)).rowcount:
            return True
        inserted = (
            insert_of(self._engine, sent_alerts).values(values).on_conflict_do_nothing().returning(sent_alerts.c.key)
        )
        return connection.execute(inserted).first() is not None


def _put(connection: Connection, body: Body, channels: Iterable[str], now: datetime) -> None:
    rows = [
        {
            "id": body["id"],
            "channel": channel,
            "body": json.dumps(body),
            "created_at": now,
            "due_at": now,
            "attempts": 0,
        }
        for channel in channels
    ]
    if rows:
        connection.execute(alerts.insert(), rows)


def _this(alert: Waiting) -> ColumnElement[bool]:
    return and_(alerts.c.id == alert.id, alerts.c.channel == alert.channel)


def _waiting(row: Mapping[Any, Any]) -> Waiting:
    return Waiting(**{**row, "body": json.loads(row["body"])})
