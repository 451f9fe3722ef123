"""Flattening ahead: while other windows are read, and never the only one who knows of a trouble."""

import hashlib
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest

from tests.bench import CONFIG
from wms_sandbox.app import Sandbox
from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.window import flatten_window, flattened_window
from wms_sync.shipments.flatten.workers import Flattening
from wms_sync.shipments.load.refresh import refresh
from wms_sync.shipments.read.reader import Reading
from wms_sync.state.store import Run
from wms_sync.targets.errors import AnalyticsError


def read_with_ahead(bench):
    with bench.api() as api, Flattening(bench.settings, bench.store) as ahead:
        return Reading(bench.run, api, landed=ahead.add).sync()


def test_every_window_that_landed_is_flattened_when_the_read_ends(bench):
    report = read_with_ahead(bench)
    assert report.window_ids
    for window in report.window_ids:
        flattened = flattened_window(bench.layout, window)
        assert flattened.records == bench.store.window(window).records
        for table, parts in flattened.parts.items():
            for part, file in zip(parts, flattened.files(bench.layout, table), strict=True):
                content = Path(file).read_bytes()
                assert (part.size, part.sha256) == (len(content), hashlib.sha256(content).hexdigest())


def test_trouble_ahead_is_reported_and_nothing_is_lost(bench):
    """By the refresh; where the memory is not enough, it names the setting."""
    bench.layout.parquet.parent.mkdir(parents=True, exist_ok=True)
    bench.layout.parquet.write_text("in the way")
    read_with_ahead(bench)
    with pytest.raises(AnalyticsError, match="could not be refreshed"):
        refresh(bench.run)
    bench.layout.parquet.unlink()
    with pytest.raises(AnalyticsError, match="WMS_MEMORY_LIMIT"):  # 20 MB are less than can be set
        refresh(Run(bench.settings.model_copy(update={"memory_limit": "20MB"}), bench.store, "test"))
    assert bench.load().rows["shipments"] == 240


def test_a_batch_for_which_the_memory_is_not_enough_is_halved(bench, sandbox, tmp_path):
    sandbox.sandbox = Sandbox(CONFIG)
    bench.settings = bench.settings.model_copy(update={"page_size": 100, "max_parallel_requests": 1})
    bench.read()
    window = max(bench.store.windows("landed"), key=lambda one: one.pages)
    parts = set()
    for limit in (66, *range(59, 48, -1)):  # what a batch needs besides its content is some 55 MB
        with (
            suppress(duckdb.OutOfMemoryException),
            closing(Flattener(work_dir=tmp_path / str(limit), memory_limit=f"{limit}MB")) as flattener,
        ):
            flatten_window(bench.layout, bench.store, flattener, window.id, batch_bytes=10**9)
            flattened = flattened_window(bench.layout, window.id)
            assert flattened.records == window.records
            parts.add(len(flattened.parts["shipments"]))
        if len(parts) > 1:
            break
    assert min(parts) == 1 < max(parts)
