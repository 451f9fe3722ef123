"""Time zones of warehouses: how the setting is read, and that stored offsets say what the zone says."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from wms_sync.settings import Settings
from wms_sync.timezones import BEGINNING, END, offsets


def test_a_warehouse_is_named_as_people_write_it():
    zones = Settings.load(
        _env_file=None, warehouse_timezones=" West = America/Los_Angeles, B=2=Asia/Tokyo,, *=Europe/Berlin"
    ).timezones

    assert (zones.named, zones.default) == ({"west": "America/Los_Angeles", "b=2": "Asia/Tokyo"}, "Europe/Berlin")
    assert zones.used == ("America/Los_Angeles", "Asia/Tokyo", "Europe/Berlin")
    assert Settings.load(_env_file=None).timezones.default == "UTC"


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Africa/Casablanca", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Pyongyang"]
)
def test_offsets_change_when_the_zone_does(zone):
    found = list(offsets(zone, datetime(2026, 11, 22, tzinfo=UTC)))

    assert (found[0].from_at, found[-1].to_at) == (BEGINNING, END)
    assert all(one.to_at == other.from_at for one, other in pairwise(found))
    for one in found[1:]:
        before, at = ((one.from_at + timedelta(seconds=add)).astimezone(ZoneInfo(zone)) for add in (-1, 0))
        assert at.utcoffset() == timedelta(seconds=one.utc_offset_seconds) != before.utcoffset()
