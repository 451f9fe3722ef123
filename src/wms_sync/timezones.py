"""Time zones of warehouses: the zone of each warehouse, and the times at which a zone's offset from UTC changes.

A day in a mart is the warehouse's local day. The service does not send the zone of a warehouse, so
``WMS_WAREHOUSE_TIMEZONES`` names it. The offsets are stored next to the tables: a view then needs neither the time
zones of the client nor its ICU extension, and joining them takes a ninth of the time of ``at time zone`` with a zone
per row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

EVERY_OTHER = "*"
UTC_NAME = "UTC"
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
END = datetime(9999, 12, 31, tzinfo=UTC)
FIRST_YEAR = 2000
"""Changes of offset before this year are left out: the offset at its beginning applies to all earlier times."""
YEARS_AHEAD = 3
FIXED = re.compile(r"EST|MST|(Etc/)?(GMT|Greenwich)([+-]?\d+)?")
"""Names of a fixed offset, not of a place. UTC is left out, because it can be meant."""


class WarehouseTimezones(Struct, frozen=True):
    """Time zones by the name or abbreviation of a warehouse, in lower case; ``default`` is for all other warehouses."""

    named: Mapping[str, str]
    default: str

    def of(self, *names: str | None) -> str | None:
        """Return the zone of the first of a warehouse's names that has a zone; None if no name has one."""
        found = (self.named.get(name.lower()) for name in names if name is not None)
        return next((zone for zone in found if zone is not None), None)

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the zones that are fixed offsets, sorted: in places with summer time their days are wrong then."""
        return tuple(zone for zone in self.used if FIXED.fullmatch(zone))

    @property
    def used(self) -> tuple[str, ...]:
        """Return every zone that a warehouse may have, sorted."""
        return tuple(sorted({*self.named.values(), self.default}))


class Offset(Struct, frozen=True):
    """An interval ``[from_at, to_at)`` in which a zone has one offset from UTC."""

    timezone: str
    from_at: datetime
    to_at: datetime
    utc_offset_seconds: int


def checked_zone(name: str) -> str:
    """Return the name of a time zone. Raise ``ValueError`` if there is no such zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: Europe is a folder
        raise ValueError("is not a time zone name such as UTC or Europe/Berlin") from error
    return name


def parse_warehouse_timezones(text: str) -> WarehouseTimezones:
    """Parse ``West=America/Los_Angeles,*=America/New_York``. Raise ``ValueError`` showing the wrong part, if any."""
    named: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        name, equals, zone = (word.strip() for word in part.rpartition("="))
        if not equals or not name:
            raise ValueError(f"has {part!r}, which is not WAREHOUSE=ZONE such as West=America/Los_Angeles")
        if name.lower() in named:
            raise ValueError(f"names the warehouse {name} twice")
        try:
            named[name.lower()] = checked_zone(zone)
        except ValueError as error:
            raise ValueError(f"has {part!r}, and {zone!r} {error}") from None
    return WarehouseTimezones(named, named.pop(EVERY_OTHER, UTC_NAME))


def offsets(timezone: str, now: datetime) -> Iterator[Offset]:
    """Yield a zone's offsets in order, without a gap. Its changes end before the year ``YEARS_AHEAD`` after ``now``."""
    from_at, seconds = BEGINNING, _seconds(timezone, datetime(FIRST_YEAR, 1, 1, tzinfo=UTC))
    for changed_at, later in _changes(timezone, now.year + YEARS_AHEAD):
        yield Offset(timezone, from_at, changed_at, seconds)
        from_at, seconds = changed_at, later
    yield Offset(timezone, from_at, END, seconds)


@cache
def _changes(timezone: str, end_year: int) -> tuple[tuple[datetime, int], ...]:
    """Return each time at which the offset changes, to the second, and the new offset in seconds."""
    if timezone == UTC_NAME:
        return ()
    found: list[tuple[datetime, int]] = []
    day, end = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(end_year, 1, 1, tzinfo=UTC)
    before = _seconds(timezone, day)
    while day < end:
        following = day + timedelta(days=1)
        if (after := _seconds(timezone, following)) != before:
            changed_at = _first_after(timezone, day, following, before)
            found.append((changed_at, _seconds(timezone, changed_at)))
        day, before = following, after
    return tuple(found)


def _first_after(timezone: str, low: datetime, high: datetime, before: int) -> datetime:
    """Return the first second in ``(low, high]`` whose offset is not ``before``."""
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (middle, high) if _seconds(timezone, middle) == before else (low, middle)
    return high


def _seconds(timezone: str, moment: datetime) -> int:
    offset = moment.astimezone(ZoneInfo(timezone)).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0
