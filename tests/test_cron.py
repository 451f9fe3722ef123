"""What is taken for a schedule is what Dagster takes for one, which would fail to load with another; its ticks."""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product

import dagster as dg
import pytest

from wms_sync.cron import checked_cron, late_after, late_after_at_most, next_tick

THURSDAY, SUNDAY = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (5, 8))
USUAL = ("0", "2", "*", "*", "*")
PARTS = [
    "*",
    "?",
    "l",
    "15w",
    "0",
    "01",
    "2",
    "7",
    "8",
    "12",
    "13",
    "23",
    "24",
    "30",
    "31",
    "32",
    "59",
    "60",
    "mon",
    "feb",
    "jan",
    "sun",
    "xyz",
    "1-5",
    "5-1",
    "1-mon",
    "mon-fri",
    "jan-mar",
    "dec-feb",
    "*/5",
    "5/10",
    "1-10/3",
    "*/0",
    "*/99",
    "1,2",
    "1,mon",
    "1,",
    "1#2",
    "5#6",
    "mon#1",
    "l5",
    "1-",
    "-1",
    "a",
    "*-5",
    "?/5",
    "1.5",
    "@daily",
]


def taken(texts: list[str], by: Callable[[str], object], refusal: type[Exception]) -> Iterator[str]:
    """The texts that it does not refuse."""
    for text in texts:
        with suppress(refusal):
            by(text)
            yield text


@pytest.mark.filterwarnings("ignore")  # Dagster warns of some
def test_it_is_the_same_as_dagsters():
    dice = random.Random(20)
    given = [
        *("", "nonsense", "@daily", "@Yearly", "@reboot", "0 2 * *", "0 2 * * * *", " 0  2 * * * ", "@daily @daily"),
        *(" ".join([*USUAL[:at], part, *USUAL[at + 1 :]]) for at in range(5) for part in PARTS),
        *(" ".join(dice.choices(PARTS, k=5)) for _ in range(500)),
    ]
    ours = set(taken(given, checked_cron, ValueError))
    everything, refusal = dg.AssetSelection.all(), dg.DagsterInvalidDefinitionError
    theirs = taken(given, lambda text: dg.ScheduleDefinition("a", target=everything, cron_schedule=text), refusal)
    assert ours == {*theirs} != set()


@pytest.mark.parametrize(
    ("cron", "day", "hours", "at_most"),
    [
        ("0 2 * * *", THURSDAY, 26, 26),
        ("0 * * * *", THURSDAY, 1.5, 1.5),
        ("*/5 * * * *", THURSDAY, 0.25, 0.25),
        ("0 2 * * 0", THURSDAY, 7 * 24 + 2, 7 * 24 + 2),
        ("0 2 * * 1-5", THURSDAY, 26, 74),
        ("0 2 * * 1-5", SUNDAY, 74, 74),
        ("*/10 * * * 1-5", THURSDAY, 1 / 3, 2 * 24 + 1 / 6 + 2),
    ],
)
def test_when_data_is_late(cron, day, hours, at_most):
    assert late_after(cron, "UTC", day) == timedelta(hours=hours)
    assert late_after_at_most(cron, "UTC") == timedelta(hours=at_most)


@pytest.mark.parametrize(
    ("cron", "zone"),
    [
        *product(["0 2 * * *", "30 1 * * *", "0 * * * *"], ["Europe/Berlin", "America/New_York", "UTC"]),
        *product(["0 2 * * *", "45 1 * * *", "0 */2 * * *"], ["Australia/Lord_Howe"]),  # by half an hour
    ],
)
@pytest.mark.parametrize("around", [((3, 1), (4, 10)), ((10, 1), (11, 5))])
def test_the_next_tick_is_dagsters_when_the_clock_changes(cron, zone, around):
    """They differed on the night in which the hour of the schedule comes twice."""
    written = "%Y-%m-%dT%H:%M:%S%z"
    first, last = (datetime(2026, month, day, tzinfo=UTC).strftime(written) for month, day in around)
    days = dg.TimeWindowPartitionsDefinition(first, fmt=written, end=last, timezone=zone, cron_schedule=cron)
    ticks = sorted(datetime.strptime(key, written).astimezone(UTC) for key in days.get_partition_keys())
    assert len(ticks) > 10
    for before, tick in pairwise(ticks):
        assert [next_tick(cron, zone, before + timedelta(seconds=later)) for later in (0, 1500)] == [tick, tick]
