"""Leases over SQLite and over a real PostgreSQL: whose epoch is past writes nothing, in the state store and on disk."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.bench import store_at
from tests.state.test_ledger import intent
from wms_sync.layout import Layout
from wms_sync.state.errors import TakenOver
from wms_sync.state.holder import WRITER, Held, Holder
from wms_sync.state.schema import leases


@pytest.fixture
def overtake(url, tmp_path) -> Callable[[], None]:
    """Let another run take the lease."""
    return lambda: store_at(url, tmp_path).close()


def test_many_at_once_get_an_epoch_each(url, store, tmp_path):
    """Leases of another lock, which end no lease of this one."""

    def take(number: int) -> int:
        with store_at(url, tmp_path / str(number), what="push-many") as taken:
            return taken.lease.row.epoch

    first = take(0)
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(take, range(1, 13))) == list(range(first + 1, first + 13))
    store.lease.check()


def test_the_state_store_refuses_an_overtaken_lease(store, overtake):
    store.observe("seen", 1, "mine")
    overtake()
    with pytest.raises(TakenOver, match="has taken over"):
        store.observe("seen", 2, "late")
    with pytest.raises(TakenOver, match="no create"):
        store.ledger.record([intent("a")])
    assert "value=1, about='mine'" in repr(store.observation("seen"))
    assert store.ledger.all() == ()


def test_the_next_lease_waits_for_a_write(store, overtake):
    """There is no moment between the look at the epoch and the commit."""
    with ThreadPoolExecutor(1) as pool:
        with store._transaction():
            taking = pool.submit(overtake)
            time.sleep(0.3)
            assert not taking.done()
        taking.result(30)


def test_an_overtaken_lease_moves_no_file(store, overtake, tmp_path):
    kept, made = tmp_path / "kept", store.lease.temporary("made")
    store.lease.write_whole(kept, b"first")
    made.write_bytes(b"late")
    overtake()
    for error, late in (
        (TakenOver, lambda: store.lease.put_in_place(made, kept)),
        (TakenOver, lambda: store.lease.take_away(kept)),
        # what is left to do behind the look is one rename, out of a folder that is gone or into it
        (FileNotFoundError, lambda: store.lease.write_whole(kept, b"late")),
        (FileNotFoundError, lambda: made.replace(kept)),
        (FileNotFoundError, lambda: kept.rename(store.lease.temporary("kept"))),
    ):
        with pytest.raises(error):
            late()
    assert kept.read_bytes() == b"first"


def test_two_data_folders_take_turns_from_each_other(url, store, tmp_path):
    with store_at(url, tmp_path / "there") as there:
        with pytest.raises(TakenOver, match="two data folders"):
            store.lease.check()
        there.lease.check()
        assert store.lease.folder.is_dir(), "another's folder is not touched"


def test_an_older_copy_counts_the_same_epochs_again(url, store, tmp_path):
    with store.engine.begin() as connection:
        connection.execute(leases.delete().where(leases.c.what == "writer"))
    with store_at(url, tmp_path) as again:
        with pytest.raises(TakenOver):
            store.lease.check()
        assert again.lease.folder != store.lease.folder


def test_errors_of_an_overtaken_run_are_explained(store, overtake, tmp_path):
    def night() -> None:
        with store.leased(Layout(tmp_path), Held(WRITER, Holder.now("the night", "one"))) as taken:
            overtake()
            taken.lease.temporary("made").write_bytes(b"its folder is gone")

    with pytest.raises(TakenOver, match="this run, the night \\(run one, process") as error:
        night()
    assert isinstance(error.value.__cause__, FileNotFoundError)
