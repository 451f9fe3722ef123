"""Which runs are told, when, and when again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.lakes import Lakes, name_of
from tests.reports.alerts.conftest import HOUR, REFUSED, WRONG, Installation, Story, nothing, play, ran
from wms_sync.recording import SUCCEEDED, Recording
from wms_sync.reports.outcomes import mends_by_waiting
from wms_sync.state.errors import StateRefused
from wms_sync.state.run_records import RunRecords

DAY = timedelta(days=1)
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


def given_up(house: Installation) -> None:
    """The first night has made its last attempt."""
    with RunRecords.opened(house.settings.database_url) as records:
        before = records.of("run-1")
        assert before is not None
        ended = replace(before, outcome="failed", error=DOWN[0], error_kind=DOWN[1])
        records.save(replace(ended, ended_at=datetime.now(UTC), due_at=None))


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
        (ran("waiting", *DOWN, source="schedule", due=HOUR), 0, ""),
        (ran("succeeded", source="schedule"), 1, ""),
    ],
    "a night that is given up, once until it succeeds": [
        (ran("failed", *DOWN, source="schedule"), 3, "new:run-sync"),
        (ran("waiting", *DOWN, source="schedule", due=25 * HOUR), 24, ""),
        (ran("failed", *SILENT, source="schedule"), 27, ""),  # the next night is the same
        (ran("succeeded", source="schedule"), 48, "ended:run-sync"),
    ],
    "a night that is given up while a later one waits": [
        (ran("waiting", *DOWN, source="schedule", due=HOUR), 0, ""),
        (ran("waiting", *DOWN, source="schedule", due=HOUR), 0, ""),
        (given_up, 3, "new:run-sync"),
    ],
    "a night that dies while it waits, a minute later": [
        (ran("waiting", *DOWN, source="schedule", due=-HOUR), 0, ""),
        (nothing, 2 / 60, "new:run-sync"),
        (ran("succeeded", source="schedule"), 24, "ended:run-sync"),
    ],
    "what nobody tries again, at once": [(ran("failed", *DOWN), 0, "new:run-sync")],
    "what no waiting mends": [(ran(*WRONG, source="schedule"), 0, "new:run-sync")],
    "a failure after a run that is dated weeks ahead": [
        (ran("failed", *DOWN, began=40 * DAY), None, ""),
        (ran("failed", *DOWN, began=-DAY / 2), 0, "new:run-sync"),
        (ran("succeeded", began=40 * DAY), None, ""),
        (ran(*WRONG), 0, "changed:run-sync"),
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_which_runs_are_told(hooked, receiver, story):
    play(story, hooked, receiver)


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
        ):
            pytest.fail("it has no state store")
    finally:
        lakes.remove()
    [alert] = receiver.taken
    assert (alert["status"], alert["finding"], alert["run_id"]) == ("new", "run-sync", "run-1")
    assert "sync failed: PostgreSQL, which keeps the state, refuses" in alert["text"]
