"""What the doctor says of alerts: would they arrive, and do some wait. Nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator

from wms_sync.grammar import count_of
from wms_sync.reports.alerts.channels import NotDelivered, all_channels
from wms_sync.reports.findings import Finding
from wms_sync.settings import Settings
from wms_sync.state.outbox import Outbox

SUBJECT = "alerts"


def look_at_alerts(settings: Settings) -> Iterator[Finding]:
    """Examine each channel without sending anything, and count what waits."""
    channels = all_channels(settings)
    if not channels:
        yield Finding(SUBJECT, "ok", "no channel is set, so nobody is told what goes wrong: see WMS_ALERT_WEBHOOK_URL")
        return
    for channel in channels:
        try:
            yield Finding(SUBJECT, "ok", f"{channel.setting}: {channel.reach()}")
        except NotDelivered as error:
            yield Finding(SUBJECT, "fail", str(error))
    with Outbox(settings.database_url) as outbox:
        refused = [one for one in outbox.waiting() if one.refusal is not None]
    if refused:
        since = f"since {refused[0].created_at:%Y-%m-%d %H:%M} UTC"
        yield Finding(
            SUBJECT,
            "warn",
            f"{count_of(len(refused), 'alert waits', 'alerts wait')} for the receiver {since}. {refused[-1].refusal}",
        )
