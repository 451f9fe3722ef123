"""Compare the findings with the alerts that were sent, and add alerts on new, changed and ended findings to the outbox.

An alert is JSON; a chat needs only its ``text``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from uuid import uuid4

from msgspec import Struct

from wms_sync.reports.alerts.channels import HEARTBEAT, channels_of
from wms_sync.reports.finding import RUN, Event, Finding, is_in_ui, name_of
from wms_sync.reports.findings import findings_of
from wms_sync.reports.published import Published, published_of
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import data_as_of
from wms_sync.state.outbox import Body, Outbox, SentAlert
from wms_sync.state.runs import LOADING, LOADS_TABLES, SYNC, RunRecord, RunRecords
from wms_sync.state.store import StateStore
from wms_sync.targets.target import target_of

RECORDS = 200
"""How many of the newest runs are searched for a success that ends a failure."""
BEAT_FOR = timedelta(days=1)
"""The maximum age of a success for which a heartbeat is still sent."""


def observe(settings: Settings, moment: datetime | None = None) -> None:
    """Add an alert to the outbox for each new or changed finding, and for each ended finding whose end is reported.

    Without an alert channel, add only a heartbeat, and record no alert as sent.
    """
    moment = moment or datetime.now(UTC)
    channels = tuple(channel.name for channel in channels_of(settings))
    with RunRecords(settings.database_url) as recorded:
        recorded.mark_killed(settings.layout)
        runs = recorded.newest(RECORDS)
    with StateStore(settings.database_url) as store:
        reaches = data_as_of(settings, store)
    with Outbox(settings.database_url) as outbox:
        observation = _Observation(settings, moment, reaches, runs, outbox, channels)
        if channels:
            observation.compare(findings_of(settings, moment, published=_published(settings)))
        if settings.heartbeat_url is not None:
            observation.beat()


def _published(settings: Settings) -> Published | None:
    target = target_of(settings)
    return _published_in(settings, target.version) if target.is_published else None


@lru_cache(maxsize=1)
def _published_in(settings: Settings, _: int) -> Published:
    """Read the published tables once for each version: Dagster's sensor runs twice a minute, and a read may be slow."""
    return published_of(settings)


class _Observation(Struct, frozen=True):
    settings: Settings
    moment: datetime
    data_as_of: datetime | None
    runs: Sequence[RunRecord]
    outbox: Outbox
    channels: tuple[str, ...]

    def compare(self, findings: Sequence[Finding]) -> None:
        sent = self.outbox.sent()
        for finding in findings:
            if finding.event is not None and finding.is_open and finding.is_settled:
                self._send(finding, sent.get(finding.name))
        if not any(finding.hides_others for finding in findings):
            still = {finding.name for finding in findings}
            for name, before in sent.items():
                if name not in still and before.event != Event.HEARTBEAT:
                    self._end(before)

    def _send(self, finding: Finding, before: SentAlert | None) -> None:
        assert finding.event is not None  # noqa: S101 - the caller has checked
        if before is None or before.fingerprint != finding.alert_facts:
            sent = SentAlert(finding.name, finding.event.value, finding.alert_facts, self.moment)
            self.outbox.add(sent, self._body(finding), self.channels)

    def _end(self, before: SentAlert) -> None:
        ended = self._what_ended(before)
        body = None
        if ended is not None:
            text = f"{ended} again. The problem was reported on {before.sent_at:%Y-%m-%d %H:%M} UTC."
            body = self._body(Finding(name=before.key, severity="note", text=text), Event.RECOVERED)
        self.outbox.end(before, body, self.channels, self.moment)

    def _what_ended(self, before: SentAlert) -> str | None:
        """Return what has recovered; None if the recovery is not reported, or if no record of a run proves it."""
        if before.event == Event.STALE_DATA:
            return "The data is fresh"
        if before.event == Event.TABLES_GONE:
            return "The published tables are there"
        if before.event != Event.RUN_FAILED:
            return None
        succeeded = (run for run in self.runs if run.outcome == "succeeded" and before.key in _ended_by(run))
        return f"{before.key.removeprefix(RUN).replace('_', ' ')} succeeded" if next(succeeded, None) else None

    def beat(self) -> None:
        """Add a heartbeat to the outbox if the newest sync succeeded. Replace a heartbeat that still waits there."""
        ended = (run for run in self.runs if run.group == SYNC and run.outcome in {"succeeded", "failed"})
        last = next(ended, None)
        if last is None or last.outcome == "failed" or last.ended_at is None:
            return
        if self.moment - last.ended_at <= BEAT_FOR:
            finding = Finding(name=HEARTBEAT, severity="note", text="A sync has succeeded.", run=last)
            sent = SentAlert(HEARTBEAT, Event.HEARTBEAT.value, last.run_id, self.moment)
            self.outbox.add(sent, self._body(finding, Event.HEARTBEAT), (HEARTBEAT,), newest_only=True)

    def _body(self, finding: Finding, event: Event | None = None) -> Body:
        return body_of(self.settings, finding, self.moment, self.data_as_of, event)


def _ended_by(run: RunRecord) -> set[str]:
    """Return the names of the findings that end when this run succeeds."""
    return {name_of(run.purpose)} | ({name_of(LOADING)} if run.group in LOADS_TABLES else set())


def body_of(
    settings: Settings, finding: Finding, now: datetime, data_as_of: datetime | None, event: Event | None = None
) -> Body:
    """Return the JSON of an alert about a finding. ``event`` defaults to the finding's event.

    ``id`` is new for each alert, so that a receiver can drop duplicates. Leave out the finding's ``detail``, which may
    quote rows.
    """
    link, purpose = _link(settings, finding), None if finding.run is None else finding.run.purpose
    event = event or finding.event or Event.FINDING
    parts = (
        f"{_sender(settings)}: {finding.text}",
        finding.what_to_do,
        f"Data as of {data_as_of:%Y-%m-%d %H:%M} UTC." if data_as_of else "",
        f"Run: {link}" if link else "",
    )
    return {
        "id": str(uuid4()),
        "event": event.value,
        "is_bad": event.is_bad,
        "text": " ".join(part for part in parts if part),
        "instance": settings.base_url,
        "at": _moment(now),
        "job": purpose,
        "run_id": None if finding.run is None else finding.run.run_id,
        "run_url": link,
        "failures": [{"step": purpose, "message": finding.text}] if event is Event.RUN_FAILED else [],
        "what_to_do": finding.what_to_do,
        "counts": dict(finding.counts),
        "data_as_of": _moment(data_as_of),
    }


def _sender(settings: Settings) -> str:
    """Return the sender of the alert: ``wms-sync acme at https://acme.example.com``."""
    name = "" if settings.instance is None else f" {settings.instance}"
    return f"wms-sync{name} at {settings.base_url or 'no address'}"


def _link(settings: Settings, finding: Finding) -> str | None:
    if settings.ui_url is None or finding.run is None or not is_in_ui(finding.run):
        return None
    return f"{settings.ui_url}/runs/{finding.run.run_id}"


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
