"""Check a cron schedule: five fields, as Dagster reads them.

Dagster's own check is not used, because the library does not import Dagster and a wrong setting must be reported
before Dagster is loaded.
"""

from __future__ import annotations

import re

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[str, range, list[str]], ...] = (
    ("minute", range(60), []),
    ("hour", range(24), []),
    ("day of the month", range(1, 32), []),
    ("month", range(1, 13), _MONTHS),
    ("day of the week", range(8), _WEEKDAYS),
)
_WORDS = frozenset({"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"})
_ITEM = re.compile(r"(\*|(?P<low>[a-z]{3}|\d+)(-(?P<high>[a-z]{3}|\d+))?)(/0*[1-9]\d*)?")
_SPECIAL = {
    "day of the month": re.compile(r"[?l]"),
    "day of the week": re.compile(r"\?|l[0-7]|([0-7]|[a-z]{3})#[1-5]"),
}
_NEVER = re.compile(r"\S+ \S+ 3[01] (0?2|feb) \S+")


def checked_cron(text: str) -> str:
    """Return the schedule. Raises ``ValueError``, which names the wrong field."""
    parts = text.lower().split()
    if len(parts) == 1 and parts[0] in _WORDS:
        return parts[0]
    if len(parts) != len(_FIELDS):
        raise ValueError("must have five fields: minute, hour, day of the month, month, day of the week (0 2 * * *)")
    for part, (name, numbers, names) in zip(parts, _FIELDS, strict=True):
        if not all(_is_item(item, name, numbers, names) for item in part.split(",")):
            raise ValueError(f"its {name} must be *, or from {numbers[0]} to {numbers[-1]}, as in 0 2 * * *")
    if _NEVER.fullmatch(" ".join(parts)):
        raise ValueError("names a day that February does not have")
    return text


def _is_item(item: str, name: str, numbers: range, names: list[str]) -> bool:
    if name in _SPECIAL and _SPECIAL[name].fullmatch(item):
        return True
    found = _ITEM.fullmatch(item)
    if found is None:
        return False
    ends = [end for end in found.group("low", "high") if end]
    return all(end in names or (end.isdecimal() and int(end) in numbers) for end in ends)
