"""Room on the disk is looked at before anything is read."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from wms_sync.shipments.read.raw import RAW_BYTES, NotEnoughRoom, refuse_without_room
from wms_sync.storage.durable import make_private


def test_more_than_the_disk_holds_is_refused_with_numbers(bench):
    make_private(bench.layout.root)
    refuse_without_room(bench.layout, bench.store, 1000)
    with pytest.raises(NotEnoughRoom, match="WMS_START_DATE") as refused:
        refuse_without_room(bench.layout, bench.store, 10**12)
    assert refused.value.records == 10**12
    assert refused.value.needed > RAW_BYTES * 10**12 > refused.value.free


def test_what_shipments_took_so_far_counts(bench, sandbox):
    bench.read()
    sandbox.sandbox.advance(seconds=3600, changed=30)
    with sqlite3.connect(bench.layout.root / "state.db") as connection:
        connection.execute("update windows set bytes = 1000000000000000")
    connection.close()
    windows, served = bench.store.windows(), len(sandbox.sandbox.requests)
    with pytest.raises(NotEnoughRoom):
        bench.read()
    assert bench.store.windows() == windows, "nothing was begun"
    assert not [one for one in list(sandbox.sandbox.requests)[served:] if "limit=20" in one.query], "no page was read"


def test_the_copy_that_is_published_needs_room_too(bench):
    make_private(bench.layout.root)
    with bench.layout.published.open("wb") as file:
        file.truncate(shutil.disk_usage(bench.layout.root).free + 2**30)  # takes no disk: it is one hole
    with pytest.raises(NotEnoughRoom):
        refuse_without_room(bench.layout, bench.store, 1)
