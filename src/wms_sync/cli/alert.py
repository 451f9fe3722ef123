"""Send a test alert to each channel, and print which channels accepted it."""

from __future__ import annotations

from datetime import UTC, datetime

from wms_sync.cli.printing import say
from wms_sync.errors import SettingsError
from wms_sync.reports.alerts.channels import NotDelivered, all_channels
from wms_sync.reports.alerts.observe import body_of
from wms_sync.reports.finding import Event, Finding
from wms_sync.settings import Settings


def send_test(settings: Settings) -> int:
    """Send the test directly, without the outbox; return the exit code."""
    channels = all_channels(settings)
    if not channels:
        raise SettingsError(
            "No alert channel is set, so failures are reported to nobody. Set WMS_ALERT_WEBHOOK_URL, WMS_ALERT_URLS "
            "or WMS_HEARTBEAT_URL (in the environment or in .env)."
        )
    test = Finding(name="test", severity="note", text="This is a test: alerts arrive here.", event=Event.TEST)
    body = body_of(settings, test, datetime.now(UTC), None)
    failed = False
    for channel in channels:
        try:
            channel.send(body)
        except NotDelivered as error:
            say(f"fail  {channel.setting}: {error}")
            failed = True
        else:
            say(f"ok    {channel.setting} accepted the test")
    return 1 if failed else 0
