"""Compare what is so with what was told, and put what is new, other or over into the outbox."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from wms_sync.reports.alerts.channels import HEARTBEAT, channels_of
from wms_sync.reports.alerts.fact import Event, Fact, Undecided
from wms_sync.reports.alerts.facts import SOURCES, Now
from wms_sync.reports.alerts.message import body_of
from wms_sync.reports.alerts.runs import last_success
from wms_sync.settings import Settings
from wms_sync.state.outbox import Body, Outbox, ToldFact
from wms_sync.state.runs import SYNC

logger = logging.getLogger(__name__)
BEAT_FOR = timedelta(days=1)
"""How old a success may be whose heartbeat is still sent."""


def observe(settings: Settings, moment: datetime | None = None) -> None:
    """Put an alert for each fact that is not told yet into the outbox, and for each end that is to be told.

    Without a channel nothing is told, and nothing counts as told.
    """
    moment = moment or datetime.now(UTC)
    channels = tuple(channel.name for channel in channels_of(settings))
    with Outbox(settings.database_url) as outbox:
        told = outbox.told()
        now = Now.read(settings, moment, told.keys())
        if channels:
            _Observation(now, outbox, channels, told).make()
        if settings.heartbeat_url is not None:
            _beat(now, outbox)


class _Observation(Struct, frozen=True):
    now: Now
    outbox: Outbox
    channels: tuple[str, ...]
    told: dict[str, ToldFact]

    def make(self) -> None:
        for source, events in SOURCES.items():
            try:
                found = tuple(source(self.now))
            except Exception as error:  # noqa: BLE001 - a source that cannot be asked ends none of its facts
                logger.debug("%(source)s cannot be asked: %(error)s", {"source": source.__name__, "error": error})
                continue
            for one in found:
                if isinstance(one, Fact):
                    self._tell(one)
            self._end(found, {event.value for event in events})

    def _tell(self, fact: Fact) -> None:
        before = self.told.get(fact.key)
        if before is None or before.fingerprint != fact.fingerprint:
            told = ToldFact(fact.key, fact.event.value, fact.fingerprint, self.now.moment)
            self.outbox.tell(told, self._body(fact), self.channels)

    def _end(self, found: Iterable[Fact | Undecided], events: set[str]) -> None:
        still = {one.key for one in found}
        for key, before in self.told.items():
            if before.event in events and key not in still:
                over = _recovery(before) if Event(before.event).recovers else None
                self.outbox.end(before, None if over is None else self._body(over), self.channels, self.now.moment)

    def _body(self, fact: Fact) -> Body:
        return body_of(self.now.settings, fact, self.now.moment, self.now.data_as_of)


def _recovery(before: ToldFact) -> Fact:
    ended = {Event.STALE_DATA: "The data is fresh", Event.TABLES_GONE: "The published tables are there"}
    what = ended.get(Event(before.event)) or f"{before.key.partition(':')[2]} succeeded"
    text = f"{what} again; it was told on {before.told_at:%Y-%m-%d %H:%M} UTC that it was not so."
    return Fact(Event.RECOVERED, before.key, "", text)


def _beat(now: Now, outbox: Outbox) -> None:
    """Put a heartbeat into the outbox for the newest sync that succeeded, in place of one that still waits."""
    last = last_success(now.records, SYNC)
    if last is None or last.ended_at is None or now.moment - last.ended_at > BEAT_FOR:
        return
    fact = Fact(Event.HEARTBEAT, HEARTBEAT, last.run_id, "A sync has succeeded.", run_id=last.run_id)
    told = ToldFact(fact.key, fact.event.value, fact.fingerprint, now.moment)
    outbox.tell(told, body_of(now.settings, fact, now.moment, now.data_as_of), (HEARTBEAT,), newest_only=True)
