"""Rows landed, flattened and merged are compared at each commit: what does not add up is not merged."""

from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

from tests.bench import let_pass, queried, store_at
from wms_sync.shipments.flatten.window import flattened_window, write_flattened
from wms_sync.shipments.flatten.workers import flatten_landed
from wms_sync.shipments.load.merge import Merger
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.state.store import Run
from wms_sync.targets.database import Session, receipts, row_counts
from wms_sync.targets.errors import CountsDisagreeError
from wms_sync.targets.opening import open_for_writing
from wms_sync.targets.target import target_of


def rewrite(path, select: str) -> None:
    """Replace a Parquet file by what is selected of it."""
    with duckdb.connect() as connection:
        connection.execute(f"copy ({select.format(file=repr(str(path)))}) to '{path}.rewritten' (format parquet)")
    Path(f"{path}.rewritten").replace(path)


ONE_LESS = "from read_parquet({file}) limit (select count(*) - 1 from read_parquet({file}))"
ONE_TWICE = (
    "from read_parquet({file}) where id <> (select max(id) from read_parquet({file})) "
    "union all from read_parquet({file}) where id = (select min(id) from read_parquet({file}))"
)


def test_a_load_begins_without_what_one_that_was_overtaken_has_committed(synced, sandbox):
    """It may be half a load that no check was asked about."""
    target = target_of(synced.settings)
    with target.load(synced.store.lease) as overtaken:
        with overtaken.session() as session:
            session.connection.execute("delete from shipments")
        with (
            store_at(synced.settings.database_url, synced.settings.data_dir) as other,
            target.load(other.lease) as load,
            load.session() as session,
        ):
            assert session.connection.execute("select count(*) from shipments").fetchall() == [(240,)]


@pytest.mark.proof
def test_rows_that_do_not_add_up_are_not_merged(synced, sandbox, tmp_path):
    """Not in part either: a window is merged with its receipt or not at all. A rebuild mends them."""
    let_pass(sandbox.sandbox, seconds=3600, changed=100, new=20)
    synced.read()
    assert not flatten_landed(synced.settings, synced.store, from_scratch=False)
    [window] = [one.id for one in synced.store.windows("landed")]
    for table, select, says in (
        ("shipments", ONE_LESS, "119 rows, but 120 were flattened"),
        ("packages", ONE_LESS, "were flattened into it"),
        ("shipments", ONE_TWICE, "duplicated"),
    ):
        (file,) = (synced.layout.parquet / table).glob(f"{window}*")
        whole = file.read_bytes()
        rewrite(file, select)
        with pytest.raises(CountsDisagreeError, match=says):
            refresh(synced.run)
        assert [one.id for one in synced.store.windows("landed")] == [window]
        assert queried(synced.layout.published, "select count(*) from shipments") == [(240,)]
        assert queried(synced.layout.published, "from ops.loads where window_id = ?", window) == []
        if select == ONE_TWICE:
            assert_merged_not_even_in_part(synced, window, tmp_path)
        file.write_bytes(whole)
    rewrite(file, ONE_LESS)
    record = flattened_window(synced.layout, window)  # with it the files agree: only the count of the pages shows it
    record.parts["shipments"] = [replace(part, rows=part.rows - 1) for part in record.parts["shipments"]]
    write_flattened(synced.store.lease, synced.layout, window, record)
    with pytest.raises(CountsDisagreeError, match=f"pages of window {window} have"):
        refresh(synced.run)
    assert [one.id for one in synced.store.windows("landed")] == [window]
    assert rebuild(Run(synced.settings, synced.store, "again")).rows["shipments"] == 260
    assert queried(synced.layout.published, "select distinct run_id, load_run_id from ops.loads") == [("test", "again")]
    synced.assert_equal(sandbox)


def assert_merged_not_even_in_part(bench, window: str, tmp_path: Path) -> None:
    copied = tmp_path / "copied.duckdb"
    copied.write_bytes(bench.layout.published.read_bytes())
    with open_for_writing(copied, memory_limit="500MB") as connection:
        merger = Merger(Session(connection), bench.layout, run_id="test", include_addresses=False, omitted={})
        before = row_counts(connection)
        with pytest.raises(CountsDisagreeError, match="duplicated"):
            merger.merge([(bench.store.window(window), flattened_window(bench.layout, window))])
        assert window not in receipts(connection)
        assert row_counts(connection) == before
