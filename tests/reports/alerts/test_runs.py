"""Which runs are told, when, and when again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.lakes import Lakes, name_of
from tests.reports.alerts.conftest import REFUSED, WRONG
from wms_sync.recording import SUCCEEDED, Recording
from wms_sync.reports.failures import PAUSES, mends_by_waiting, next_attempt
from wms_sync.state.errors import StateRefused
from wms_sync.state.lock import FileLock
from wms_sync.state.runs import RunRecords

NOW, MINUTE, HOUR, DAY = timedelta(), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
DOWN, SILENT = ("The service answered 503.", "ServiceFailed"), ("No answer came.", "Unreachable")


def test_an_alert_names_the_run_and_its_failure(hooked, receiver):
    """No link to it: nobody said where the UI is."""
    run_id = hooked.run(*WRONG)
    hooked.tell()
    hooked.run("succeeded")
    hooked.tell()
    failed, ended = receiver.taken
    expected = {
        "event": "run_failed",
        "instance": "https://acme.example.com",
        "job": "sync",
        "run_id": run_id,
        "run_url": None,
        "failures": [{"step": "sync", "message": f"sync failed: {REFUSED}"}],
    }
    assert {name: failed[name] for name in expected} == expected
    assert failed["text"].startswith(f"wms-sync at https://acme.example.com: sync failed: {REFUSED}")
    assert "sync succeeded again" in ended["text"]
    assert failed["id"] != ended["id"]
    assert hooked.waiting == ()


NIGHT, INTERRUPT = {"source": "schedule"}, ("interrupted", "The run was interrupted.", "KeyboardInterrupt")
STORIES: dict[str, list[tuple[Any, dict[str, Any], timedelta | None, list[str]]]] = {
    # a run, how it was started, how long after it alerts are sent if they are, and what was told by then
    "alike failures once, and their end": [
        (WRONG, {}, NOW, ["run_failed"]),
        ((), {}, NOW, ["run_failed"]),
        (("failed", REFUSED.replace("401", "403"), "Unauthorized"), {}, NOW, ["run_failed"]),
        (("failed", "The disk is full.", "NotEnoughRoom"), {}, NOW, ["run_failed"] * 2),
        (("succeeded",), {}, NOW, ["run_failed", "run_failed", "recovered"]),
        ((), {}, NOW, ["run_failed", "run_failed", "recovered"]),
    ],
    "each purpose by itself, and a sync loads the tables": [
        (WRONG, {"purpose": "backfill 2026-03-01 to 2026-03-08"}, None, []),
        (WRONG, {"purpose": "loading the tables"}, None, []),
        (WRONG, {"purpose": "push retailers"}, NOW, ["run_failed"] * 3),
        (("succeeded",), {"purpose": "sync"}, NOW, [*["run_failed"] * 3, "recovered"]),
    ],
    "an interrupt is no failure and no end of one": [
        (INTERRUPT, {}, NOW, []),
        (WRONG, {}, NOW, ["run_failed"]),
        (INTERRUPT, {}, NOW, ["run_failed"]),
    ],
    "each kill, once": [
        (("running",), {}, NOW, ["run_failed"]),
        ((), {}, NOW, ["run_failed"]),
        (("running",), {}, NOW, ["run_failed"] * 2),
        ((), {}, NOW, ["run_failed"] * 2),
    ],
    "a kill that Dagster may still explain, a minute later": [
        (("running",), {"source": "ui"}, NOW, []),
        ((), {}, MINUTE / 2, []),
        ((), {}, MINUTE * 2, ["run_failed"]),
    ],
    "a night that succeeds in the end": [
        (("failed", *DOWN), NIGHT, NOW, []),
        (("succeeded",), NIGHT, HOUR, []),
    ],
    "a night that is given up, once until it succeeds": [
        (("failed", *DOWN), NIGHT | {"began": NOW}, None, []),
        (("failed", *SILENT), NIGHT | {"began": HOUR}, HOUR, []),
        ((), {}, 3 * HOUR - MINUTE, []),
        (("failed", *DOWN), NIGHT | {"began": 2.9 * HOUR}, 3.2 * HOUR, ["run_failed"]),
        (("failed", *SILENT), NIGHT | {"began": 24 * HOUR}, 24 * HOUR, ["run_failed"]),  # the next night is the same
        (("succeeded",), NIGHT | {"began": 25 * HOUR}, 25 * HOUR, ["run_failed", "recovered"]),
    ],
    "what nobody tries again, at once": [(("failed", *DOWN), {}, NOW, ["run_failed"])],
    "what nobody tries again from the UI": [(("failed", *DOWN), {"source": "ui"}, NOW, ["run_failed"])],
    "what no waiting mends": [(WRONG, NIGHT, NOW, ["run_failed"])],
    "a failure after a run that is dated weeks ahead": [
        (("failed", *DOWN), NIGHT | {"began": 40 * DAY}, None, []),
        (("failed", *DOWN), NIGHT | {"began": -DAY / 2}, NOW, ["run_failed"]),
        (("succeeded",), {"began": 40 * DAY}, None, ["run_failed"]),
        (WRONG, {}, NOW, ["run_failed", "run_failed"]),
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_which_runs_are_told(hooked, receiver, story):
    for outcome, started, later, events in story:
        given = {**started, "began": hooked.now + started["began"]} if "began" in started else started
        if outcome:
            hooked.run(*outcome, **given)
        if later is not None:
            hooked.tell(later)
            assert receiver.events == events


def test_no_alert_repeats_a_row(hooked, receiver):
    hooked.run("failed", "The service did not take 1 rows, the first on line 2: Jane Doe", "RowsUnsent")
    hooked.tell()
    assert "Jane" not in str(receiver.taken)
    assert "RowsUnsent" in receiver.taken[0]["text"]


@pytest.mark.parametrize(("source", "link"), [("schedule", True), ("ui", True), ("command line", False)])
def test_an_alert_links_to_its_run(install, receiver, source, link):
    installation = install(alert_webhook_url=receiver.url, ui_url="https://dagster.example.com/wms/", instance="acme")
    run_id = installation.run(*WRONG, source=source)
    installation.tell()
    [alert] = receiver.taken
    assert alert["run_url"] == (f"https://dagster.example.com/wms/runs/{run_id}" if link else None)
    assert (f"runs/{run_id}" in alert["text"]) == link
    assert alert["text"].startswith("wms-sync acme at https://acme.example.com: sync failed")


def test_the_last_attempt_of_a_night_is_awaited(hooked, receiver):
    hooked.run("failed", *DOWN, source="schedule")
    run_id = hooked.run("running", source="schedule", began=hooked.now + 2.9 * HOUR)
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
    assert (alert["event"], alert["job"], alert["run_id"]) == ("run_failed", "sync", "run-1")
    assert "sync failed: PostgreSQL, which keeps the state, refuses" in alert["text"]
