"""The outbox of alerts, over SQLite and over a real PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from wms_sync.state.reported import GIVEN_UP_AFTER, PAUSES, Acknowledgements, Outbox, SentAlert, fingerprint

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENT = SentAlert("run-sync", "Unauthorized", "sync failed.", MOMENT)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def outbox(url):
    with Outbox.opened(url) as opened:
        yield opened


def test_a_finding_is_told_once_until_it_changes(outbox, url):
    with Outbox.opened(url) as another:
        outbox.add(SENT, {"id": "1"}, ["webhook", "url 1"])
        another.add(SENT, {"id": "2"}, ["webhook", "url 1"])
        changed = replace(SENT, facts="NotEnoughRoom", sent_at=MOMENT + MINUTE)
        another.add(changed, {"id": "3"}, ["webhook"])
        assert outbox.sent() == {SENT.finding: changed}
        outbox.end(SENT, {"id": "4"}, ["webhook"], MOMENT)  # it is another by now
        outbox.end(changed, {"id": "5"}, ["webhook"], MOMENT + 2 * MINUTE)
        another.end(changed, {"id": "6"}, ["webhook"], MOMENT)
    assert [(alert.id, alert.channel) for alert in outbox.waiting()] == [
        ("1", "url 1"), ("1", "webhook"), ("3", "webhook"), ("5", "webhook")
    ]  # fmt: skip
    assert outbox.sent() == {}


def test_one_process_sends_after_planning_the_next_attempt(outbox, url):
    outbox.add(SENT, {"id": "1", "text": "Zürich"}, ["webhook"])
    [first] = outbox.waiting()
    assert (first.body, first.attempts, first.due_at) == ({"id": "1", "text": "Zürich"}, 0, MOMENT)
    with Outbox.opened(url) as another:
        assert outbox.claim(first, MOMENT)
        assert not another.claim(first, MOMENT)
    for pause in (*PAUSES, PAUSES[-1]):
        [again] = outbox.waiting()
        assert again.due_at == MOMENT + pause
        assert outbox.claim(again, MOMENT)


def test_alerts_that_nobody_takes_are_given_up(outbox):
    for key, channel, age in (("a", "webhook", 3), ("b", "webhook", 1), ("c", "heartbeat", 1), ("d", "url 1", 0)):
        outbox.add(SentAlert(key, "", "", MOMENT - age * MINUTE), {"id": key}, [channel])

    def give_up() -> list[str]:
        outbox.prune(["webhook", "heartbeat"], {"heartbeat": MOMENT}, before=MOMENT - 2 * MINUTE)
        return [alert.id for alert in outbox.waiting()]

    assert give_up() == ["a", "b"], "by one look of a clock that is ahead nothing is old"
    for _ in range(GIVEN_UP_AFTER):
        for alert in outbox.waiting():
            assert outbox.claim(alert, MOMENT)
    assert give_up() == ["b"]


def test_an_acknowledgement_ends_with_its_facts(url):
    first, second = fingerprint("failed", 1), fingerprint("failed", 2)
    with Acknowledgements.opened(url) as acknowledgements:
        acknowledgements.add({"run": first, "gap": first})
        acknowledgements.add({"run": second})
        assert acknowledgements.all().keys() == {("run", second), ("gap", first)}
        acknowledgements.keep([("run", first), ("gap", first)])
        assert acknowledgements.all().keys() == {("gap", first)}
