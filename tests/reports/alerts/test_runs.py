"""Which runs are told, when, and when again."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.reports.alerts.conftest import HOUR, REFUSED, WRONG, Installation, Story, nothing, play, ran
from wms_sync.reports.outcomes import mends_by_waiting
from wms_sync.state.run_records import RunRecord, RunRecords

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
    service = "https://acme.example.com"
    expected = {"status": "new", "finding": "run-sync", "severity": "error", "instance": service}
    assert alert | expected | {"run_id": run_id, "run_url": link} == alert
    assert alert["text"].startswith(f"wms-sync acme at {service}: sync failed: {REFUSED}")
    assert (f"runs/{run_id}" in alert["text"]) == (link is not None)


@pytest.mark.parametrize("kind", ["PushStopped", "RowsUnsent", "UnreadableFile"])
def test_an_alert_about_a_push_holds_no_value_of_a_row(hooked, receiver, kind):
    """Nor of an answer of the service, which may repeat one."""
    hooked.run("failed", "Duplicate entry for legal name 'Secret'.", kind, purpose="push retailers")
    hooked.tell()
    [alert] = receiver.taken
    assert (f"push retailers failed: {kind}; the log" in alert["text"], "Secret" in str(alert)) == (True, False)


BACKFILL = "new:run-backfill_2026-03-01_to_2026-03-08"


def given_up(house: Installation) -> None:
    """The first night has made its last attempt."""
    with RunRecords.opened(house.settings.database_url) as records:
        records.save(RunRecord("run-1", "sync", "schedule", house.now, datetime.now(UTC), "failed", *DOWN))


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
    "what is read counts once it is loaded": [
        (ran(*WRONG), None, ""),
        (ran(*WRONG, purpose="loading the tables"), 0, "new:run-loading_the_tables new:run-sync"),
        (ran("read", purpose="backfill 2026-03-01 to 2026-03-08"), 0, ""),
        (ran("read"), 0, ""),
        (ran("succeeded", purpose="loading the tables"), 0, "ended:run-loading_the_tables ended:run-sync"),
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
    assert all(map(mends_by_waiting, ("NotSent", "StateLost", "StateSilent", "FilesUnavailable")))
    assert not any(map(mends_by_waiting, ("NotEnoughRoom", "StateRefused", "FilesRefused", "TakenOver", None)))
