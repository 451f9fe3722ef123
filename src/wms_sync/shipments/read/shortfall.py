"""Compare what a read landed with what the service counted before its first page, and with what it counts afterwards.

The proof of a window compares lists and counts of one moment. While a part of a search index is gone or being rebuilt,
or a cache ignores the filter, both are too small and agree. So the service's count of each interval is stored before
the first page. Once all windows of the interval have landed, each counted shipment must have landed or changed since,
and the service must not count more than landed. A few differ because shipments are deleted or committed late.

If more differ, the interval is not covered: what landed is loaded, and the next run reads all of it again. What a
killed read landed is compared by the next run before it plans. A part that is gone before the first count and still
after the last is not noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wms_sync.grammar import count_of
from wms_sync.intervals import subtract
from wms_sync.service.errors import Rejected
from wms_sync.service.shipments import ShipmentListing
from wms_sync.shipments.read.counts import Counts
from wms_sync.shipments.read.progress import Warnings
from wms_sync.shipments.read.raw import ExtractError
from wms_sync.state.store import COMPLETE_STATES, ReadPlan, StateStore, Window

BEFORE_START = "records_before_start"
"""The observation of how many shipments the start date leaves out; each audit counts them again."""
UNDATED_MISSED = "undated_shipments_missed"
"""The observation of how many shipments no filter on ``updated_at`` finds; audits then begin with the lowest id."""
LEAST = 10
SHARE = 100
"""At most one shipment in ``SHARE`` of those counted, and at least ``LEAST``, may differ."""
IdsOf = Callable[[Window], Sequence[int]]
"""Returns the ids on the pages of a window; none if a page is damaged."""


class ReadIncomplete(ExtractError):
    """Fewer shipments landed than the service counted before or after the read."""


def compare(
    store: StateStore, listing: ShipmentListing, counts: Counts, warnings: Warnings, ids_of: IdsOf
) -> list[str]:
    """Compare what has landed with each stored plan, and delete the plan. Describe those that are short of it.

    Their windows no longer cover time.
    """
    found = []
    for plan in store.read_plans():
        windows = [
            window
            for window in store.windows(*COMPLETE_STATES)
            if window.covers_time
            and window.started_at >= plan.since
            and not subtract((window.interval,), (plan.interval,))
        ]
        short = _short(plan, windows, listing, counts, warnings, ids_of) if windows else None
        store.end_read(plan, [window.id for window in windows] if short else ())
        if short:
            found.append(short)
            store.delete_observation(BEFORE_START)  # it may have been counted while shipments were missing
    return found


def _short(
    plan: ReadPlan,
    windows: Sequence[Window],
    listing: ShipmentListing,
    counts: Counts,
    warnings: Warnings,
    ids_of: IdsOf,
) -> str | None:
    """Describe how far these landed windows are short of a plan; None if they are not, or if that is unknown."""
    # a read that was killed did not come to these
    unread = subtract((plan.interval,), (window.interval for window in windows))
    answers = [plan.counted, *(listing.count(part.start, part.end).count for part in (plan.interval, *unread))]
    numbers = [number for number in answers if number is not None]
    if len(numbers) < len(answers):
        counts.warn_of_none()
        return None
    # an answer of a cache, or a change within the tick between two windows, lands twice, and so does what is read again
    # because it may have been committed late behind the pages of a half-read window, also of an earlier run
    shown = [ids_of(window) for window in windows]
    twice = sum(map(len, shown)) - len(set().union(*shown))
    counted, now, *rest = numbers
    landed = sum(window.records for window in windows) - twice + sum(rest)
    most, changed = max(LEAST, counted // SHARE), 0
    if abs(landed - counted) > most or abs(landed - now) > most:
        try:
            changed = listing.count_ids(0, plan.highest_id, plan.horizon) or 0
        except Rejected:  # filters on id cannot be used, as the read has warned: any number may have changed
            changed = counted
    if landed > max(counted, now + changed) + most:  # counts end where lists do not
        counts.distrust()
    lacking = max(now, counted - changed) - landed
    if lacking > most and counts.are_reliable():
        return (
            f"Before the read, the service counted {count_of(counted, 'shipment')} that changed from "
            f"{plan.from_at:%Y-%m-%d %H:%M:%S} to {plan.to_at:%Y-%m-%d %H:%M:%S} UTC. Now it counts {now:,}; "
            f"{landed:,} landed, and {changed:,} have changed since. Its lists or counts were incomplete for a "
            "while: a part of its search index was missing or being rebuilt, or a cache answered. What landed is "
            "loaded. A sync reads all of it again with its next run; repeat a backfill. If this repeats, report it to "
            "the operator of the service."
        )
    if lacking > 0:
        warnings.remark(
            f"{count_of(lacking, 'shipment')} of {counted:,} that the service counted did not land: so few "
            "are taken to be deleted, or committed late and read with the overlap."
        )
    return None
