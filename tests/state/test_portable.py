"""The state store as text: what one database had the other has."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.conftest import store_at
from wms_sync.intervals import Interval
from wms_sync.state.errors import MigrationsUnknown
from wms_sync.state.ledger import Entry, State
from wms_sync.state.portable import Snapshot, decoded, encoded, put_back, read_snapshot
from wms_sync.state.schema import METADATA, turns
from wms_sync.state.store import LandedPage, Window

DAY = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)
WHOLE = Interval(DAY.replace(day=1), DAY.replace(day=2))


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    url = f"sqlite:///{tmp_path}/filled.db"
    with store_at(url, tmp_path) as store:
        store.begin_windows([Window.begun("w1", WHOLE, reason="sync", run_id="r", signature="s", service="https://a")])
        store.record_page(LandedPage("w1", 1, "page-00001.json.gz", None, 3, 2**40, 10, 20, "ab" * 32, DAY))
        store.remember_forgotten([2**62])
        store.observe("seen", -5, "ümlaut 'quoted'")
        store.ledger.record([Entry("s", "products", "k", State.DOUBT, "{}", "00", None, "r", 1, None, DAY, None, None)])
        return read_snapshot(store.engine)


def test_every_table_but_the_turns_comes_along(snapshot):
    assert snapshot.tables.keys() == {table.name for table in METADATA.sorted_tables} - {turns.name}
    assert {name for name, rows in snapshot.tables.items() if rows} >= {"windows", "pages", "push_ledger"}


def test_what_is_put_back_is_what_was_read(store, snapshot):
    for _ in range(2):
        put_back(store.engine, decoded(encoded(snapshot)))
        assert read_snapshot(store.engine) == snapshot


def test_a_newer_state_store_is_refused(snapshot, store):
    with pytest.raises(MigrationsUnknown, match="9999_later"):
        put_back(store.engine, replace(snapshot, migrations=(*snapshot.migrations, "9999_later")))
