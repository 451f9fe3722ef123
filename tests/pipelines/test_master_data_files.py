"""The sensor: what is new or has changed is asked for once."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from pipelines import definitions
from pipelines.master_data_files import LOOK_SECONDS, SETTLE_SECONDS
from wms_sync.master_data.folder import digest_of

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
        self.cursor: str | None = None
        self.skipped: str | None = None

    def tick(self, **overrides: object) -> list[dg.RunRequest]:
        settings = self._make_settings(**{"master_data_dir": self._folder} | overrides)
        sensor = definitions.build(settings).resolve_sensor_def("master_data_files")
        data = sensor.evaluate_tick(dg.build_sensor_context(instance=self._instance, cursor=self.cursor))
        self.cursor, self.skipped = data.cursor, data.skip_message
        return list(data.run_requests or [])

    def asked(self, **overrides: object) -> dict[str, list[str]]:
        return {str(request.job_name): [path for path, _ in files(request)] for request in self.tick(**overrides)}


def files(request: dg.RunRequest) -> list[tuple[str, str]]:
    [op] = request.run_config["ops"].values()
    return [(Path(file["path"]).name, file["sha256"]) for file in op["config"]["files"]]


@pytest.fixture
def watching(make_settings, instance, folder) -> Watching:
    return Watching(make_settings, instance, folder)


def test_it_is_on_by_default(settings):
    sensor = definitions.build(settings).resolve_sensor_def("master_data_files")
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    assert sensor.minimum_interval_seconds == LOOK_SECONDS


def test_a_new_file_is_asked_for_once_and_a_changed_one_again(watching, write):
    assert watching.asked() == {}
    write("retailers.csv", "code,name\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}
    assert watching.asked() == {}
    assert watching.skipped == "no file is new or has changed"
    write("retailers.csv", "code,name\n", modified=LONG_AGO + 500)
    assert watching.asked() == {}, "the same content, saved again"
    write("retailers.csv", "code,name\na,A\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}
    write("retailers.csv", "code,name\n")
    assert watching.asked() == {"push_retailers": ["retailers.csv"]}, "back to what it was"


def test_names_say_the_kind_and_a_run_takes_the_files_of_a_kind_in_their_order(watching, write, folder):
    for name in ("retailers-2.csv", "Retailers-1.CSV", "products_new.csv", "location_tags.csv", "notes.csv"):
        write(name, "x\n")
    write("retailers.txt", "x\n")
    (folder / "retailers-folder.csv").mkdir()
    assert watching.asked() == {
        "push_location_tags": ["location_tags.csv"],
        "push_retailers": ["Retailers-1.CSV", "retailers-2.csv"],
        "push_products": ["products_new.csv"],
    }


def test_a_file_that_is_being_written_waits_until_it_is_whole(watching, write):
    write("retailers.csv", "code,na", modified=time.time())
    assert watching.asked() == {}
    path = write("retailers.csv", "code,name\n", modified=time.time() - SETTLE_SECONDS - 1)
    [request] = watching.tick()
    write("retailers.csv", "code,name\na,", modified=time.time())
    assert watching.asked() == {}
    write("retailers.csv", "code,name\n", modified=path.stat().st_mtime - 100)
    assert watching.asked() == {}, "it is what it was"
    assert files(request)[0][0] == "retailers.csv"


def test_a_tick_that_is_evaluated_twice_asks_for_the_same_run(watching, write):
    write("retailers.csv", "code,name\n")
    [first] = watching.tick()
    watching.cursor = None
    [second] = watching.tick()
    assert first.run_key == second.run_key


def test_switching_the_push_on_asks_again_for_what_was_only_planned(watching, write):
    write("retailers.csv", "code,name\n")
    write("products.csv", "sku,name\n")
    assert len(watching.tick()) == 2
    assert set(watching.asked(push_enabled=True)) == {"push_retailers", "push_products"}
    assert watching.asked(push_enabled=True) == {}
    assert watching.asked() == {}, "what was pushed needs no plan"
    write("products.csv", "sku,name\ns,S\n")
    assert watching.asked() == {"push_products": ["products.csv"]}


def test_what_cannot_be_read_has_a_mark_too_so_that_one_run_says_so(tmp_path):
    assert digest_of(tmp_path) == "unreadable: Is a directory"


def test_without_a_folder_it_says_what_to_set(watching):
    assert watching.asked(master_data_dir=None) == {}
    assert watching.skipped == "WMS_MASTER_DATA_DIR is not set"
