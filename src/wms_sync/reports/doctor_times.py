"""Try, for the doctor, whether the service reads the times of a filter as UTC, which the specification leaves open.

A service that reads them in a zone west of it takes ``now`` for a time to come. A sync would count the hours until then
as covered, and never ask for what changes in them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from wms_sync.api.answer_json import decoded
from wms_sync.api.query import Page
from wms_sync.api.shipments import ShipmentListing
from wms_sync.grammar import agreed
from wms_sync.reports.findings import Finding
from wms_sync.settings import Settings
from wms_sync.whole_numbers import identity

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
STEP = timedelta(minutes=15)
"""Zones differ by multiples of it."""
MOST_STEPS = 60
"""No zone is further than 15 hours from UTC."""
YEARS = range(1970, 9999)
"""Of others some hours earlier or later may be no date."""
SUBJECT = "filter times"


def look_at_times(settings: Settings, listing: ShipmentListing, pages: Sequence[Page]) -> Iterator[Finding]:
    """Look for a shipment of these pages by its ``updated_at``; if it is not there, find where it is."""
    shipment = next(_dated(pages), None)
    if shipment is None:
        return
    id_, changed_at = shipment

    def is_among(start: datetime, end: datetime) -> bool:
        return id_ in listing.changed_within(start, end).which([id_])

    if is_among(changed_at, changed_at + SECOND):
        yield Finding(SUBJECT, "ok", f"shipment {id_} is found by its updated_at: filters are read in UTC")
        return
    long_after = changed_at + 3 * MOST_STEPS * STEP
    steps = range(-MOST_STEPS, MOST_STEPS + 1)
    nearest = bisect_left(steps, True, key=lambda step: is_among(changed_at - step * STEP, long_after))
    if not 0 < nearest < len(steps):
        yield Finding(
            SUBJECT,
            "warn",
            f"shipment {id_}, changed at {changed_at:%Y-%m-%d %H:%M:%S} UTC, is not found by a filter on that time. If "
            "it has not changed meanwhile, the service filters by something else: ask the service",
        )
        return
    yield _shifted(settings, steps[nearest] * STEP)


def _shifted(settings: Settings, ahead: timedelta) -> Finding:
    """Return a finding about a service for which the time in a filter is this much later than it is meant."""
    hours = f"{abs(ahead) / HOUR:g} {agreed(abs(ahead) // HOUR, 'hour', 'hours')}"
    if ahead < timedelta(0):
        return Finding(
            SUBJECT,
            "warn",
            f"the service reads the times of filters {hours} earlier than they are meant, in a zone of its own: each "
            "change comes that much later, and a backfill reads other hours than its days. Ask the service for UTC",
        )
    needed = int(ahead.total_seconds()) + 600
    if settings.overlap_seconds >= needed:
        return Finding(
            SUBJECT,
            "ok",
            f"the service reads the times of filters {hours} late, which WMS_OVERLAP_SECONDS makes up for",
        )
    return Finding(
        SUBJECT,
        "fail",
        f"the service reads the times of filters {hours} later than they are meant, in a zone of its own: what changes "
        f"in the {hours} after a sync is missed. Set WMS_OVERLAP_SECONDS={needed}, and ask the service for UTC",
    )


def _dated(pages: Sequence[Page]) -> Iterator[tuple[int, datetime]]:
    """Yield the id of each shipment and when it was changed, in whole seconds, as far as both can be read."""
    for page in pages:
        try:
            content = decoded(page.body.content, dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # the flattening step reports it
        records = content.get("collection")
        for record in records if isinstance(records, list) else ():
            try:
                id_, changed_at = identity(record["id"]), _utc(datetime.fromisoformat(record["updated_at"]))
            except (KeyError, TypeError, ValueError, OverflowError):
                continue
            if id_ is not None and changed_at.year in YEARS:
                yield id_, changed_at.replace(microsecond=0)


def _utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is UTC, as in the tables."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
