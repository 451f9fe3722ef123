"""Send the alerts that are due, within a time limit that the caller sets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts.channels import HEARTBEAT, Channel, NotDelivered, all_channels, channels_of
from wms_sync.reports.alerts.observe import BEAT_FOR, body_of, observe
from wms_sync.reports.failures import failed_run, mends_by_waiting
from wms_sync.reports.finding import Event, Finding
from wms_sync.settings import Settings
from wms_sync.state.outbox import Body, Outbox, Waiting
from wms_sync.state.runs import RunRecord

logger = logging.getLogger(__name__)
KEPT_FOR = timedelta(days=30)
"""An alert that no receiver has accepted within this time is discarded."""
CHANNEL_SECONDS = 5.0
"""The maximum time that the end of a run waits for a channel."""

_refusing: set[str] = set()
"""The URLs of the state stores that cannot be written, and about which this process has sent an alert."""


def send_alerts(settings: Settings, *, seconds: float) -> None:
    """Queue new alerts and send those that are due. Return after ``seconds`` at the latest, and raise no error.

    Alerts that were not delivered in time stay in the outbox. The work runs in a thread that ends with the process,
    because a receiver that answers byte by byte, or a locked database, has no time limit of its own.
    """
    if not all_channels(settings):
        return
    _within(seconds, partial(_send_alerts, settings))


def report_unrecorded(settings: Settings, failed: RunRecord) -> None:
    """Send an alert about a failed run that the state store could not record.

    This process then does not also report that alerts cannot be stored.
    """
    _refusing.add(settings.database_url)
    _send_now(settings, failed_run(failed, [failed], datetime.now(UTC)))


def _send_now(settings: Settings, finding: Finding) -> None:
    """Send an alert about a finding that cannot be stored: now, once, and without the outbox.

    Wait at most ``CHANNEL_SECONDS`` for each channel, and raise no error.
    """
    body = body_of(settings, finding, datetime.now(UTC), None)
    for channel in channels_of(settings):
        _within(CHANNEL_SECONDS, partial(_send_once, channel, body))


def _within(seconds: float, do: Callable[[], None]) -> None:
    """Call a function in a thread, and wait at most ``seconds`` for its end."""
    thread = threading.Thread(target=do, name="alerts", daemon=True)
    thread.start()
    thread.join(seconds)


def _send_once(channel: Channel, body: Body) -> None:
    try:
        channel.send(body)
    except Exception as error:  # noqa: BLE001 - as in _send_alerts
        why = error if isinstance(error, NotDelivered) else type(error).__name__
        logger.warning("An alert was not delivered, and will not be sent again. %(why)s", {"why": why})


def deliver(settings: Settings, moment: datetime | None = None) -> None:
    """Send every alert that is due, oldest first. An alert that a channel does not accept is due again after a pause.

    If a channel does not accept an alert, do not try that channel again during this call.
    """
    moment = moment or datetime.now(UTC)
    channels = {channel.name: channel for channel in all_channels(settings)}
    with Outbox(settings.database_url) as outbox:
        outbox.prune(channels.keys(), {HEARTBEAT: moment - BEAT_FOR}, moment - KEPT_FOR)
        silent: set[str] = set()
        for alert in outbox.waiting():
            if (
                alert.is_due(moment)
                and alert.channel not in silent
                and not _send(outbox, channels[alert.channel], alert, moment)
            ):
                silent.add(alert.channel)


def _send(outbox: Outbox, channel: Channel, alert: Waiting, moment: datetime) -> bool:
    """Send an alert unless another process is sending it; return False if the channel did not accept it."""
    if not outbox.claim(alert, moment):
        return True
    try:
        channel.send(alert.body)
    except NotDelivered as error:
        logger.warning("An alert was not delivered, and will be sent again later. %(why)s", {"why": error})
        outbox.refused(alert, str(error))
        return False
    outbox.delivered(alert)
    return True


def _send_alerts(settings: Settings) -> None:
    try:
        observe(settings)
        deliver(settings)
    except WmsSyncError as error:
        logger.warning("New alerts could not be determined: %(why)s", {"why": error})
        _report_refusal(settings, error)
    except Exception as error:  # noqa: BLE001 - a defect of alerts must not end a command
        logger.warning("New alerts could not be determined (%(kind)s).", {"kind": type(error).__name__})
    else:
        _report_end_of_refusal(settings)


def _report_refusal(settings: Settings, error: WmsSyncError) -> None:
    """Report at once, without storing the alert, that alerts cannot be stored: for example because the disk is full.

    A process sends it only once until alerts can be stored again. Ignore errors that may pass by themselves, such as a
    restart of PostgreSQL.
    """
    if settings.database_url not in _refusing and not mends_by_waiting(type(error).__name__):
        _refusing.add(settings.database_url)
        what_to_do = "Until this is fixed, this may be the only alert."
        _send_now(settings, _of_store(f"Alerts cannot be stored: {error}", Event.STORE_REFUSES, what_to_do))


def _report_end_of_refusal(settings: Settings) -> None:
    if settings.database_url in _refusing:
        _refusing.remove(settings.database_url)
        _send_now(settings, _of_store("Alerts can be stored again.", Event.RECOVERED))


def _of_store(text: str, event: Event, what_to_do: str = "") -> Finding:
    return Finding(name="store-refuses", severity="error", text=text, what_to_do=what_to_do, event=event)
