"""What lies on disk is lost, altered or left over: the next run mends it or says what to do."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import CONFIG, FEWER, IMPATIENT, NOW, Bench, asks_for_page, logged, opened_store
from tests.landed import assert_landed
from tests.test_sync import assert_equal, begun, load, synced
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.grammar import count_of
from wms_sync.intervals import intersect
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.kinds import RETAILERS
from wms_sync.master_data.products import PRODUCTS
from wms_sync.master_data.push import PushReport, plan_file, push_file
from wms_sync.reports.doctor import examine
from wms_sync.reports.findings import findings_of
from wms_sync.service.errors import ServiceFailed
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.state.ledger import Entry, PushLedger, State
from wms_sync.state.store import Run
from wms_sync.targets.errors import AnotherServiceError, RawPagesDamagedError
from wms_sync.upkeep.recovery import recover
from wms_sync.upkeep.verify import verify

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    server.sandbox = Sandbox(FEWER)
    return server


def remembered(bench: Bench) -> set[tuple[object, ...]]:
    """All windows that count and their pages."""
    return {
        (window.id, window.interval, window.reason, window.run_id, window.records, bench.store.pages(window.id))
        for window in bench.store.windows("landed", "loaded")
    }


def without_state(bench: Bench, put_back: Path | None = None) -> Bench:
    """The same installation after its ``state.db`` was deleted, or an old copy put in its place."""
    for path in bench.settings.data_dir.glob("state.db*"):
        path.unlink()
    if put_back is not None:
        shutil.copy(put_back, bench.settings.data_dir / "state.db")
    return Bench(bench.settings, opened_store(bench.settings))


def night(bench: Bench) -> list[str]:
    """A sync as a run does it; what it said of mending."""
    with logged() as said:
        recover(bench.run)
    synced(bench)
    return said


def read_again(bench: Bench) -> list[str]:
    """A sync as far as it has read; what it said of mending."""
    with logged() as said:
        recover(bench.run)
    bench.read()
    return said


def rebuilt(bench: Bench) -> None:
    """A rebuild as a run does it."""
    recover(bench.run)
    rebuild(bench.run)


def pushed(bench: Bench, path: Path) -> PushReport:
    return push_file(bench.settings, PRODUCTS, path, run_id="test", policy=IMPATIENT)


def pages_asked(sandbox: SandboxServer) -> int:
    return sum(asks_for_page(one.query) for one in sandbox.sandbox.requests)


def a_page(bench: Bench, state: str) -> tuple[str, Path]:
    """A window in this state, and its last page."""
    window = bench.store.windows(state)[0]
    return window.id, bench.layout.window(window.id) / bench.store.pages(window.id)[-1].file


def test_a_deleted_state_store_is_restored_without_reading(bench, sandbox):
    begun(bench, sandbox, night)
    before = remembered(bench)
    sandbox.sandbox.requests.clear()
    bench = without_state(bench)
    assert f"restored {count_of(len(before), 'window')} in the state store" in "\n".join(read_again(bench))
    assert pages_asked(sandbox) == 0
    assert remembered(bench) == before
    sandbox.sandbox.advance(seconds=7200, changed=60, packages_removed=20)
    sandbox.sandbox.advance(seconds=10)
    assert read_again(bench) == []
    assert_landed(bench, sandbox)
    bench.store.close()


def test_windows_without_raw_pages_come_back_from_receipts(bench, sandbox):
    begun(bench, sandbox, night)
    covered = bench.store.covered()
    sandbox.sandbox.requests.clear()
    shutil.rmtree(bench.layout.raw)
    bench = without_state(bench)
    assert read_again(bench)
    assert pages_asked(sandbox) == 0
    assert bench.store.covered(("loaded",)) == covered
    with pytest.raises(RawPagesDamagedError, match="missing"):
        rebuild(bench.run)
    night(bench)
    assert pages_asked(sandbox) > 0
    assert rebuild(bench.run).published
    assert_equal(bench, sandbox)
    bench.store.close()


def test_an_old_state_store_creates_nothing_twice(bench, sandbox, tmp_path):
    """The backup knows of one product and of a refusal; what was created since then, or is in doubt, is published."""
    sandbox.sandbox = Sandbox(replace(CONFIG, shipments=20, families=20))
    doubtful = Entry(
        service=str(bench.settings.base_url),
        kind="products",
        key="A-1",
        state=State.DOUBT,
        body="{}",
        body_sha256="0" * 64,
        remote_id=None,
        run_id="pushed",
        attempts=1,
        message="no answer",
        intended_at=NOW,
        settled_at=None,
        seen_at=None,
    )
    path, backup = tmp_path / "products.csv", tmp_path / "backup.db"
    path.write_text("sku,name\nP1,One\nP2,Two\n")
    sandbox.sandbox.intercept = partial(_refuse, b"P2")
    pushed(bench, path)
    with sqlite3.connect(bench.settings.data_dir / "state.db") as state:
        state.execute("vacuum into ?", [str(backup)])
    state.close()
    sandbox.sandbox.intercept = None
    path.write_text("sku,name\nP1,One\nP2,Two\nP3,Three\n")
    pushed(bench, path)
    with PushLedger(bench.settings.database_url, bench.store.turn) as ledger:
        ledger.record([doubtful])
    night(bench)
    for before_the_push in (None, rebuilt):
        bench.store.close()
        bench = without_state(bench, backup)
        if before_the_push is not None:
            before_the_push(bench)
        assert pushed(bench, path).counts == {Outcome.ALREADY_THERE: 3}
        with PushLedger(bench.settings.database_url) as ledger:
            assert doubtful in ledger.all()
    assert sorted(one["sku"] for one in sandbox.sandbox.products()) == ["P1", "P2", "P3"]
    bench.store.close()


async def _refuse(sku: bytes, request: Request) -> Response | None:
    refusal = {"errors": [{"type": "application", "message": "Not today."}]}
    return JSONResponse(refusal, 422) if sku in await request.body() else None


def test_a_data_folder_belongs_to_one_service(bench, settings_for, sandbox):
    """Another service's time counts as covered by this one's windows, and its history would be passed over."""
    begun(bench, sandbox, night)
    half_read = bench.layout.window("20260401T000000Z-20260402T000000Z-abcdef") / "page-00001.json.gz"
    half_read.parent.mkdir()
    half_read.write_bytes(b"of a run that goes on elsewhere")
    files = sorted(bench.layout.raw.rglob("*"))
    bench = without_state(bench)
    bench.settings = settings_for(sandbox, base_url="https://other.example.com")
    with pytest.raises(AnotherServiceError, match=rf"{sandbox.base_url}.*https://other\.example\.com.*WMS_DATA_DIR"):
        recover(bench.run)
    assert sorted(bench.layout.raw.rglob("*")) == files
    with pytest.raises(AnotherServiceError):
        plan_file(bench.settings, RETAILERS, bench.settings.data_dir / "by-the-tables-of-another.csv")
    assert "WMS_DATA_DIR" in "".join(bench.needs)
    assert [one.severity for one in examine(bench.settings) if one.name == "another-service"] == ["error"]
    for same in (None, "http://127.0.0.1:9", sandbox.base_url.replace("http", "HTTP")):
        recover(Run(settings_for(sandbox, base_url=same), bench.store, "test"))
    manifest = half_read.with_name("manifest.json")
    manifest.parent.mkdir()
    ours = bench.store.windows()[0].id
    text = (bench.layout.window(ours) / manifest.name).read_text().replace(ours, manifest.parent.name)
    manifest.write_text(text.replace(sandbox.base_url, "https://other.example.com"))
    with pytest.raises(AnotherServiceError, match=r"holds https://other\.example\.com"):
        recover(Run(settings_for(sandbox), bench.store, "test"))
    bench.store.close()


def named_by_the_doctor(bench: Bench) -> list[str]:
    """What is said of damaged pages."""
    found = [finding for finding in examine(bench.settings) if finding.name == "raw pages"]
    assert {finding.severity for finding in found} <= {"error"}
    return [finding.text for finding in found]


def test_a_damaged_landed_page_is_read_again(bench, sandbox):
    bench.read()
    window, page = a_page(bench, "landed")
    assert named_by_the_doctor(bench) == []
    do_harm("altered", page)
    [text] = named_by_the_doctor(bench)
    assert f"{window}/{page.name}" in text
    [line] = read_again(bench)
    assert page.name in line
    assert window in line
    assert bench.store.window(window).state == "abandoned"
    assert_landed(bench, sandbox)
    bench = without_state(bench)
    read_again(bench)
    assert window not in {one.id for one in bench.store.windows()}, "what was given up came back"
    bench.store.close()


def read_half(bench: Bench, sandbox: SandboxServer) -> None:
    left = [8]

    def fail(_: object) -> Response | None:
        left[0] -= 1
        return None if left[0] >= 0 else Response("down", 500)

    sandbox.sandbox.intercept = fail
    with bench.api() as api, pytest.raises(ServiceFailed):
        bench.reading(api).sync()
    sandbox.sandbox.intercept = None


def test_pages_of_a_lost_state_store_are_deleted(bench, sandbox):
    """Nobody goes on with them, and no retention would ever find them."""
    recover(bench.run)
    read_half(bench, sandbox)
    bench = without_state(bench)
    assert "partly read" in read_again(bench)[-1]
    assert {folder.name for folder in bench.layout.raw.iterdir()} == {window.id for window in bench.store.windows()}
    assert_landed(bench, sandbox)
    bench.store.close()


def test_a_damaged_manifest_sets_its_window_aside(bench, sandbox, tmp_path):
    """Its pages may be all that is left of what the service has deleted since."""
    begun(bench, sandbox, night)
    bench.store.close()
    shutil.copy(bench.settings.data_dir / "state.db", tmp_path / "backup.db")
    known = {window.id for window in bench.store.windows()}
    sandbox.sandbox.advance(seconds=7200, changed=60, new=10)
    night(bench)
    window = next(one for one in bench.store.windows("loaded") if one.id not in known and one.reason == "sync")
    manifest = bench.layout.window(window.id) / "manifest.json"
    whole = manifest.read_bytes()
    other = bench.layout.window(min(known)) / manifest.name
    bench.store.close()
    undamaged = shutil.copytree(bench.settings.data_dir, tmp_path / "undamaged")
    for harmed in (whole[:-9], other.read_bytes()):
        bench.begin_like(undamaged)
        manifest.write_bytes(harmed)
        bench.store.close()
        bench = without_state(bench, tmp_path / "backup.db")
        said = "\n".join(read_again(bench))
        assert f"{window.id} is ignored" in said
        assert "partly read" not in said
        assert bench.layout.pages(window.id)
        read_since = {one.interval for one in bench.store.windows("landed") if one.started_at > window.started_at}
        assert intersect((window.interval,), read_since) == (window.interval,), "its time was read again"
        assert_landed(bench, sandbox)
        [found] = [one for one in findings_of(bench.settings) if one.name.startswith("quarantined-window")]
        assert found in tuple(examine(bench.settings))
        assert f"{window.id} is ignored" in found.text
        assert "Restore manifest.json from a backup" in found.text
        assert [one.place.split("/")[-2] for one in verify(bench.settings).damaged] == [window.id]
        assert read_again(bench) == [], "it is told once"
    assert load(bench).published

    manifest.write_bytes(whole)
    assert "restored 1 window " in night(bench)[0]
    taken = bench.store.window(window.id)
    assert (taken.state, taken.records) == ("loaded", window.records)
    assert not any(one.name.startswith("quarantined-window") for one in findings_of(bench.settings))
    assert_equal(bench, sandbox)
    bench.store.close()


def test_copied_folders_and_damaged_manifests_stop_no_run(bench, sandbox):
    """What is copied is ignored; what is damaged is written again by a rebuild."""
    begun(bench, sandbox, night)
    folder = bench.layout.window(a_page(bench, "loaded")[0])
    names = [f"{folder.name}.bak", f"{folder.name}{'-again' * 9}"]
    for name in names:
        shutil.copytree(folder, folder.with_name(name))
    sandbox.sandbox.requests.clear()
    assert f"{names[0]} is ignored" in "\n".join(read_again(bench))
    assert pages_asked(sandbox) <= 1, "nothing is read again"
    assert [one.name.partition("-")[0] for one in findings_of(bench.settings)].count("quarantined") == len(names)
    before = remembered(bench)
    window, _ = a_page(bench, "loaded")
    do_harm("shortened", bench.layout.window(window) / "manifest.json")
    do_harm("deleted", bench.layout.flattened_manifest(window))
    rebuilt(bench)
    assert_equal(bench, sandbox)
    assert sorted(one.place.split("/")[-2] for one in verify(bench.settings).damaged) == sorted(names)
    bench = without_state(bench)
    read_again(bench)
    assert remembered(bench) == before
    bench.store.close()


def test_a_damaged_page_of_a_half_read_window(bench, sandbox):
    read_half(bench, sandbox)
    [window] = [window for window in bench.store.windows("reading") if window.pages][:1]
    do_harm("altered", bench.layout.window(window.id) / bench.store.pages(window.id)[0].file)
    assert window.id in read_again(bench)[0]
    assert_landed(bench, sandbox)


def test_a_damaged_loaded_page_fails_a_rebuild(bench, sandbox):
    begun(bench, sandbox, night)
    published = bench.layout.published.read_bytes()
    window, page = a_page(bench, "loaded")
    whole = page.read_bytes()
    do_harm("shortened", page)  # the doctor looks at the size of a loaded page, not into it
    [text] = named_by_the_doctor(bench)
    assert f"{window}/{page.name}" in text
    page.write_bytes(whole)
    do_harm("altered", page)
    with pytest.raises(RawPagesDamagedError, match="run `wms-sync sync`") as error:
        rebuild(bench.run)
    assert error.value.reasons == (f"{window}/{page.name}: its SHA-256 differs from that of the received page",)
    assert bench.layout.published.read_bytes() == published
    assert bench.store.window(window).state == "abandoned"
    read_again(bench)
    assert_landed(bench, sandbox)


def do_harm(harm: str, page: Path) -> None:
    content = bytearray(page.read_bytes())
    if harm == "deleted":
        page.unlink()
    elif harm == "shortened":
        page.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 1
        page.write_bytes(content)


def test_a_damaged_page_of_a_backfill(bench, sandbox):
    begun(bench, sandbox, night)
    covered = bench.store.covered()
    with bench.api() as api:
        [window] = bench.reading(api).backfill(NOW - timedelta(days=3), NOW - timedelta(days=2)).window_ids
    do_harm("altered", bench.layout.window(window) / bench.store.pages(window)[0].file)
    [line] = read_again(bench)
    assert window in line
    assert bench.store.covered() == covered
    newest = bench.store.windows("landed")[-1]
    assert (newest.reason, newest.to_at) == ("sync", NOW - timedelta(days=2))
