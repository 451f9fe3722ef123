"""How alerts arrive: nothing is lost while a receiver is down, nobody waits for one, and no address is shown."""

import logging
import sys
from datetime import timedelta

import pytest

from tests.bench import logged
from tests.reports.alerts.conftest import REFUSED, WRONG
from wms_sync.reports.alerts import NotDelivered, all_channels, send_alerts
from wms_sync.reports.doctor import check_alerts

NOWHERE = "http://127.0.0.1:1/a-secret"


@pytest.mark.parametrize(
    ("status", "told", "again"),
    [
        (302, timedelta(), timedelta(minutes=1)),
        (500, timedelta(), timedelta(minutes=1)),
        (500, timedelta(days=20), timedelta()),  # the clock was ahead
    ],
)
def test_an_alert_waits_for_its_receiver(hooked, receiver, status, told, again):
    hooked.run(*WRONG)
    receiver.status = status
    with logged() as messages:
        hooked.tell(told)
        hooked.tell(told)
    assert len(receiver.asked) == 1, "neither a redirect is followed nor is it asked again before the pause is over"
    assert [(str(status) in message, "a-secret" in message) for message in messages] == [(True, False)]
    [kept] = hooked.waiting
    receiver.status = 204
    hooked.tell(again)
    assert ([body["id"] for body in receiver.taken], hooked.waiting) == ([kept.id], ())


def test_a_channel_that_is_down_delays_no_other(install, receiver, caplog):
    caplog.set_level(logging.DEBUG)
    both = install(
        alert_webhook_url=NOWHERE,
        alert_urls=f"{receiver.url.replace('http', 'json')}\njson://127.0.0.1:1/a-secret",
    )
    both.run(*WRONG)
    with logged() as messages:
        both.tell()
    [taken] = receiver.taken
    assert (taken["title"], taken["type"]) == ("wms-sync: run-sync (new)", "warning")
    assert REFUSED in taken["message"]
    kept = {waiting.channel: waiting.refusal for waiting in both.waiting}
    assert kept.keys() == {"url 2", "webhook"}
    assert "a-secret" not in str([messages, caplog.text, kept])


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
    for later in (0, 1441):
        beating.tell(timedelta(minutes=later))
    assert (beating.waiting, len(receiver.asked)) == ((), 2), "a sign of life of yesterday is none"


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


@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "socks5://127.0.0.1:1"), ("SSL_CERT_FILE", "/nowhere/authorities.pem")]
)
def test_no_receiver_is_reached_through_a_wrong_environment(install, monkeypatch, name, value):
    """Each was a traceback at the end of a run."""
    monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    [webhook] = all_channels(install(alert_webhook_url="https://127.0.0.1:1").settings)
    with pytest.raises(NotDelivered, match="could not be reached"):
        webhook.send({"id": "1", "status": "new", "finding": "test", "text": "A test."})


def test_the_doctor_names_channels_and_alerts_that_wait(install, receiver):
    ill = install(
        alert_webhook_url=NOWHERE,
        heartbeat_url=receiver.url,
        alert_urls=receiver.url.replace("http", "json"),
    )
    ill.run(*WRONG)
    ill.tell()
    receiver.clear()
    named, waiting = check_alerts(ill.settings)
    assert (named.severity, waiting.severity, receiver.asked) == ("note", "warning", [])
    names = ("WMS_ALERT_WEBHOOK_URL", "WMS_ALERT_URLS (URL 1)", "WMS_HEARTBEAT_URL")
    assert [name for name in names if name not in named.text] == []
    assert "1 alert waits for the receiver" in waiting.text
    assert "a-secret" not in named.text + waiting.text
