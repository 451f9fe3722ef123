"""Snapshots: what one database had the other has, and a higher number never has an older state."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from msgspec.structs import replace

from tests.bench import store_at
from tests.state.test_ledger import intent
from wms_sync.intervals import Interval
from wms_sync.layout import Layout
from wms_sync.state.schema import METADATA
from wms_sync.state.snapshot import Snapshot, decoded, encoded
from wms_sync.state.snapshot_files import newest_head, newest_snapshot, write_snapshot
from wms_sync.state.store import LandedPage, ReadPlan, StateStore, Window

DAY = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)
WHOLE = Interval(DAY.replace(day=1), DAY.replace(day=2))


def filled(store: StateStore) -> Snapshot:
    store.snapshots.begin()
    begun = Window(
        id="w1", from_at=WHOLE.start, to_at=WHOLE.end, reason="sync", run_id="r", signature="s", service="https://a"
    )
    store.begin_windows([begun], [ReadPlan(WHOLE.start, WHOLE.end, DAY, DAY, None, 2**40)])
    store.record_page(LandedPage("w1", 1, "page-00001.json.gz", None, 3, 2**40, 10, 20, "ab" * 32, DAY))
    store.remember_forgotten([2**62])
    store.observe("seen", -5, "ümlaut 'quoted'")
    return store.snapshots.take()


def test_what_is_put_back_is_what_was_read(store, tmp_path):
    """Every table but three: the ledger and the leases of this store stay, the installation has become the head."""
    with store_at(f"sqlite:///{tmp_path}/filled.db", tmp_path / "filled") as other:
        snapshot = filled(other)
    assert {table.name for table in METADATA.sorted_tables} - snapshot.tables.keys() == {
        "leases",
        "push_ledger",
        "installation",
    }
    assert {name for name, rows in snapshot.tables.items() if rows} >= {"windows", "pages", "read_plans"}
    assert snapshot.installation.snapshot == 1
    store.ledger.record([intent("a")])
    for number in (2, 2):
        store.snapshots.put_back(decoded(encoded(snapshot)))
        assert store.snapshots.installation() == snapshot.installation
        again = store.snapshots.take()
        assert again.installation.snapshot == number
        assert (again.creates, replace(again, installation=snapshot.installation, creates=0)) == (1, snapshot)
    assert store.ledger.all() == (intent("a"),)
    store.lease.check()


def test_a_higher_number_has_all_that_a_lower_one_has(store, url, tmp_path):
    """A push and a sync that end at the same moment: each records something, then takes its snapshot."""
    filled(store)
    stores = [store_at(url, tmp_path, what) for what in ("push-products", "push-retailers", "push-location-tags")]

    def ends(number: int) -> tuple[int, int, int]:
        mine = stores[number % len(stores)]
        mine.observe(f"push {number}", 1, "-")
        taken = mine.snapshots.take()
        seen = {row["name"] for row in taken.tables["observations"]}
        assert f"push {number}" in seen
        return taken.installation.snapshot, len(seen), number

    with ThreadPoolExecutor(len(stores)) as pool:
        taken = sorted(pool.map(ends, range(30)))
    assert [number for number, *_ in taken] == list(range(2, 32)), "no number is given twice"
    assert [seen for _, seen, _ in taken] == sorted(seen for _, seen, _ in taken)
    for store_of_kind in stores:
        store_of_kind.close()


def test_the_newest_two_are_kept_and_the_newest_readable_one_counts(store, tmp_path):
    layout = Layout(tmp_path)
    filled(store)
    for _ in range(4):
        write_snapshot(layout, store)
    before, newest = layout.snapshots()
    for content, counts in (((tmp_path / newest).read_bytes(), 5), (b"", 4), (b"{}", 4)):
        (tmp_path / newest).write_bytes(content)
        found, head = newest_snapshot(layout), newest_head(layout)
        assert found is not None
        assert found.installation == head
        assert found.installation.snapshot == counts
    (tmp_path / before).unlink()
    assert newest_snapshot(layout) is None
