"""Flattening ahead: while other windows are read, and never the only one who knows of a trouble."""

from __future__ import annotations

import pytest

from tests.test_sync import say
from wms_sync.analytics.errors import AnalyticsError
from wms_sync.analytics.flattened import is_flattened
from wms_sync.analytics.flattening import Flattening
from wms_sync.analytics.refresh import refresh
from wms_sync.extract.read import Reading


def read_with_ahead(bench):
    with bench.api() as api, Flattening(bench.settings, bench.store) as ahead:
        reading = Reading(bench.settings, bench.store, api, run_id="test", landed=ahead.add)
        return reading.sync()


def test_every_window_that_landed_is_flattened_when_the_read_ends(bench):
    report = read_with_ahead(bench)
    assert report.window_ids
    assert all(is_flattened(bench.layout, window) for window in report.window_ids)
    assert refresh(bench.settings, bench.store, run_id="test", say=say).rows["shipments"] == 600


def test_trouble_ahead_is_told_by_the_refresh_and_nothing_is_lost(bench):
    bench.layout.parquet.parent.mkdir(parents=True, exist_ok=True)
    bench.layout.parquet.write_text("in the way")
    read_with_ahead(bench)
    with pytest.raises(AnalyticsError, match="could not be refreshed"):
        refresh(bench.settings, bench.store, run_id="test", say=say)
    bench.layout.parquet.unlink()
    assert refresh(bench.settings, bench.store, run_id="test", say=say).rows["shipments"] == 600


def test_out_of_memory_names_the_setting(bench):
    read_with_ahead(bench)
    tight = bench.settings.model_copy(update={"memory_limit": "20MB"})  # less than can be set
    with pytest.raises(AnalyticsError, match="WMS_MEMORY_LIMIT"):
        refresh(tight, bench.store, run_id="test", say=say)
    assert refresh(bench.settings, bench.store, run_id="test", say=say).published
