"""What is taken for a schedule is what Dagster takes for one: it would fail to load with another."""

from __future__ import annotations

import random

from dagster._utils.schedules import is_valid_cron_schedule

from wms_sync.cron import checked_cron

USUAL = ("0", "2", "*", "*", "*")
PARTS = [
    "*",
    "?",
    "l",
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
WORDS = ("", "nonsense", "@daily", "@Yearly", "@reboot", "0 2 * *", "0 2 * * * *", " 0  2 * * * ", "@daily @daily")


def is_one(text: str) -> bool:
    try:
        checked_cron(text)
    except ValueError:
        return False
    return True


def test_it_is_the_same_as_dagsters():
    dice = random.Random(20)
    given = list(WORDS)
    for position in range(5):
        for part in PARTS:
            fields = list(USUAL)
            fields[dice.randrange(5)] = dice.choice(PARTS)
            fields[position] = part
            given.append(" ".join(fields))
    given += [" ".join(dice.choices(PARTS, k=5)) for _ in range(500)]
    assert any(map(is_one, given))
    assert [text for text in given if is_one(text) != is_valid_cron_schedule(text)] == []
