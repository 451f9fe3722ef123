"""What lies on disk is lost, altered or left over: the next run mends it or says what to do."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.responses import Response

from tests.bench import NOW, Bench, let_pass, logged, pages_asked
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.kinds import RETAILERS
from wms_sync.runs import plan_push
from wms_sync.service.errors import ServiceFailed
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.state.snapshot import decoded, encoded
from wms_sync.state.snapshot_files import AnotherInstallation
from wms_sync.targets.errors import AnotherServiceError, PublishedElsewhere, RawPagesDamagedError
from wms_sync.upkeep.recovery import recover_state


def remembered(bench: Bench) -> set[tuple[object, ...]]:
    """All windows that count and their pages."""
    return {
        (window.id, window.interval, window.reason, window.run_id, window.records, bench.store.pages(window.id))
        for window in bench.store.windows("landed", "loaded")
    }


def read_again(bench: Bench) -> list[str]:
    """A sync as far as it has read; what it said of mending."""
    with logged() as said:
        bench.recover()
    bench.read()
    return said


def a_page(bench: Bench, state: str) -> tuple[str, Path]:
    """A window in this state, and its last page."""
    window = next(window for window in bench.store.windows(state) if window.pages)
    return window.id, bench.layout.raw / window.id / bench.store.pages(window.id)[-1].file


def alter(page: Path) -> None:
    page.write_bytes(page.read_bytes()[:-8] + b"8 others")


@pytest.mark.parametrize("old", [False, True])
def test_a_lost_state_store_is_restored_without_reading(bench, sandbox, old, tmp_path):
    """From the newest snapshot, as it was at the end of the last run: by one of the runs that begin, others wait."""
    bench.first_sync(sandbox)
    copy = Path(shutil.copy(bench.layout.state, tmp_path / "old.db")) if old else None
    let_pass(sandbox.sandbox, seconds=7200, changed=60, new=10)
    bench.sync()
    before = remembered(bench)
    sandbox.sandbox.requests.clear()
    bench.lose_the_state_store(copy)
    with logged() as said, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: recover_state(bench.settings), range(4)))
    assert len([line for line in said if "restored from snapshot" in line]) == 1, said
    bench.recover()
    assert remembered(bench) == before
    bench.read()
    assert pages_asked(sandbox) == []


def read_half(bench: Bench, sandbox: SandboxServer) -> None:
    answers = iter(range(8))
    sandbox.sandbox.intercept = lambda _: Response("down", 500) if next(answers, None) is None else None
    with pytest.raises(ServiceFailed):
        bench.read()
    sandbox.sandbox.intercept = None


READS = {
    "everything": lambda bench, sandbox: bench.first_sync(sandbox),
    "the first page": read_half,
    "nothing": lambda *_: None,
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("readable", [True, False])
def test_the_state_store_of_another_installation_is_refused(bench, sandbox, tmp_path, read, readable):
    """A wrong WMS_STATE_URL must never clear a folder; nor may a folder without a snapshot be taken for a new one."""
    READS[read](bench, sandbox)
    theirs = bench.settings.model_copy(update={"data_dir": tmp_path / "theirs"})
    recover_state(theirs)
    bench.lose_the_state_store(theirs.layout.state)
    for key in () if readable else bench.layout.snapshots():
        (bench.layout.root / key).write_bytes(b"")
    before = {path: path.stat().st_mtime_ns for path in bench.layout.root.rglob("*") if "work" not in path.parts}
    if read == "nothing" and not readable:
        bench.recover()  # a new installation with a store that another one left
        return
    with pytest.raises(AnotherInstallation, match=r"does not belong to the files .* Nothing was read, changed or del"):
        recover_state(bench.settings)
    assert "does not belong to the files" in "".join(bench.needs)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_files_that_are_all_gone_are_named(bench, sandbox):
    """As at a wrong place. Without the state store too, everything is read again."""
    bench.first_sync(sandbox)
    shutil.rmtree(bench.layout.raw.parent)
    with pytest.raises(AnotherInstallation, match=r"0 windows are there, and it knows \d+ others"):
        recover_state(bench.settings)
    assert not bench.layout.raw.parent.exists()
    bench.lose_the_state_store(during_a_run=True)
    shutil.rmtree(bench.layout.parquet)
    bench.recover()
    bench.sync()
    bench.assert_equal(sandbox)


def test_snapshots_of_which_only_the_heads_are_readable_make_no_new_installation(bench, sandbox):
    bench.first_sync(sandbox)
    bench.lose_the_state_store()
    for key in bench.layout.snapshots():
        path = bench.layout.root / key
        path.write_bytes(encoded(replace(decoded(path.read_bytes()), tables={})))
    with pytest.raises(AnotherInstallation, match=r"no snapshot raw/state-\* is readable\. Nothing was read"):
        recover_state(bench.settings)
    assert bench.layout.windows()


def test_a_data_folder_belongs_to_one_service(bench, settings_for, sandbox):
    """Another service's time counts as covered by this one's windows, and its history would be passed over."""
    bench.first_sync(sandbox)
    bench.settings = settings_for(sandbox, base_url="https://other.example.com")
    with pytest.raises(AnotherServiceError, match=rf"{sandbox.base_url}.*https://other\.example\.com.*WMS_DATA_DIR"):
        bench.recover()
    with pytest.raises(AnotherServiceError):
        plan_push(bench.settings, RETAILERS, bench.settings.data_dir / "by-the-tables-of-another.csv")
    assert "WMS_DATA_DIR" in "".join(bench.needs)
    for same in (None, "http://127.0.0.1:9", sandbox.base_url.replace("http", "HTTP")):
        bench.settings = settings_for(sandbox, base_url=same)
        bench.recover()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_published_file_that_is_a_link_is_refused(bench, sandbox, tmp_path, is_there):
    """The link was replaced, and what a BI tool reads behind it stayed old."""
    bench.first_sync(sandbox)
    published, behind = bench.layout.published, tmp_path / "shared.duckdb"
    published.rename(behind)
    published.symlink_to(behind if is_there else tmp_path / "nothing.duckdb")
    with pytest.raises(PublishedElsewhere, match="is a symbolic link to"):
        bench.recover()
    assert "is a symbolic link to" in "".join(bench.needs)
    assert published.is_symlink()
    published.unlink()
    behind.rename(published)
    bench.recover()


@pytest.mark.parametrize(("state", "read"), [("landed", lambda bench, _: bench.read()), ("reading", read_half)])
def test_a_damaged_page_is_read_again(bench, sandbox, state, read):
    read(bench, sandbox)
    window, page = a_page(bench, state)
    alter(page)
    line = read_again(bench)[0]
    assert (page.name in line, window in line) == (True, True), line
    assert bench.store.window(window).state == "abandoned"
    bench.assert_landed(sandbox)
    bench.lose_the_state_store()
    read_again(bench)
    assert bench.store.window(window).state == "abandoned", "what was given up came back"


def test_a_folder_that_was_copied_stops_no_run(bench, sandbox):
    bench.first_sync(sandbox)
    window, _ = a_page(bench, "loaded")
    shutil.copytree(bench.layout.raw / window, bench.layout.raw / f"{window}.bak")
    sandbox.sandbox.requests.clear()
    assert f"{window}.bak: what it covers is read again" in "".join(read_again(bench))
    assert len(pages_asked(sandbox)) <= 1, "nothing is read again"
    assert read_again(bench) == [], "the warning comes once"


STRAY = (".DS_Store", "@eaDir", ".nfs000001", "copy of raw", "._x.json", os.fsdecode(b"caf\xe9"), "x" * 70)
"""Names that systems and persons leave in folders, one of them not UTF-8; no window has them."""


def test_stray_names_stop_no_run_and_stand_in_no_snapshot(bench, sandbox):
    """Recorded as windows, they made each later snapshot and backup unreadable."""
    bench.first_sync(sandbox)
    before = remembered(bench)
    for number, name in enumerate(STRAY):
        (bench.layout.root / "parquet/_windows" / name).write_bytes(b"Mac OS X")
        place = bench.layout.raw / name
        place.mkdir() if number % 2 else place.write_bytes(b"")
    assert read_again(bench) == []
    assert bench.store.windows("abandoned") == ()
    bench.lose_the_state_store()
    assert "restored from snapshot" in read_again(bench)[0]
    assert remembered(bench) == before
    assert rebuild(bench.run).published
    assert {*STRAY} <= {path.name for path in bench.layout.raw.iterdir()}, "they are not ours to delete"


def test_a_damaged_loaded_page_fails_a_rebuild(bench, sandbox):
    bench.first_sync(sandbox)
    published = bench.layout.published.read_bytes()
    window, page = a_page(bench, "loaded")
    alter(page)
    with pytest.raises(RawPagesDamagedError, match="run `wms-sync sync`") as error:
        rebuild(bench.run)
    assert error.value.reasons == (f"{window}/{page.name}: it is altered: its SHA-256 differs",)
    assert (bench.layout.published.read_bytes() == published, bench.store.window(window).state) == (True, "abandoned")
    read_again(bench)
    bench.assert_landed(sandbox)


def test_a_damaged_page_of_a_backfill(bench, sandbox):
    bench.first_sync(sandbox)
    covered = bench.store.covered()
    [window] = bench.backfill(NOW - timedelta(days=3), NOW - timedelta(days=2)).window_ids
    alter(bench.layout.raw / window / bench.store.pages(window)[0].file)
    [line] = read_again(bench)
    assert window in line
    assert bench.store.covered() == covered
    newest = bench.store.windows("landed")[-1]
    assert (newest.reason, newest.to_at) == ("sync", NOW - timedelta(days=2))
