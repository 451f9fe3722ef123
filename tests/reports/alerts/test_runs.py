"""Which runs are told, when, and when again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.lakes import Lakes, name_of
from tests.reports.alerts.conftest import HOUR, REFUSED, WRONG, Story, nothing, play, ran
from wms_sync.recording import SUCCEEDED, Recording
from wms_sync.reports.failures import PAUSES, mends_by_waiting, next_attempt
from wms_sync.state.errors import StateRefused
from wms_sync.state.lock import FileLock
from wms_sync.state.runs import RunRecords

NOW, MINUTE, DAY = timedelta(), timedelta(minutes=1), timedelta(days=1)
UI = "https://dagster.example.com/wms"
DOWN, SILENT = ("The service answered 503.", "ServiceFailed"), ("No answer came.", "Unreachable")


@pytest.mark.parametrize(("source", "ui_url"), [("ui", UI), ("command line", UI), ("ui", None)])
def test_an_alert_names_the_run_and_its_failure(install, receiver, source, ui_url):
    """It links to a run of Dagster, if somebody said where the UI is."""
    house = install(alert_webhook_url=receiver.url, ui_url=ui_url, instance="acme")
    run_id = house.run(*WRONG, source=source)
    house.tell()
    [alert] = receiver.taken
    link = f"{UI}/runs/{run_id}" if (source, ui_url) == ("ui", UI) else None
    expected = {
        "status": "new",
        "finding": "run-sync",
        "severity": "error",
        "instance": "https://acme.example.com",
        "run_id": run_id,
        "run_url": link,
    }
    assert {name: alert[name] for name in expected} == expected
    assert alert["text"].startswith(f"wms-sync acme at https://acme.example.com: sync failed: {REFUSED}")
    assert (f"runs/{run_id}" in alert["text"]) == (link is not None)


BACKFILL = "new:run-backfill_2026-03-01_to_2026-03-08"
INTERRUPT = ("interrupted", "The run was interrupted.", "KeyboardInterrupt")
STORIES: dict[str, Story] = {
    "alike failures once, and their end": [
        (ran(*WRONG), 0, "new:run-sync"),
        (nothing, 0, ""),
        (ran("failed", REFUSED.replace("401", "403"), "Unauthorized"), 0, ""),
        (ran("failed", "The disk is full.", "NotEnoughRoom"), 0, "changed:run-sync"),
        (ran("succeeded"), 0, "ended:run-sync"),
        (nothing, 0, ""),
    ],
    "each purpose by itself, and a sync loads the tables": [
        (ran(*WRONG, purpose="backfill 2026-03-01 to 2026-03-08"), None, ""),
        (ran(*WRONG, purpose="loading the tables"), None, ""),
        (ran(*WRONG, purpose="push retailers"), 0, f"{BACKFILL} new:run-loading_the_tables new:run-push_retailers"),
        (ran("succeeded"), 0, "ended:run-loading_the_tables"),
    ],
    "an interrupt is no failure and no end of one": [
        (ran(*INTERRUPT), 0, ""),
        (ran(*WRONG), 0, "new:run-sync"),
        (ran(*INTERRUPT), 0, ""),
    ],
    "kills night after night": [
        (ran("running"), 0, "new:run-sync"),
        (ran("running"), 24, ""),
        (ran(*WRONG), 48, "changed:run-sync"),
    ],
    "a kill that Dagster may still explain, a minute later": [
        (ran("running", source="ui"), 0, ""),
        (nothing, 0.5 / 60, ""),
        (nothing, 2 / 60, "new:run-sync"),
    ],
    "a night that succeeds in the end": [
        (ran("failed", *DOWN, source="schedule"), 0, ""),
        (ran("succeeded", source="schedule"), 1, ""),
    ],
    "a night that is given up, once until it succeeds": [
        (ran("failed", *DOWN, source="schedule", began=NOW), None, ""),
        (ran("failed", *SILENT, source="schedule", began=HOUR), 1, ""),
        (nothing, 3 - 1 / 60, ""),
        (ran("failed", *DOWN, source="schedule", began=2.9 * HOUR), 3.2, "new:run-sync"),
        (ran("failed", *SILENT, source="schedule", began=24 * HOUR), 24, ""),  # the next night is the same
        (ran("succeeded", source="schedule", began=25 * HOUR), 25, "ended:run-sync"),
    ],
    "what nobody tries again, at once": [(ran("failed", *DOWN), 0, "new:run-sync")],
    "what nobody tries again from the UI": [(ran("failed", *DOWN, source="ui"), 0, "new:run-sync")],
    "what no waiting mends": [(ran(*WRONG, source="schedule"), 0, "new:run-sync")],
    "a failure after a run that is dated weeks ahead": [
        (ran("failed", *DOWN, source="schedule", began=40 * DAY), None, ""),
        (ran("failed", *DOWN, source="schedule", began=-DAY / 2), 0, "new:run-sync"),
        (ran("succeeded", began=40 * DAY), None, ""),
        (ran(*WRONG), 0, "changed:run-sync"),
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_which_runs_are_told(hooked, receiver, story):
    play(story, hooked, receiver)


def test_the_last_attempt_of_a_night_is_awaited(hooked, receiver):
    hooked.run("failed", *DOWN, source="schedule")
    run_id = hooked.run("running", source="schedule", began=2.9 * HOUR)
    with FileLock(hooked.settings.layout).hold("sync", run_id=run_id):
        hooked.tell(3.1 * HOUR)
    assert receiver.taken == []


def test_pauses_grow_until_it_is_too_late(hooked):
    tick = ended = hooked.now
    pauses: list[timedelta] = []
    while (due := next_attempt(tick, ended, len(pauses) + 1, 3)) is not None:
        pauses.append(due - ended)
        ended = due + MINUTE
    assert pauses == [*PAUSES, *[PAUSES[-1]] * (8 - len(PAUSES))]
    assert next_attempt(tick, tick, 1, 0) is None


def test_which_failures_mend_by_waiting():
    assert all(map(mends_by_waiting, ("NotSent", "StateSilent", "FilesUnavailable")))
    assert not any(map(mends_by_waiting, ("NotEnoughRoom", "StateRefused", "FilesRefused", "TakenOver", None)))


def test_a_run_without_a_record_is_told(postgres_url, install, receiver):
    """PostgreSQL takes no writes, so that neither the run nor an alert can wait there."""
    lakes = Lakes(postgres_url)
    url = lakes.new()
    hooked = install(alert_webhook_url=receiver.url, state_url=url)
    hooked.tell()
    lakes.execute(postgres_url, f"alter database {name_of(url)} set default_transaction_read_only = on")
    try:
        with (
            pytest.raises(StateRefused),
            Recording(hooked.settings, "run-1", "sync", "schedule").phase("sync", counts=dict, end=lambda: SUCCEEDED),
            RunRecords(url) as records,
        ):
            records.started("run-1", "sync", "schedule")
    finally:
        lakes.remove()
    [alert] = receiver.taken
    assert (alert["status"], alert["finding"], alert["run_id"]) == ("new", "run-sync", "run-1")
    assert "sync failed: PostgreSQL, which keeps the state, refuses" in alert["text"]
