"""The sensor: what is new or has changed is asked for once."""

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from msgspec.structs import replace

from tests.bench import opened_store, store_at
from tests.deferred import deferred
from wms_sync.master_data.csv_file import digest_of
from wms_sync.master_data.kinds import SETTLE_SECONDS, UPLOAD_SECONDS
from wms_sync.settings import Settings
from wms_sync.state.ledger import PushedFile, PushFiles
from wms_sync.state.store import Window
from wms_sync_pipelines import definitions
from wms_sync_pipelines.master_data_files import PAUSES

LONG_AGO = time.time() - 1000


class Watching:
    """The sensor over its ticks: each gets the cursor of the one before, as Dagster's daemon gives it."""

    def __init__(self, make_settings, instance, folder: Path):
        self.make_settings, self.instance, self.folder = make_settings, instance, folder
        self.settings: Settings = make_settings()
        self.cursor: str | None = None

    def write(self, name: str = "retailers.csv", text: str = "code,name\n", modified: float = LONG_AGO) -> None:
        path = self.folder / name
        path.write_text(text)
        os.utime(path, (modified, modified))

    def tick(self, **overrides: object) -> list[dg.RunRequest]:
        context = dg.build_sensor_context(instance=self.instance, cursor=self.cursor)
        data = self.built(**overrides).resolve_sensor_def("master_data_files").evaluate_tick(context)
        self.cursor = data.cursor
        return list(data.run_requests or [])

    def later(self, seconds: float) -> None:
        """Time passes: what is remembered is that much older."""
        marks = json.loads(self.cursor or "{}")
        for mark in marks.values():
            mark["asked_at"] -= seconds
        self.cursor = json.dumps(marks)
        with PushFiles.opened(self.settings.database_url) as files:
            for one in files.of_kind(str(self.settings.base_url), "retailers").values():
                self._record(replace(one, ended_at=one.ended_at and one.ended_at - timedelta(seconds=seconds)))

    def pushed(self, **left: Any) -> None:
        """A push of the file of retailers ended now, and left rows."""
        now, path = datetime.now(UTC), self.folder / "retailers.csv"
        whole = PushedFile(
            str(self.settings.base_url), "retailers", str(path), digest_of(path), "run", 0, 0, None, now, now
        )
        self._record(replace(whole, **left))

    def loaded(self, day: int = 1, at: datetime | None = None) -> None:
        """A sync has loaded a day that it read."""
        start, now = datetime(2026, 3, day, tzinfo=UTC), at or datetime.now(UTC)
        window = Window(
            id=f"window-{day}", from_at=start, to_at=start + timedelta(days=1), state="loaded", reason="sync",
            run_id="a-run", signature="", started_at=now, landed_at=now, loaded_at=now,
        )  # fmt: skip
        with opened_store(self.settings) as store:
            store.begin_windows([window])

    def _record(self, file: PushedFile) -> None:
        with store_at(self.settings.database_url, self.settings.data_dir) as store:
            store.pushed_files.record(file)

    @cache  # noqa: B019
    def built(self, **overrides: object) -> dg.Definitions:
        """Made once for the same settings, which takes long."""
        return definitions.build(self.make_settings(**{"master_data_dir": self.folder} | overrides))


def requested(request: dg.RunRequest) -> list[str]:
    """The files that a run is requested for, and that they were handled before."""
    [op] = request.run_config["ops"].values()
    return [Path(file["path"]).name + " again" * file["again"] for file in op["config"]["files"]]


@pytest.fixture
def watching(make_settings, instance, tmp_path) -> Watching:
    folder = tmp_path / "master-data"
    folder.mkdir()
    return Watching(make_settings, instance, folder)


SENT = {"push_enabled": True}
NOTHING: dict[str, list[str]] = {}
RETAILERS = {"push_retailers": ["retailers.csv"]}
AGAIN = {"push_retailers": ["retailers.csv again"]}
PLANNED = {"plan_retailers": ["retailers.csv"]}
OTHER_TEXT = "code,name\na,A\n"
Step = tuple[Callable[..., object], dict[str, Any], dict[str, list[str]]]


def nothing(_: Watching) -> None: ...


@deferred
def being_written(watching: Watching, text: str, seconds_ago: float = 0) -> None:
    watching.write("retailers.csv", text, time.time() - seconds_ago)


written = deferred(Watching.write)
later = deferred(Watching.later)
left = deferred(Watching.pushed)
FIRST = (written(), SENT, RETAILERS)
STORIES: dict[str, list[Step]] = {
    # what happens, the settings of the next tick, and the files that it requests by job
    "each content of a file, once": [
        (nothing, {}, NOTHING),
        (written(), {}, PLANNED),
        (nothing, {}, NOTHING),
        (written(modified=LONG_AGO + 500), {}, NOTHING),  # the same content, saved again
        (written(text=OTHER_TEXT), {}, PLANNED),
        (written(), {}, PLANNED),  # back to what it was
    ],
    "file names give kinds and order": [
        (written("notes.csv"), {}, NOTHING),
        (written("retailers.txt"), {}, NOTHING),
        (lambda watching: (watching.folder / "retailers-folder.csv").mkdir(), {}, NOTHING),
        (written("location_tags.csv"), {}, {"plan_location_tags": ["location_tags.csv"]}),
        (written("products_new.csv"), {}, {"plan_products": ["products_new.csv"]}),
        (
            lambda watching: [watching.write(name) for name in ("retailers-2.csv", "Retailers-1.CSV")],
            {},
            {"plan_retailers": ["Retailers-1.CSV", "retailers-2.csv"]},
        ),
    ],
    "a file that is being written waits": [
        (being_written("code,na"), {}, NOTHING),
        (being_written("code,name\n", SETTLE_SECONDS + 1), {}, PLANNED),
        (being_written("code,name\na,"), {}, NOTHING),
        (being_written("code,name\na,Northwind Trad", UPLOAD_SECONDS - 60), {}, NOTHING),
        (being_written("code,name\na,Northwind Traders", UPLOAD_SECONDS + 1), {}, PLANNED),
        (being_written("code,name\na,Northwind Traders\n", SETTLE_SECONDS + 1), {}, PLANNED),
        (written(), {}, PLANNED),
        (being_written("code,name\na,"), {}, NOTHING),
        (written(), {}, NOTHING),  # it is what it was
    ],
    "planned files, when pushing is switched on": [
        (written(), {}, PLANNED),
        (written("products.csv"), {}, {"plan_products": ["products.csv"]}),
        (nothing, SENT, RETAILERS | {"push_products": ["products.csv"]}),
        (nothing, SENT, NOTHING),
        (nothing, {}, NOTHING),  # what was pushed needs no plan
        (written("products.csv", text=OTHER_TEXT), {}, {"plan_products": ["products.csv"]}),
    ],
    "pauses grow while rows are unsent": [
        FIRST,
        *(
            step
            for pause in (*PAUSES, PAUSES[-1])
            for step in (
                (left(unsent=1), SENT, NOTHING),
                (later(pause - 10), SENT, NOTHING),
                (later(10), SENT, AGAIN),
            )
        ),
        (left(unsent=1), {}, NOTHING),
        (later(PAUSES[-1]), {}, NOTHING),  # pushing is switched off
        (written(text=OTHER_TEXT), SENT, RETAILERS),
    ],
    "more rows than the limit": [
        FIRST,
        (left(unsent=1001), SENT, NOTHING),
        (later(11 * PAUSES[-1]), SENT, NOTHING),
        (nothing, SENT | {"push_limit": 2000}, AGAIN),
    ],
    "nothing is left": [FIRST, (left(unsent=0), SENT, NOTHING), (later(11 * PAUSES[-1]), SENT, NOTHING)],
    "rows that wait, after each sync": [
        FIRST,
        (left(waits=2), SENT, NOTHING),
        (later(11 * PAUSES[-1]), SENT, NOTHING),
        (lambda watching: watching.loaded(2), SENT, AGAIN),
        (nothing, SENT, NOTHING),  # once a sync
        (left(waits=2), SENT, NOTHING),
    ],
    "a push that never ended": [FIRST, (later(PAUSES[0]), SENT, RETAILERS)],
    "a push that was killed": [
        FIRST,
        (left(unsent=3, ended_at=None), SENT, NOTHING),
        (later(PAUSES[0]), SENT, RETAILERS),
    ],
    "during a push of the kind only what is new, behind it": [
        FIRST,
        (left(unsent=1), SENT, NOTHING),
        (
            lambda watching: watching.instance.add_run(
                dg.DagsterRun(
                    job_name="push_retailers",
                    status=dg.DagsterRunStatus.STARTED,
                    tags={"dagster/code_location": "wms-sync"},
                )
            ),
            {},
            NOTHING,
        ),
        (later(PAUSES[0]), SENT, NOTHING),
        (written("retailers-2.csv"), SENT, {"push_retailers": ["retailers-2.csv"]}),
    ],
    "no folder": [(written(), {"master_data_dir": None}, NOTHING)],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_which_files_are_requested_and_when(watching, story):
    """After the first sync. If a push did not end, nobody knows how far the other files came."""
    watching.loaded(at=datetime(2026, 3, 2, tzinfo=UTC))
    for happens, settings, expected in story:
        happens(watching)
        requests = watching.tick(**settings)
        assert {request.job_name: requested(request) for request in requests} == expected


def test_nothing_is_requested_before_the_first_sync(watching):
    """Files name merchants and warehouses that only tables know. A repeated tick then requests the same run."""
    watching.write()
    assert watching.tick() == []
    watching.loaded()
    first = watching.tick()
    watching.cursor = None
    assert [request.run_key for request in watching.tick()] == [request.run_key for request in first] != []
