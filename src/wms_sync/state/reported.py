"""Findings that were reported or acknowledged, and the outbox of alerts that each channel has still to receive.

A finding is reported once for each fingerprint of its facts: one transaction writes its row and adds an alert per
channel to the outbox, unless another process did so first. An alert is deleted when its channel has accepted it.
Before each attempt the next attempt is planned, so if a process dies while sending, the alert becomes due again: it may
be delivered twice, but is not lost. Writing needs no ``Lease``.

An acknowledged item is not shown again: it is kept by name with the fingerprint of its facts at that time, until the
facts change or the item is gone. That affects only the display.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from wms_sync.state.engine import StatePart, add_rows, insert_of
from wms_sync.state.schema import acknowledgements, alerts, sent_alerts

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 15, 60))
"""The pauses between attempts to deliver an alert; the last pause repeats."""
GIVEN_UP_AFTER = 24
"""Attempts before an alert may be given up: with one command a day, most of a month."""

Body = Mapping[str, Any]
"""The content of an alert, as JSON: ids, counts and sentences."""


class SentAlert(Struct, frozen=True):
    """One row of ``sent_alerts``: a reported finding that has not ended, with its text and the facts that it had."""

    finding: str
    facts: str
    text: str
    sent_at: datetime


class Waiting(Struct, frozen=True):
    """One row of ``alerts``: an alert that a channel has not accepted. ``refusal`` says why the last attempt failed."""

    id: str
    channel: str
    body: Body
    created_at: datetime
    due_at: datetime
    attempts: int
    refusal: str | None

    def is_due(self, moment: datetime) -> bool:
        """Return whether to deliver the alert now: it is due, or so far ahead that a clock must have been wrong."""
        return self.due_at <= moment or self.due_at > moment + PAUSES[-1]


class Outbox(StatePart):
    """The reported findings, and the alerts to deliver. Any process may use it at any time."""

    def sent(self) -> dict[str, SentAlert]:
        """Return the reported findings that have not ended, by name."""
        return {row.finding: SentAlert(**row._mapping) for row in self._rows(select(sent_alerts))}

    def add(self, alert: SentAlert, body: Body, channels: Collection[str], *, newest_only: bool = False) -> None:
        """Add an alert to the outbox unless the finding was reported with these facts.

        With ``newest_only``, the alert replaces alerts that still wait for these channels.
        """
        with self.engine.begin() as connection:
            if self._is_new(connection, alert):
                if newest_only:
                    connection.execute(alerts.delete().where(alerts.c.channel.in_(channels)))
                _queue(connection, body, channels, alert.sent_at)

    def end(self, alert: SentAlert, body: Body, channels: Collection[str], now: datetime) -> None:
        """Record that a finding has ended, and add the alert about this to the outbox, unless another process did."""
        same = sent_alerts.c.finding == alert.finding, sent_alerts.c.facts == alert.facts
        with self.engine.begin() as connection:
            if connection.execute(sent_alerts.delete().where(*same)).rowcount == 1:
                _queue(connection, body, channels, now)

    def waiting(self) -> tuple[Waiting, ...]:
        """Return the undelivered alerts, oldest first."""
        query = select(alerts).order_by(alerts.c.created_at, alerts.c.id, alerts.c.channel)
        return tuple(Waiting(**{**row._mapping, "body": json.loads(row.body)}) for row in self._rows(query))

    def claim(self, alert: Waiting, now: datetime) -> bool:
        """Claim the attempt that begins now, and plan the next. Return False if another process has claimed it."""
        pause = PAUSES[min(alert.attempts, len(PAUSES) - 1)]
        unchanged = alerts.c.attempts == alert.attempts
        with self.engine.begin() as connection:
            planned = update(alerts).where(_this(alert), unchanged)
            return connection.execute(planned.values(attempts=alert.attempts + 1, due_at=now + pause)).rowcount == 1

    def delivered(self, alert: Waiting) -> None:
        """Delete an alert that its channel has accepted."""
        self._execute(alerts.delete().where(_this(alert)))

    def refused(self, alert: Waiting, why: str) -> None:
        """Record why an attempt failed."""
        self._execute(update(alerts).where(_this(alert)).values(refusal=why))

    def prune(self, channels: Collection[str], kept_until: Mapping[str, datetime], before: datetime) -> None:
        """Delete alerts for channels that are no longer configured, and alerts that are too old.

        An alert created before ``before`` is deleted only after ``GIVEN_UP_AFTER`` attempts, so that a clock that is
        weeks ahead for a night does not cause deletions. Alerts for a channel in ``kept_until`` that were
        created before its time are deleted anyway.
        """
        too_long = and_(alerts.c.created_at < before, alerts.c.attempts >= GIVEN_UP_AFTER)
        old = [too_long, alerts.c.channel.not_in(channels)]
        old += [(alerts.c.channel == channel) & (alerts.c.created_at < limit) for channel, limit in kept_until.items()]
        self._execute(alerts.delete().where(or_(*old)))

    def _is_new(self, connection: Connection, alert: SentAlert) -> bool:
        values = asdict(alert)
        another = sent_alerts.c.finding == alert.finding, sent_alerts.c.facts != alert.facts
        if connection.execute(update(sent_alerts).where(*another).values(values)).rowcount:
            return True
        inserted = insert_of(self.engine, sent_alerts).values(values).on_conflict_do_nothing()
        return connection.execute(inserted.returning(sent_alerts.c.finding)).first() is not None


def _queue(connection: Connection, body: Body, channels: Iterable[str], now: datetime) -> None:
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
    add_rows(connection, alerts, rows)


def _this(alert: Waiting) -> ColumnElement[bool]:
    return and_(alerts.c.id == alert.id, alerts.c.channel == alert.channel)


def fingerprint(*facts: object) -> str:
    """Return a fingerprint that differs if any of the facts differs."""
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


class Acknowledgements(StatePart):
    """The acknowledgements."""

    def all(self) -> dict[tuple[str, str], datetime]:
        """Return the times of acknowledgement, by item and fingerprint of its facts."""
        return {(row.item, row.facts): row.acknowledged_at for row in self._rows(select(acknowledgements))}

    def add(self, items: Mapping[str, str]) -> None:
        """Acknowledge these items, given with the fingerprints of their facts."""
        now = datetime.now(UTC)
        rows = [{"item": item, "facts": facts, "acknowledged_at": now} for item, facts in items.items()]
        self._put(acknowledgements, rows)

    def keep(self, present: Collection[tuple[str, str]]) -> None:
        """Delete the acknowledgements of all items and facts that are not ``present``: they have ended."""
        ended = [item for item, facts in self.all() if (item, facts) not in present]
        if ended:
            self._execute(acknowledgements.delete().where(acknowledgements.c.item.in_(ended)))
