"""What a power failure or a kill finds: each thing is durable before whatever relies on it is written or sent.

No kill shows a file that was not synced. So the steps of a run are watched as they come, in this process.
"""

import threading
from collections.abc import Sequence

from tests.bench import IMPATIENT
from tests.master_data.conftest import pushed
from tests.survival.moments import watched
from wms_sync.master_data.kinds import PRODUCTS

PUT = "Lease.put_in_place > put_in_place: before replace"
COMMIT = "StatePart._execute > Guarded._transaction: before commit"
STEPS = {
    "a page is on disk under its name when it is recorded": (
        "land > FolderFiles.put > Lease.write_whole > write_synced: after fsync",
        f"FolderFiles.put > Lease.write_whole > {PUT}",
        "Lease.write_whole > Lease.put_in_place > put_in_place > sync: after fsync",
        f"WindowReader._land > StateStore.record_page > {COMMIT}",
    ),
    "a Parquet file is on disk before it gets its name": (
        "_put_in_place > sync_file > sync: after fsync",
        "_put_in_place > put_in_place: before replace",
    ),
    "the published file is on disk before it gets its name": (
        "Refresh.run > Refresh._load > FileLoad.publish > sync: after fsync",
        f"Refresh._load > FileLoad.publish > {PUT}",
    ),
    "a window counts as loaded once its rows are published": (
        "Refresh._load > FileLoad.publish > Lease.put_in_place > put_in_place: after replace",
        f"Refresh._load > StateStore.mark_loaded > {COMMIT}",
    ),
}
SENT = "Connection.send > Connection._once > Connection._answered > TimedClient.send: before send"


def assert_in_order(steps: Sequence[str], came: Sequence[str]) -> None:
    """Each time that the last step comes, all others have just come before it, in this order."""
    *before, last = steps
    since: list[str] = []
    assert last in came
    for name in came:
        if name == last:
            assert since[-len(before) :] == before
            since = []
        elif name in before:
            since.append(name)


def test_each_step_is_durable_before_the_next(bench):
    """One request, and one page, after the other."""
    bench.settings = bench.settings.model_copy(update={"max_parallel_requests": 1})
    came: dict[int, list[str]] = {}
    with watched(lambda name: came.setdefault(threading.get_ident(), []).append(name)):
        bench.sync()
    for steps in STEPS.values():  # each of them is the work of one thread
        assert_in_order(steps, [name for thread in came.values() for name in thread])


def test_an_intent_is_synced_before_its_create(bench, tmp_path):
    path = tmp_path / "products.csv"
    path.write_text("sku,name\nP1,One\n")
    came: list[str] = []
    with watched(came.append):
        pushed(bench.settings, PRODUCTS, path, run_id="test", policy=IMPATIENT)
    assert_in_order(
        (
            "Push._intend > PushLedger.record > StatePart._put > Guarded._transaction: after commit",
            "Push._top_up > Push._intend > PushLedger.record > CreatesJournal.append: after fsync",
            SENT,
        ),
        came[: came.index(SENT) + 1],
    )
