"""Send the alerts that are due, within a time limit that the caller sets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from wms_sync.errors import WmsSyncError
from wms_sync.reports.alerts.channels import HEARTBEAT, NotDelivered, all_channels, channels_of
from wms_sync.reports.alerts.observe import BEAT_FOR, body_of, observe
from wms_sync.reports.failures import failed_run
from wms_sync.settings import Settings
from wms_sync.state.reported import Outbox
from wms_sync.state.runs import RunRecord

logger = logging.getLogger(__name__)
KEPT_FOR = timedelta(days=30)
"""An alert that no receiver has accepted within this time is discarded."""
CHANNEL_SECONDS = 5.0
"""The maximum time that the end of a run that cannot be recorded waits for a channel."""


def send_alerts(settings: Settings, *, seconds: float) -> None:
    """Queue new alerts and send those that are due. Return after ``seconds`` at the latest, and raise no error.

    Alerts that were not delivered in time stay in the outbox.
    """
    if all_channels(settings):
        _within(seconds, partial(deliver, settings))


def report_unrecorded(settings: Settings, failed: RunRecord) -> None:
    """Send an alert about a failed run that the state store could not record: now, once, and without the outbox.

    No other process can report it. Wait at most ``CHANNEL_SECONDS`` for each channel, and raise no error.
    """
    now = datetime.now(UTC)
    body = body_of(settings, "new", failed_run(failed, [failed], now), now, None)
    for channel in channels_of(settings):
        _within(CHANNEL_SECONDS, partial(channel.send, body))


def _within(seconds: float, send: Callable[[], object]) -> None:
    """Call a function in a thread, and wait at most ``seconds`` for its end. Log its error.

    The thread ends with the process, because a receiver that answers byte by byte, or a locked database, has no time
    limit of its own.
    """

    def send_or_log() -> None:
        try:
            send()
        except Exception as error:  # noqa: BLE001 - a defect of alerts must not end a command
            why = error if isinstance(error, WmsSyncError) else type(error).__name__
            logger.warning("Alerts could not be sent: %(why)s", {"why": why})

    thread = threading.Thread(target=send_or_log, name="alerts", daemon=True)
    thread.start()
    thread.join(seconds)


def deliver(settings: Settings, moment: datetime | None = None) -> None:
    """Queue new alerts, then send every alert that is due and that no other process is sending, oldest first.

    An alert that a channel does not accept is due again after a pause. If a channel does not accept an alert, do not
    try that channel again during this call.
    """
    moment = moment or datetime.now(UTC)
    observe(settings, moment)
    channels = {channel.name: channel for channel in all_channels(settings)}
    with Outbox(settings.database_url) as outbox:
        outbox.prune(channels.keys(), {HEARTBEAT: moment - BEAT_FOR}, moment - KEPT_FOR)
        silent: set[str] = set()
        for alert in outbox.waiting():
            if alert.channel in silent or not alert.is_due(moment) or not outbox.claim(alert, moment):
                continue
            try:
                channels[alert.channel].send(alert.body)
            except NotDelivered as error:
                logger.warning("An alert was not delivered, and will be sent again later. %(why)s", {"why": error})
                outbox.refused(alert, str(error))
                silent.add(alert.channel)
            else:
                outbox.delivered(alert)
