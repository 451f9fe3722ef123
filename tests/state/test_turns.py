"""Turns over SQLite and over a real PostgreSQL: whose epoch is past writes nothing, in the state store and on disk."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import NOW, turn_at
from wms_sync.layout import Layout
from wms_sync.state.errors import TakenOver
from wms_sync.state.ledger import Entry, PushLedger, State
from wms_sync.state.schema import turns
from wms_sync.state.store import StateStore
from wms_sync.state.turns import newest_epoch, taking_turn


def overtake(url: str, folder: Path) -> None:
    turn_at(url, folder).close()


def test_each_turn_counts_further_and_names_its_holder(url, turn, tmp_path):
    overtake(url, tmp_path)
    newest = newest_epoch(url)
    assert newest is not None
    assert newest.epoch == turn.epoch.row.epoch + 1
    assert (newest.what, newest.purpose, newest.host) == ("writer", "test", "this host")
    assert newest.began_at >= turn.epoch.row.began_at


def test_many_at_once_get_an_epoch_each(url, tmp_path):
    def take(number: int) -> int:
        taken = turn_at(url, tmp_path / str(number), what="push-many")
        taken.close()
        return taken.epoch.row.epoch

    turn_at(url, tmp_path, what="push-many").close()
    with ThreadPoolExecutor(4) as pool:
        epochs = list(pool.map(take, range(12)))
    assert sorted(epochs) == list(range(min(epochs), min(epochs) + 12))


def test_the_state_store_refuses_an_overtaken_turn(url, turn, tmp_path):
    name = turn.folder.name  # the database of the tests is one for all
    with StateStore(url, turn) as store, PushLedger(url, turn) as ledger:
        store.observe(name, 1, "mine")
        overtake(url, tmp_path)
        with pytest.raises(TakenOver, match="has taken over"):
            store.observe(name, 2, "late")
        with pytest.raises(TakenOver, match="no create"):
            ledger.record([an_intent(name)])
        seen = store.observation(name)
        assert seen is not None
        assert seen.about == "mine"
        assert ledger.entries("service", "products", [name]) == {}


def test_turns_of_different_locks_are_independent(url, turn, tmp_path):
    other = turn_at(url, tmp_path, what="push-retailers")
    turn.epoch.check()
    other.epoch.check()
    assert turn.folder.is_dir()
    other.close()


def test_the_next_turn_waits_for_a_write(url, turn, tmp_path):
    """There is no moment between the look at the epoch and the commit."""
    order: list[str] = []

    def take() -> None:
        overtake(url, tmp_path)
        order.append("taken")

    with StateStore(url, turn) as store:
        other = threading.Thread(target=take)
        with store._transaction():
            other.start()
            time.sleep(0.3)
            order.append("written")
        other.join()
    assert order == ["written", "taken"]


def test_an_overtaken_turn_moves_no_file(url, turn, tmp_path):
    kept = tmp_path / "kept"
    turn.write_whole(kept, b"first")
    made = turn.temporary("made")
    made.write_bytes(b"late")
    overtake(url, tmp_path)
    for late in (lambda: turn.put_in_place(made, kept), lambda: turn.take_away(kept)):
        with pytest.raises(TakenOver):
            late()
    with pytest.raises(FileNotFoundError):  # nor anything made
        turn.write_whole(kept, b"late")
    assert kept.read_bytes() == b"first"


def test_a_late_rename_finds_nothing(url, turn, tmp_path):
    """What is left to do behind the look is one rename, out of a folder that is gone or into it."""
    kept, made = tmp_path / "kept", turn.temporary("made")
    kept.write_bytes(b"first")
    made.write_bytes(b"late")
    turn.epoch.check()
    overtake(url, tmp_path)
    with pytest.raises(FileNotFoundError):
        made.replace(kept)
    with pytest.raises(FileNotFoundError):
        kept.rename(turn.temporary("kept"))
    assert kept.read_bytes() == b"first"


def test_two_data_folders_take_turns_from_each_other(url, turn, tmp_path):
    there = turn_at(url, tmp_path / "there")
    with pytest.raises(TakenOver, match="two data folders"):
        turn.epoch.check()
    there.epoch.check()
    assert turn.folder.is_dir(), "another's folder is not touched"
    there.close()


def test_an_older_copy_counts_the_same_epochs_again(url, turn, tmp_path):
    """It counts the same epochs once more."""
    with turn.epoch._engine.begin() as connection:
        connection.execute(turns.delete().where(turns.c.what == "writer"))
    again = turn_at(url, tmp_path)
    with pytest.raises(TakenOver):
        turn.epoch.check()
    assert again.folder != turn.folder
    again.close()


def test_errors_of_an_overtaken_run_are_explained(url, tmp_path):
    def night() -> None:
        with taking_turn(url, Layout(tmp_path), "the night", run_id="one") as turn:
            overtake(url, tmp_path)
            turn.temporary("made").write_bytes(b"its folder is gone")

    with pytest.raises(TakenOver, match="this run, the night \\(run one, process") as error:
        night()
    assert isinstance(error.value.__cause__, FileNotFoundError)


def test_an_error_in_its_own_turn_stays(url, tmp_path):
    with (
        pytest.raises(ValueError, match="mine"),
        taking_turn(url, Layout(tmp_path), "the night"),
    ):
        raise ValueError("mine")
    assert list(Layout(tmp_path).turns.iterdir()) == []


def an_intent(key: str) -> Entry:
    return Entry("service", "products", key, State.INTENDED, "{}", "0" * 64, None, "run", 1, None, NOW, None, None)
