"""Alert operators to findings: compare them with the alerts that were sent, queue new alerts, send those that are due.

``observe`` adds alerts on new, changed and ended findings to the outbox of the state store; ``deliver`` sends them. Any
process can call both at any time, so alerts do not depend on the process whose run failed. Belongs here: which findings
are reported, and how. Keep out: finding problems. An alert is JSON; a chat needs only its ``text``. It contains ids,
counts and this program's own error messages, but no values of rows.

The channels are a webhook for JSON, apprise's URLs, and the heartbeat's address, called at each success. Addresses may
contain secrets, so no message shows them, and no redirect is followed. Each request has a time limit.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Literal
from uuid import uuid4

import duckdb
from msgspec import Struct
from msgspec.structs import replace
from pydantic import SecretStr

from wms_sync.errors import WmsSyncError
from wms_sync.grammar import minute
from wms_sync.reports.finding import Finding, is_in_ui
from wms_sync.reports.findings import findings_in
from wms_sync.reports.installation import Installation, installation_of
from wms_sync.reports.outcomes import failed_run
from wms_sync.settings import PREFIX, Settings
from wms_sync.shipments.read.plan import data_as_of
from wms_sync.state.reported import Body, SentAlert
from wms_sync.state.run_records import SYNC, RunRecord
from wms_sync.state.store import StateStore
from wms_sync.targets.target import target_of

logger = logging.getLogger(__name__)
KEPT_FOR = timedelta(days=30)
"""An alert that no receiver has accepted within this time is discarded."""
CHANNEL_SECONDS = 5.0
"""The maximum time that the end of a run that cannot be recorded waits for a channel."""
RECORDS = 200
"""How many of the newest runs are searched for the last sync."""
BEAT_FOR = timedelta(days=1)
"""The maximum age of a success for which a heartbeat is still sent."""
RECEIVER_SECONDS = 5.0
"""The time limit for connecting to a receiver, and for the time between two parts of its answer."""
HEARTBEAT = "heartbeat"
Status = Literal["new", "changed", "ended"]

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


def _notify(url: str, setting: str, body: Body) -> str:
    """Send the title and the text of an alert with apprise, which keeps what the receiver said to itself."""
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(app_id="wms-sync", http_redirects=False, async_mode=False)
    if (receiver := Apprise.instantiate(url, asset=asset)) is None:
        raise NotDelivered(f"apprise does not recognise {setting}: see its list of services.")
    receiver.socket_connect_timeout = receiver.socket_read_timeout = RECEIVER_SECONDS
    title = f"wms-sync: {body['finding']} ({body['status']})"
    kind: Literal["success", "warning"] = "success" if body["status"] == "ended" else "warning"
    if not receiver.notify(title=title, body=body["text"], notify_type=kind):
        raise NotDelivered(f"The receiver of {setting} did not accept the alert.")
    return ""


def channels_of(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts: the webhook, which accepts JSON, and the URLs of apprise by position."""
    channels: list[Channel] = []
    if settings.alert_webhook_url is not None:
        channels.append(
            Channel("webhook", f"{PREFIX}ALERT_WEBHOOK_URL", settings.alert_webhook_url, partial(_ask, "POST"))
        )
    urls = "" if settings.alert_urls is None else settings.alert_urls.get_secret_value()
    for number, url in enumerate(urls.split(), 1):
        setting = f"{PREFIX}ALERT_URLS (URL {number})"
        channels.append(Channel(f"url {number}", setting, SecretStr(url), _notify))
    return tuple(channels)


def all_channels(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels for alerts, and the heartbeat, which is called after each successful sync."""
    if settings.heartbeat_url is None:
        return channels_of(settings)
    return (
        *channels_of(settings),
        Channel(HEARTBEAT, f"{PREFIX}HEARTBEAT_URL", settings.heartbeat_url, partial(_ask, "GET")),
    )


def _ask(method: Literal["GET", "POST"], url: str, setting: str, body: Body) -> str:
    """Send one request and return the text of the answer. Raise ``NotDelivered``. Neither shows the address.

    A GET has no body, so that every heartbeat service accepts it.
    """
    import httpx

    from wms_sync.service.reasons import without_secrets, words_in  # imports httpx

    try:
        answer = httpx.request(
            method, url, json=None if method == "GET" else body, timeout=RECEIVER_SECONDS, follow_redirects=False
        )
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


def observe(settings: Settings, store: StateStore, moment: datetime) -> None:
    """Add an alert to the outbox for each finding that is new, has changed or has ended, and the heartbeat.

    Without an alert channel, add only a heartbeat, and record no alert as sent.
    """
    store.runs.mark_killed(settings.layout)
    if channels := tuple(channel.name for channel in channels_of(settings)):
        _compare(settings, store, moment, channels)
    if settings.heartbeat_url is not None:
        _beat(store, moment)


def _compare(settings: Settings, store: StateStore, moment: datetime, channels: tuple[str, ...]) -> None:
    reaches = data_as_of(settings, store)
    version = None
    with suppress(WmsSyncError, duckdb.Error):  # a finding reports tables that cannot be opened
        target = target_of(settings)
        version = target.version if target.is_published else None
    published = _as_published(settings, version)
    if published.unreadable is not None:  # it may be readable at the next look, in the same version
        _as_published.cache_clear()
    findings = findings_in(replace(published, store=store, moment=moment))
    outbox = store.outbox
    sent = outbox.sent()
    for finding in findings:
        before = sent.get(finding.name)
        if finding.is_open and finding.is_settled and (before is None or before.facts != finding.facts):
            body = body_of(settings, "new" if before is None else "changed", finding, moment, reaches)
            outbox.add(SentAlert(finding.name, finding.facts, finding.text, moment), body, channels)
    if settings.base_url is None or any(finding.hides_others for finding in findings):
        return  # what is not in the list may not have ended, such as rejected rows of a service without an address
    for name in sent.keys() - {HEARTBEAT, *(finding.name for finding in findings)}:
        text = f"Ended: {sent[name].text} It was reported on {minute(sent[name].sent_at)}."
        outbox.end(
            sent[name],
            body_of(settings, "ended", Finding(name=name, severity="note", text=text), moment, reaches),
            channels,
            moment,
        )


@lru_cache(maxsize=1)
def _as_published(settings: Settings, _: int | None) -> Installation:
    """Read the published tables once for each version: Dagster's sensor runs twice a minute, and a read may be slow."""
    with installation_of(settings) as installation:
        return installation


def _beat(store: StateStore, moment: datetime) -> None:
    """Add a heartbeat to the outbox if the newest sync succeeded. Replace a heartbeat that still waits there."""
    syncs = (run for run in store.runs.newest(RECORDS) if run.group == SYNC)
    last = next((run for run in syncs if run.outcome in {"succeeded", "failed"}), None)
    if last is None or last.outcome == "failed" or last.ended_at is None or moment - last.ended_at > BEAT_FOR:
        return
    store.outbox.add(
        SentAlert(HEARTBEAT, last.run_id, "", moment), {"id": str(uuid4())}, (HEARTBEAT,), newest_only=True
    )


def body_of(settings: Settings, status: Status, finding: Finding, now: datetime, data_as_of: datetime | None) -> Body:
    """Return the JSON of an alert about a finding.

    ``id`` is new for each alert, so that a receiver can drop duplicates. Leave out the finding's ``detail``, which may
    quote rows.
    """
    name = "" if settings.instance is None else f" {settings.instance}"
    run = finding.run
    link = f"{settings.ui_url}/runs/{run.run_id}" if settings.ui_url and run is not None and is_in_ui(run) else None
    parts = (
        f"wms-sync{name} at {settings.base_url or 'no address'}: {finding.text}",
        finding.what_to_do,
        f"Data as of {minute(data_as_of)}." if data_as_of else "",
        f"Run: {link}" if link else "",
    )
    return {
        "id": str(uuid4()),
        "status": status,
        "finding": finding.name,
        "severity": finding.severity,
        "text": " ".join(part for part in parts if part),
        "what_to_do": finding.what_to_do,
        "instance": settings.base_url,
        "at": _moment(now),
        "run_id": None if run is None else run.run_id,
        "run_url": link,
        "counts": dict(finding.counts),
        "data_as_of": _moment(data_as_of),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


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
    channels = {channel.name: channel for channel in all_channels(settings)}
    with StateStore.opened(settings.database_url) as store:
        observe(settings, store, moment)
        outbox = store.outbox
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
