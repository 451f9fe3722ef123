"""The sensor: what is new or has changed is asked for once."""

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from msgspec.structs import replace

from pipelines import definitions
from pipelines.master_data import DOUBTFUL
from pipelines.master_data_files import PAUSES, SETTLE_SECONDS
from tests.conftest import opened_store, turn_at
from wms_sandbox.errors import failed
from wms_sync.master_data.csv_file import digest_of
from wms_sync.settings import Settings
from wms_sync.state.ledger import PushedFile, PushFiles

LONG_AGO = time.time() - 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "master-data"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Callable[..., Path]:
    def write(name: str, text: str, modified: float = LONG_AGO) -> Path:
        path = folder / name
        path.write_text(text)
        os.utime(path, (modified, modified))
        return path

    return write


class Watching:
    """The sensor over its ticks: each gets the cursor of the one before, as Dagster's daemon gives it."""

    def __init__(self, make_settings, instance, folder):
        self._make_settings, self._instance, self._folder = make_settings, instance, folder
        self._settings: Settings = make_settings()
        self._definitions: dict[str, dg.Definitions] = {}
        self.cursor: str | None = None
        self.skipped: str | None = None

    def tick(self, **overrides: object) -> list[dg.RunRequest]:
        sensor = self._built(overrides).resolve_sensor_def("master_data_files")
        data = sensor.evaluate_tick(dg.build_sensor_context(instance=self._instance, cursor=self.cursor))
        self.cursor, self.skipped = data.cursor, data.skip_message
        return list(data.run_requests or [])

    def run(self, request: dg.RunRequest, **overrides: object) -> dg.ExecuteInProcessResult:
        """What Dagster does with a request."""
        job = self._built(overrides).resolve_job_def(str(request.job_name))
        return job.execute_in_process(instance=self._instance, run_config=request.run_config, raise_on_error=False)

    def later(self, seconds: float) -> None:
        """Time passes: what is remembered is that much older."""
        marks = json.loads(self.cursor or "{}")
        for mark in marks.values():
            mark["asked_at"] -= seconds
        self.cursor = json.dumps(marks)
        with PushFiles(self._settings.database_url) as files:
            for one in files.of_kind(str(self._settings.base_url), "retailers").values():
                ended_at = one.ended_at and one.ended_at - timedelta(seconds=seconds)
                self._record(replace(one, ended_at=ended_at))

    def pushed(self, path: Path, **left: Any) -> None:
        """A push of the file ended now, and left rows."""
        now = datetime.now(UTC)
        whole = PushedFile(
            str(self._settings.base_url), "retailers", str(path), digest_of(path), "run", 0, 0, None, now, now
        )
        self._record(replace(whole, **left))

    def loaded(self, land, day: int = 1) -> None:
        """A sync has loaded what it read."""
        window = land(datetime(2026, 3, day, tzinfo=UTC), datetime(2026, 3, day + 1, tzinfo=UTC))
        with opened_store(self._settings) as store:
            store.mark_loaded([window.id])

    def _record(self, file: PushedFile) -> None:
        url = self._settings.database_url
        with PushFiles(url, turn_at(url, self._settings.data_dir)) as files:
            files.record(file)

    def _built(self, overrides: dict[str, object]) -> dg.Definitions:
        """Made once for the same settings, which takes long."""
        told = str(overrides)
        if told not in self._definitions:
            settings = self._make_settings(**{"master_data_dir": self._folder} | overrides)
            self._definitions[told] = definitions.build(settings)
        return self._definitions[told]

    def asked(self, **overrides: object) -> dict[str, list[str]]:
        return {str(request.job_name): [path for path, _ in files(request)] for request in self.tick(**overrides)}


def files(request: dg.RunRequest) -> list[tuple[str, str]]:
    [op] = request.run_config["ops"].values()
    return [(Path(file["path"]).name, file["sha256"]) for file in op["config"]["files"]]


def again(request: dg.RunRequest) -> bool:
    [op] = request.run_config["ops"].values()
    [file] = op["config"]["files"]
    return bool(file["again"])


@pytest.fixture
def watching(make_settings, instance, folder, land) -> Watching:
    """After the first sync."""
    made = Watching(make_settings, instance, folder)
    made.loaded(land)
    with opened_store(make_settings()) as store, store._engine.begin() as connection:
        connection.exec_driver_sql("update windows set loaded_at = '2026-03-02 00:00:00'")
    return made


def test_nothing_is_requested_before_the_first_sync(make_settings, instance, folder, land, write):
    """Files name merchants and warehouses that only tables know."""
    watching = Watching(make_settings, instance, folder)
    write("retailers.csv", "code,name\n")
    assert watching.asked() == {}
    assert watching.skipped == "waits for the first sync: files refer to objects in its tables"
    watching.loaded(land)
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}


def test_each_content_of_a_file_is_requested_once(watching, write):
    assert watching.asked() == {}
    write("retailers.csv", "code,name\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}
    assert watching.asked() == {}
    assert watching.skipped == "no file is new or has changed, and no push is due again"
    write("retailers.csv", "code,name\n", modified=LONG_AGO + 500)
    assert watching.asked() == {}, "the same content, saved again"
    write("retailers.csv", "code,name\na,A\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}
    write("retailers.csv", "code,name\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}, "back to what it was"


def test_file_names_give_kinds_and_order(watching, write, folder):
    for name in ("retailers-2.csv", "Retailers-1.CSV", "products_new.csv", "location_tags.csv", "notes.csv"):
        write(name, "x\n")
    write("retailers.txt", "x\n")
    (folder / "retailers-folder.csv").mkdir()
    assert watching.asked() == {
        "push_location_tags": ["location_tags.csv"],
        "push_retailers": ["Retailers-1.CSV", "retailers-2.csv"],
        "push_products": ["products_new.csv"],
    }


def test_a_file_that_is_being_written_waits(watching, write):
    write("retailers.csv", "code,na", modified=time.time())
    assert watching.asked() == {}
    path = write("retailers.csv", "code,name\n", modified=time.time() - SETTLE_SECONDS - 1)
    [request] = watching.tick()
    write("retailers.csv", "code,name\na,", modified=time.time())
    assert watching.asked() == {}
    write("retailers.csv", "code,name\n", modified=path.stat().st_mtime - 100)
    assert watching.asked() == {}, "it is what it was"
    assert files(request)[0][0] == "retailers.csv"


def test_a_repeated_tick_requests_the_same_run(watching, write):
    write("retailers.csv", "code,name\n")
    [first] = watching.tick()
    watching.cursor = None
    [second] = watching.tick()
    assert first.run_key == second.run_key


def test_switching_the_push_on_requests_planned_files(watching, write):
    write("retailers.csv", "code,name\n")
    write("products.csv", "sku,name\n")
    assert len(watching.tick()) == 2
    assert set(watching.asked(push_enabled=True)) == {"push_retailers", "push_products"}
    assert watching.asked(push_enabled=True) == {}
    assert watching.asked() == {}, "what was pushed needs no plan"
    write("products.csv", "sku,name\ns,S\n")
    assert watching.asked() == {"push_products": ["products.csv"]}


SENT = {"push_enabled": True}


def test_unsent_rows_are_requested_until_they_are_sent(watching, write, service, instance):
    write("retailers.csv", "code,name,parent_retailer_code\np,P,\nc,C,p\n")
    service.sandbox.intercept = lambda _: failed(429, Retry_After="3600")
    [first] = watching.tick(**SENT)
    ended = watching.run(first, **SENT)
    assert not ended.success
    [event] = [one for one in ended.all_events if one.is_step_failure]
    told = str(event.step_failure_data.user_failure_data.description)
    assert "did not accept 1 row of retailers.csv" in told
    assert "1 waits, 1 unsent" in told
    assert [check.passed for check in ended.get_asset_check_evaluations() if check.check_name == DOUBTFUL] == [False]

    assert watching.asked(**SENT) == {}, "the pause is not over"
    watching.later(PAUSES[0])
    [second] = watching.tick(**SENT)
    assert second.run_key != first.run_key
    service.sandbox.intercept = None
    assert watching.run(second, **SENT).success
    assert [one["code"] for one in service.sandbox.retailers()] == ["p", "c"]
    watching.later(10 * PAUSES[-1])
    assert watching.asked(**SENT) == {}, "all is there"


def test_pauses_grow_while_rows_are_unsent(watching, write):
    path = write("retailers.csv", "code,name\n")
    watching.tick(**SENT)
    watching.pushed(path, unsent=1)
    for pause in (*PAUSES, PAUSES[-1]):
        watching.later(pause - 10)
        assert watching.asked(**SENT) == {}
        watching.later(10)
        [request] = watching.tick(**SENT)
        assert files(request)[0][0] == "retailers.csv"
        assert again(request)
        watching.pushed(path, unsent=1)
    watching.later(PAUSES[-1])
    assert watching.asked() == {}, "pushing is switched off"
    write("retailers.csv", "code,name\na,A\n")
    [request] = watching.tick(**SENT)
    assert not again(request), "another content"


@pytest.mark.parametrize(
    ("left", "comes_back"),
    [
        (None, True),
        ({"unsent": 3, "ended_at": None}, True),
        ({"unsent": 1000}, True),
        ({"unsent": 1001}, False),
        ({"unsent": 0}, False),
        ({"waits": 2}, False),
    ],
)
def test_what_a_push_can_settle_is_requested(watching, write, left, comes_back):
    path = write("retailers.csv", "code,name\n")
    watching.tick(**SENT)
    if left is not None:
        watching.pushed(path, **left)
    watching.later(PAUSES[0])
    requests = watching.tick(**SENT)
    assert bool(requests) == comes_back
    if requests:
        assert again(requests[0]) == (left == {"unsent": 1000}), "nobody knows how far the others came"
    watching.later(10 * PAUSES[-1])
    assert left != {"unsent": 1001} or watching.asked(push_limit=2000, **SENT) == {"push_retailers": ["retailers.csv"]}


def test_rows_that_wait_are_tried_after_each_sync(watching, write, land):
    path = write("retailers.csv", "code,name\n")
    watching.tick(**SENT)
    watching.pushed(path, waits=2)
    watching.later(10 * PAUSES[-1])
    assert watching.asked(**SENT) == {}
    watching.loaded(land, 2)
    assert watching.asked(**SENT) == {"push_retailers": ["retailers.csv"]}
    assert watching.asked(**SENT) == {}, "once a sync"
    watching.pushed(path, waits=2)
    assert watching.asked(**SENT) == {}


def test_no_request_during_a_push_of_the_kind(watching, write, instance):
    path = write("retailers.csv", "code,name\n")
    watching.tick(**SENT)
    watching.pushed(path, unsent=1)
    watching.later(PAUSES[0])
    instance.add_run(dg.DagsterRun(job_name="push_retailers", status=dg.DagsterRunStatus.STARTED))
    assert watching.asked(**SENT) == {}
    other = write("retailers-2.csv", "code,name\n")
    assert watching.asked(**SENT) == {"push_retailers": [other.name]}, "what is new is handled behind it"


def test_what_cannot_be_read_has_a_mark(tmp_path):
    assert digest_of(tmp_path) == "unreadable: Is a directory"


def test_without_a_folder_it_says_what_to_set(watching):
    assert watching.asked(master_data_dir=None) == {}
    assert watching.skipped == "WMS_MASTER_DATA_DIR is not set"
