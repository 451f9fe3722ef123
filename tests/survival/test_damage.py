"""What lies on disk is lost, altered or left over: the next run mends it or says what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import CONFIG, IMPATIENT, NOW, Bench, logged, pages_asked
from tests.landed import assert_landed
from tests.master_data.conftest import pushed as push_of
from tests.test_sync import assert_equal, begun, load
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.intervals import intersect
from wms_sync.master_data.kinds import PRODUCTS, RETAILERS
from wms_sync.master_data.plan import RowStatus
from wms_sync.master_data.push import PushReport
from wms_sync.runs import plan_push
from wms_sync.service.errors import ServiceFailed
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.state.ledger import Entry, State
from wms_sync.state.store import Run
from wms_sync.targets.errors import AnotherServiceError, RawPagesDamagedError
from wms_sync.upkeep.recovery import recover


def remembered(bench: Bench) -> set[tuple[object, ...]]:
    """All windows that count and their pages."""
    return {
        (window.id, window.interval, window.reason, window.run_id, window.records, bench.store.pages(window.id))
        for window in bench.store.windows("landed", "loaded")
    }


def read_again(bench: Bench) -> list[str]:
    """A sync as far as it has read; what it said of mending."""
    with logged() as said:
        recover(bench.run)
    bench.read()
    return said


def night(bench: Bench) -> list[str]:
    """A sync as a run does it; what it said of mending."""
    said = read_again(bench)
    load(bench)
    return said


def pushed(bench: Bench, path: Path) -> PushReport:
    return push_of(bench.settings, PRODUCTS, path, run_id="test", policy=IMPATIENT)


def a_page(bench: Bench, state: str) -> tuple[str, Path]:
    """A window in this state, and its last page."""
    window = next(window for window in bench.store.windows(state) if window.pages)
    return window.id, bench.layout.window(window.id) / bench.store.pages(window.id)[-1].file


def alter(page: Path) -> None:
    content = bytearray(page.read_bytes())
    content[len(content) // 2] ^= 1
    page.write_bytes(content)


def test_a_deleted_state_store_is_restored_without_reading(bench, sandbox):
    """From the raw pages, and once they are gone, from the receipts."""
    begun(bench, sandbox, night)
    covered = bench.store.covered()
    before = remembered(bench)
    sandbox.sandbox.requests.clear()
    bench.lose_the_state_store()
    read_again(bench)
    assert remembered(bench) == before

    shutil.rmtree(bench.layout.raw)
    bench.lose_the_state_store()
    read_again(bench)
    assert bench.store.covered(("loaded",)) == covered
    assert pages_asked(sandbox) == []


def test_an_old_state_store_creates_nothing_twice(bench, sandbox, tmp_path):
    """The backup knows of one product and of a refusal; what was created since then, or is in doubt, is published."""
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=20, families=20))
    service = str(bench.settings.base_url)
    doubtful = Entry(service, "products", "A-1", State.DOUBT, "{}", "0" * 64, None, "pushed", 1, "-", NOW, None, None)

    async def refuse(request: Request) -> Response | None:
        refusal = {"errors": [{"type": "application", "message": "Not today."}]}
        return JSONResponse(refusal, 422) if b"P2" in await request.body() else None

    path, backup = tmp_path / "products.csv", tmp_path / "backup.db"
    path.write_text("sku,name\nP1,One\nP2,Two\n")
    sandbox.sandbox.intercept = refuse
    pushed(bench, path)
    with sqlite3.connect(bench.layout.state) as state:
        state.execute("vacuum into ?", [str(backup)])
    state.close()
    sandbox.sandbox.intercept = None
    path.write_text("sku,name\nP1,One\nP2,Two\nP3,Three\n")
    pushed(bench, path)
    bench.store.ledger.record([doubtful])
    night(bench)
    for is_rebuilt in (False, True):
        bench.lose_the_state_store(backup)
        if is_rebuilt:
            recover(bench.run)
            rebuild(bench.run)
        assert pushed(bench, path).counts == {RowStatus.ALREADY_THERE: 3}
        assert doubtful in bench.store.ledger.all()
    assert sorted(product["sku"] for product in sandbox.sandbox.products()) == ["P1", "P2", "P3"]


def test_a_data_folder_belongs_to_one_service(bench, settings_for, sandbox):
    """Another service's time counts as covered by this one's windows, and its history would be passed over."""
    begun(bench, sandbox, night)
    ours = bench.layout.window(bench.store.windows()[0].id)
    half_read = ours.with_name("20260401T000000Z-20260402T000000Z-abcdef") / "page-00001.json.gz"
    half_read.parent.mkdir()
    half_read.write_bytes(b"of a run that goes on elsewhere")
    bench.lose_the_state_store()
    bench.settings = settings_for(sandbox, base_url="https://other.example.com")
    with pytest.raises(AnotherServiceError, match=rf"{sandbox.base_url}.*https://other\.example\.com.*WMS_DATA_DIR"):
        recover(bench.run)
    assert half_read.exists()
    with pytest.raises(AnotherServiceError):
        plan_push(bench.settings, RETAILERS, bench.settings.data_dir / "by-the-tables-of-another.csv")
    assert "WMS_DATA_DIR" in "".join(bench.needs)
    for same in (None, "http://127.0.0.1:9", sandbox.base_url.replace("http", "HTTP")):
        recover(Run(settings_for(sandbox, base_url=same), bench.store, "test"))
    theirs = shutil.copytree(ours, half_read.parent) / "manifest.json"
    text = theirs.read_text().replace(ours.name, theirs.parent.name)
    theirs.write_text(text.replace(sandbox.base_url, "https://other.example.com"))
    with pytest.raises(AnotherServiceError, match=r"holds https://other\.example\.com"):
        recover(Run(settings_for(sandbox), bench.store, "test"))


@pytest.mark.parametrize("state", ["landed", "reading"])
def test_a_damaged_page_is_read_again(bench, sandbox, state):
    if state == "landed":
        bench.read()
    else:
        read_half(bench, sandbox)
    window, page = a_page(bench, state)
    alter(page)
    line = read_again(bench)[0]
    assert page.name in line
    assert window in line
    assert bench.store.window(window).state == "abandoned"
    assert_landed(bench, sandbox)
    bench.lose_the_state_store()
    read_again(bench)
    assert window not in {known.id for known in bench.store.windows()}, "what was given up came back"


def read_half(bench: Bench, sandbox: SandboxServer) -> None:
    answers = iter(range(8))
    sandbox.sandbox.intercept = lambda _: Response("down", 500) if next(answers, None) is None else None
    with pytest.raises(ServiceFailed):
        bench.read()
    sandbox.sandbox.intercept = None


def test_pages_of_a_lost_state_store_are_deleted(bench, sandbox):
    """Nobody goes on with them, and no retention would ever find them."""
    recover(bench.run)
    read_half(bench, sandbox)
    bench.lose_the_state_store()
    read_again(bench)
    assert {folder.name for folder in bench.layout.raw.iterdir()} == {window.id for window in bench.store.windows()}
    assert_landed(bench, sandbox)


def test_a_damaged_manifest_sets_its_window_aside(bench, sandbox, tmp_path):
    """Its pages may be all that is left of what the service has deleted since."""
    begun(bench, sandbox, night)
    backup = shutil.copy(bench.layout.state, tmp_path / "backup.db")
    known = {window.id for window in bench.store.windows()}
    sandbox.sandbox.advance(seconds=7200, changed=60, new=10)
    night(bench)
    [window] = [
        window for window in bench.store.windows("loaded") if window.id not in known and window.reason == "sync"
    ]
    manifest = bench.layout.window(window.id) / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-9])
    bench.lose_the_state_store(backup)
    assert f"{window.id} is ignored" in "".join(read_again(bench))
    assert bench.layout.pages(window.id)
    read_since = {found.interval for found in bench.store.windows("landed") if found.started_at > window.started_at}
    assert intersect((window.interval,), read_since) == (window.interval,), "its time was read again"
    assert_landed(bench, sandbox)
    assert "Restore manifest.json from a backup" in "".join(bench.needs)
    assert read_again(bench) == [], "it is told once"
    load(bench)

    manifest.write_bytes(whole)
    night(bench)
    assert bench.store.window(window.id).state == "loaded"
    assert_equal(bench, sandbox)


def test_copied_folders_and_damaged_manifests_stop_no_run(bench, sandbox):
    """What is copied is ignored; what is damaged is written again by a rebuild."""
    begun(bench, sandbox, night)
    window, _ = a_page(bench, "loaded")
    folder = bench.layout.window(window)
    shutil.copytree(folder, folder.with_name(f"{window}.bak"))
    sandbox.sandbox.requests.clear()
    assert f"{window}.bak is ignored" in "".join(read_again(bench))
    assert len(pages_asked(sandbox)) <= 1, "nothing is read again"
    before = remembered(bench)
    os.truncate(folder / "manifest.json", 100)
    bench.layout.flattened_manifest(window).unlink()
    recover(bench.run)
    rebuild(bench.run)
    assert_equal(bench, sandbox)
    bench.lose_the_state_store()
    read_again(bench)
    assert remembered(bench) == before


def test_a_damaged_loaded_page_fails_a_rebuild(bench, sandbox):
    begun(bench, sandbox, night)
    published = bench.layout.published.read_bytes()
    window, page = a_page(bench, "loaded")
    alter(page)
    with pytest.raises(RawPagesDamagedError, match="run `wms-sync sync`") as error:
        rebuild(bench.run)
    assert error.value.reasons == (f"{window}/{page.name}: its SHA-256 differs from that of the received page",)
    assert bench.layout.published.read_bytes() == published
    assert bench.store.window(window).state == "abandoned"
    read_again(bench)
    assert_landed(bench, sandbox)


def test_a_damaged_page_of_a_backfill(bench, sandbox):
    begun(bench, sandbox, night)
    covered = bench.store.covered()
    [window] = bench.backfill(NOW - timedelta(days=3), NOW - timedelta(days=2)).window_ids
    alter(bench.layout.window(window) / bench.store.pages(window)[0].file)
    [line] = read_again(bench)
    assert window in line
    assert bench.store.covered() == covered
    newest = bench.store.windows("landed")[-1]
    assert (newest.reason, newest.to_at) == ("sync", NOW - timedelta(days=2))
