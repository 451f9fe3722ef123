"""The channels for alerts: a webhook for JSON, apprise's URLs, and the heartbeat's address, called at each success.

Addresses may contain secrets, so no message shows them, and no redirect is followed. Each request has a time limit.
"""

from __future__ import annotations

import logging
from typing import Literal, Protocol

from msgspec import Struct
from pydantic import SecretStr

from wms_sync.errors import WmsSyncError
from wms_sync.settings import PREFIX, Settings
from wms_sync.state.reported import Body

SECONDS = 5.0
"""The time limit for connecting to a receiver, and for the time between two parts of its answer."""
HEARTBEAT = "heartbeat"

# httpx logs the address of every request at INFO, urllib3 logs its path at DEBUG, and apprise logs failures itself
for name, level in (("httpx", logging.CRITICAL), ("apprise", logging.CRITICAL), ("urllib3", logging.INFO)):
    logging.getLogger(name).setLevel(level)


class NotDelivered(WmsSyncError):
    """A channel did not accept an alert."""


class Channel(Protocol):
    """A receiver of alerts."""

    @property
    def name(self) -> str:
        """Return the name of the channel in the outbox."""

    @property
    def setting(self) -> str:
        """Return the name of the channel to show to people: its setting."""

    def send(self, body: Body) -> str:
        """Deliver an alert, and return what the receiver said. Raise ``NotDelivered`` if it does not accept it."""


class Webhook(Struct, frozen=True):
    """An address that accepts alerts as JSON."""

    url: SecretStr
    name: str = "webhook"
    setting: str = f"{PREFIX}ALERT_WEBHOOK_URL"

    def send(self, body: Body) -> str:
        """Post the alert."""
        return _ask("POST", self.url.get_secret_value(), self.setting, body)


class Heartbeat(Struct, frozen=True):
    """An address that is called after each successful sync."""

    url: SecretStr
    name: str = HEARTBEAT
    setting: str = f"{PREFIX}HEARTBEAT_URL"

    def send(self, _: Body) -> str:
        """Call the address with GET and without a body, which every heartbeat service accepts."""
        return _ask("GET", self.url.get_secret_value(), self.setting)


class AppriseUrl(Struct, frozen=True):
    """One of the apprise URLs of ``WMS_ALERT_URLS``. Apprise supports more than a hundred kinds of receivers."""

    url: SecretStr
    number: int

    @property
    def name(self) -> str:
        """Return the name of the channel in the outbox, with the position of the URL in the setting."""
        return f"url {self.number}"

    @property
    def setting(self) -> str:
        """Return the name of the setting, and the position of the URL in it."""
        return f"{PREFIX}ALERT_URLS (URL {self.number})"

    def send(self, body: Body) -> str:
        """Send the title and the text of an alert. Apprise keeps what the receiver said to itself."""
        from apprise import Apprise, AppriseAsset

        asset = AppriseAsset(app_id="wms-sync", http_redirects=False, async_mode=False)
        if (receiver := Apprise.instantiate(self.url.get_secret_value(), asset=asset)) is None:
            raise NotDelivered(f"apprise does not recognise {self.setting}: see its list of services.")
        receiver.socket_connect_timeout = receiver.socket_read_timeout = SECONDS
        title = f"wms-sync: {body['finding']} ({body['status']})"
        kind: Literal["success", "warning"] = "success" if body["status"] == "ended" else "warning"
        if not receiver.notify(title=title, body=body["text"], notify_type=kind):
            raise NotDelivered(f"The receiver of {self.setting} did not accept the alert.")
        return ""


def channels_of(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts, without the heartbeat."""
    channels: list[Channel] = []
    if settings.alert_webhook_url is not None:
        channels.append(Webhook(settings.alert_webhook_url))
    if settings.alert_urls is not None:
        urls = settings.alert_urls.get_secret_value().split()
        channels += [AppriseUrl(SecretStr(url), number) for number, url in enumerate(urls, 1)]
    return tuple(channels)


def all_channels(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts, and the heartbeat."""
    beat = () if settings.heartbeat_url is None else (Heartbeat(settings.heartbeat_url),)
    return (*channels_of(settings), *beat)


def _ask(method: str, url: str, setting: str, body: Body | None = None) -> str:
    """Send one request and return the text of the answer. Raise ``NotDelivered``. Neither shows the address."""
    import httpx

    from wms_sync.service.reasons import without_secrets, words_in  # imports httpx

    try:
        answer = httpx.request(method, url, json=body, timeout=SECONDS, follow_redirects=False)
    # ImportError and OSError: unusable proxies or certificate authorities in the environment
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        raise NotDelivered(f"The address of {setting} could not be reached ({type(error).__name__}).") from None
    asked = answer.request.url
    parts = (url, asked.raw_path.decode(), asked.userinfo.decode(), *asked.path.split("/"), *asked.params.values())
    said = without_secrets(words_in(answer.content, answer.request), frozenset(filter(None, parts)))
    if not answer.is_success:
        it_says = f" It says: {said}" if said else ""
        raise NotDelivered(f"The address of {setting} answered with {answer.status_code}.{it_says}")
    return said
