"""What an alert says, as JSON; ``text`` alone is enough for a chat."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from wms_sync.reports.alerts.fact import Event, Fact
from wms_sync.settings import Settings
from wms_sync.state.outbox import Body


def body_of(settings: Settings, fact: Fact, now: datetime, data_as_of: datetime | None) -> Body:
    """Return the alert that tells a fact. ``id`` is new: a receiver drops what it has had."""
    link = _link(settings, fact)
    parts = (
        f"{_sender(settings)}: {fact.text}",
        fact.what_to_do,
        f"Data as of {data_as_of:%Y-%m-%d %H:%M} UTC." if data_as_of else "",
        f"Run: {link}" if link else "",
    )
    return {
        "id": str(uuid4()),
        "event": fact.event.value,
        "is_bad": fact.event.is_bad,
        "text": " ".join(part for part in parts if part),
        "instance": settings.base_url,
        "at": _moment(now),
        "job": fact.purpose,
        "run_id": fact.run_id,
        "run_url": link,
        "failures": [{"step": fact.purpose, "message": fact.text}] if fact.event is Event.RUN_FAILED else [],
        "what_to_do": fact.what_to_do,
        "counts": dict(fact.counts),
        "data_as_of": _moment(data_as_of),
    }


def title_of(body: Mapping[str, object]) -> str:
    """Return the title for channels that have one: ``wms-sync: run failed``."""
    return f"wms-sync: {str(body['event']).replace('_', ' ')}"


def _sender(settings: Settings) -> str:
    """Return whose alert it is: ``wms-sync acme at https://acme.example.com``."""
    name = "" if settings.instance is None else f" {settings.instance}"
    return f"wms-sync{name} at {settings.base_url or 'no address'}"


def _link(settings: Settings, fact: Fact) -> str | None:
    if settings.ui_url is None or fact.run_id is None or not fact.is_in_ui:
        return None
    return f"{settings.ui_url}/runs/{fact.run_id}"


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
