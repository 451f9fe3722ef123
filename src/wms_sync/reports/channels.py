"""The channels for alerts: a webhook for JSON, apprise's URLs, and the heartbeat's address, called at each success.

Addresses may contain secrets, so no message shows them, and no redirect is followed. Each request has a time limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Literal

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


class Channel(Struct, frozen=True):
    """A receiver of alerts: its name in the outbox, its setting, to show to people, and its address, a secret.

    ``deliver`` sends an alert to the address and returns what the receiver said.
    """

    name: str
    setting: str
    url: SecretStr
    deliver: Callable[[str, str, Body], str]

    def send(self, body: Body) -> str:
        """Deliver an alert, and return what the receiver said. Raise ``NotDelivered`` if it does not accept it."""
        return self.deliver(self.url.get_secret_value(), self.setting, body)


def _call(url: str, setting: str, _: Body) -> str:
    """Call an address with GET and without a body, which every heartbeat service accepts."""
    return _ask("GET", url, setting)


def _notify(url: str, setting: str, body: Body) -> str:
    """Send the title and the text of an alert with apprise, which keeps what the receiver said to itself."""
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(app_id="wms-sync", http_redirects=False, async_mode=False)
    if (receiver := Apprise.instantiate(url, asset=asset)) is None:
        raise NotDelivered(f"apprise does not recognise {setting}: see its list of services.")
    receiver.socket_connect_timeout = receiver.socket_read_timeout = SECONDS
    title = f"wms-sync: {body['finding']} ({body['status']})"
    kind: Literal["success", "warning"] = "success" if body["status"] == "ended" else "warning"
    if not receiver.notify(title=title, body=body["text"], notify_type=kind):
        raise NotDelivered(f"The receiver of {setting} did not accept the alert.")
    return ""


def channels_of(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts: the webhook, which accepts JSON, and the URLs of apprise by position."""
    channels: list[Channel] = []
    if settings.alert_webhook_url is not None:
        post = partial(_ask, "POST")
        channels.append(Channel("webhook", f"{PREFIX}ALERT_WEBHOOK_URL", settings.alert_webhook_url, post))
    urls = "" if settings.alert_urls is None else settings.alert_urls.get_secret_value()
    for number, url in enumerate(urls.split(), 1):
        setting = f"{PREFIX}ALERT_URLS (URL {number})"
        channels.append(Channel(f"url {number}", setting, SecretStr(url), _notify))
    return tuple(channels)


def all_channels(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts, and the heartbeat, which is called after each successful sync."""
    if settings.heartbeat_url is None:
        return channels_of(settings)
    return (*channels_of(settings), Channel(HEARTBEAT, f"{PREFIX}HEARTBEAT_URL", settings.heartbeat_url, _call))


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
