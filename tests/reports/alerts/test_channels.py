"""How alerts arrive: nothing is lost while a receiver is down, nobody waits for one, and no address is shown."""

from __future__ import annotations

import logging
import sys
from datetime import timedelta

import pytest

from tests.bench import logged
from tests.reports.alerts.conftest import REFUSED, WRONG
from wms_sync.reports.alerts import NotDelivered, all_channels, send_alerts
from wms_sync.reports.doctor import check_alerts

NOWHERE = "http://127.0.0.1:1/a-secret"
MINUTE = timedelta(minutes=1)
TEST = {"id": "1", "status": "new", "finding": "test", "text": "A test."}


def as_apprise(url: str) -> str:
    return url.replace("http://", "json://")


@pytest.mark.parametrize("status", [302, 500])
def test_an_alert_waits_for_its_receiver(hooked, receiver, status):
    hooked.run(*WRONG)
    receiver.status = status
    with logged() as messages:
        hooked.tell()
        hooked.tell()
    assert len(receiver.asked) == 1, "neither a redirect is followed nor is it asked again before the pause is over"
    assert [(str(status) in message, "a-secret" in message) for message in messages] == [(True, False)]
    [kept] = hooked.waiting
    receiver.status = 204
    hooked.tell(MINUTE)
    assert [body["id"] for body in receiver.taken] == [kept.id]
    assert hooked.waiting == ()


def test_a_clock_that_was_ahead_delays_no_alert(hooked, receiver):
    hooked.run(*WRONG)
    receiver.status = 500
    hooked.tell(timedelta(days=20))
    receiver.clear()
    hooked.tell()
    assert receiver.heard == ["new:run-sync"]


def test_a_channel_that_is_down_delays_no_other(install, receiver, caplog):
    caplog.set_level(logging.DEBUG)
    both = install(alert_webhook_url=NOWHERE, alert_urls=f"{as_apprise(receiver.url)}\njson://127.0.0.1:1/a-secret")
    both.run(*WRONG)
    with logged() as messages:
        both.tell()
    [taken] = receiver.taken
    assert (taken["title"], taken["type"]) == ("wms-sync: run-sync (new)", "warning")
    assert REFUSED in taken["message"]
    assert sorted(waiting.channel for waiting in both.waiting) == ["url 2", "webhook"]
    assert "a-secret" not in str([messages, caplog.text, [waiting.refusal for waiting in both.waiting]])


def test_without_a_channel_nothing_counts_as_told(install, receiver):
    install().run(*WRONG)
    install().tell()
    assert install().waiting == ()
    install(alert_webhook_url=receiver.url).tell()
    assert receiver.heard == ["new:run-sync"]


def test_a_heartbeat_follows_each_success(install, receiver):
    beating = install(heartbeat_url=receiver.url)
    beating.run(*WRONG)
    beating.run("succeeded", purpose="rebuild")
    beating.tell()
    assert receiver.asked == []
    beating.run("succeeded")
    for _ in range(2):
        beating.tell()
    assert receiver.asked == ["GET /hooks/a-secret"]
    receiver.status = 503
    beating.run("succeeded")
    beating.tell()
    receiver.status = 200
    beating.tell(timedelta(days=1, minutes=1))
    assert beating.waiting == (), "a sign of life of yesterday is none"
    assert len(receiver.asked) == 2


def test_nobody_waits_for_a_receiver(hooked, receiver):
    hooked.run(*WRONG)
    receiver.answers.clear()
    send_alerts(hooked.settings, seconds=0.01)
    assert hooked.waiting or not receiver.asked, "it returned before the receiver had answered"
    receiver.answers.set()


def test_a_state_store_that_cannot_be_read_stops_no_command(hooked):
    """A run that fails because of it sends its own alert: see ``test_runs``."""
    hooked.settings.layout.state.parent.mkdir()
    hooked.settings.layout.state.write_text("no database")
    with logged() as messages:
        send_alerts(hooked.settings, seconds=20)
    assert "Alerts could not be sent: " in str(messages)


def test_no_address_is_shown(install, caplog):
    caplog.set_level(logging.DEBUG)
    house = install(alert_webhook_url=NOWHERE, heartbeat_url=NOWHERE, alert_urls=as_apprise(NOWHERE))
    for channel in all_channels(house.settings):
        with pytest.raises(NotDelivered) as refused:
            channel.send(TEST)
        assert refused.value.__cause__ is None
        assert "a-secret" not in str(refused.value) + repr(channel) + caplog.text


@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "socks5://127.0.0.1:1"), ("SSL_CERT_FILE", "/nowhere/authorities.pem")]
)
def test_no_receiver_is_reached_through_a_wrong_environment(install, monkeypatch, name, value):
    """Each was a traceback at the end of a run."""
    monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    [webhook] = all_channels(install(alert_webhook_url="https://127.0.0.1:1").settings)
    with pytest.raises(NotDelivered, match="could not be reached"):
        webhook.send(TEST)


def test_the_doctor_names_channels_and_alerts_that_wait(install, receiver):
    [silent] = check_alerts(install().settings)
    assert "failures are not reported to anyone" in silent.text
    ill = install(alert_webhook_url=NOWHERE, heartbeat_url=receiver.url, alert_urls=as_apprise(receiver.url))
    ill.run(*WRONG)
    ill.tell()
    receiver.clear()
    named, waiting = check_alerts(ill.settings)
    assert (named.severity, waiting.severity) == ("note", "warning")
    for name in ("WMS_ALERT_WEBHOOK_URL", "WMS_ALERT_URLS (URL 1)", "WMS_HEARTBEAT_URL"):
        assert name in named.text
    assert "1 alert waits for the receiver" in waiting.text
    assert receiver.asked == []
    assert "a-secret" not in named.text + waiting.text
