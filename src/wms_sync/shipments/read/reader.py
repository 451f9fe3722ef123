"""Read windows in parallel: ``sync`` reads the time that is not covered, ``backfill`` reads the given days.

The horizon is taken from the service's clock before the first page. Intervals are cut by the service's counts into
windows of about ten full pages, so that they can be read in parallel, flattened in limited memory and checkpointed; the
largest are read first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from msgspec import Struct

from wms_sync.grammar import agreed, count_of, moment
from wms_sync.intervals import Interval, intersect, interval, subtract, union
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import PagingBroken, Rejected
from wms_sync.service.headers import EARLIEST, LATEST
from wms_sync.service.shipments import Counted
from wms_sync.shipments.read import plan, proof
from wms_sync.shipments.read.clocks import CLOCKS, Clocks, expected_horizon, remember, served_later
from wms_sync.shipments.read.counts import Counts, IntervalCutter
from wms_sync.shipments.read.listing import TRIED_EVERY, is_recent, listing_of, settle, try_filter, warn_of_page_size
from wms_sync.shipments.read.plan import RESUME_WITHIN, UnfinishedBackfill
from wms_sync.shipments.read.progress import Progress, Tally, Warnings, Watcher
from wms_sync.shipments.read.proof import Source
from wms_sync.shipments.read.raw import WindowIncomplete, refuse_without_room
from wms_sync.shipments.read.shortfall import BEFORE_START, UNDATED_MISSED, ReadIncomplete, compare
from wms_sync.shipments.read.window import WindowReader, new_window
from wms_sync.state.store import COMPLETE_STATES, ReadPlan, Reason, Run, Window

RECENT = timedelta(days=7)
ATTEMPTS = 3
ASKED_AGAIN = 2


class ReadReport(Struct, frozen=True):
    """The result of a read. ``horizon`` is the time up to which data could be read."""

    horizon: datetime
    intervals: tuple[Interval, ...]
    window_ids: tuple[str, ...]
    progress: Progress
    requests: int
    seconds: float
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts for the record of the run; ``records`` counts shipments, ``bytes`` compressed bytes."""
        done = self.progress
        return {
            "records": done.records,
            "pages": done.pages,
            "windows": done.windows_done,
            "bytes": done.bytes,
            "requests": self.requests,
            "warnings": len(self.warnings),
        }


class Reading:
    """One read through one client; create a new object for the next read.

    Threads call ``watcher`` whenever the progress changes, and ``landed`` for each window that is complete on disk.
    """

    def __init__(
        self,
        run: Run,
        api: GlobalApi,
        *,
        watcher: Watcher | None = None,
        landed: Callable[[str], None] | None = None,
        warnings: Warnings | None = None,
    ) -> None:
        settings, store = run.settings, run.store
        self._settings = settings
        self._store = store
        self._api = api
        self._warnings = warnings or Warnings()
        self._listing = listing_of(settings, api)
        self._counts = Counts(self._listing, self._warnings)
        self._cutter = IntervalCutter(
            self._listing, self._counts, page_size=settings.page_size, lanes=settings.max_parallel_requests
        )
        self._tally = Tally(watcher)
        self._landed = landed
        self._begin = partial(new_window, run, self._listing)
        self._notes: list[str] = []
        self._ids: dict[str, array[int]] = {}
        served_later(api, store)

    def sync(self) -> ReadReport:
        """Read everything since the start date that is not covered, plus the overlap."""
        started, start = monotonic(), self._settings.start
        self._prepare()
        covered = self._store.covered()
        overlap = self._overlap()
        lowest = min(gap.start for gap in plan.find_gaps(start, datetime.max.replace(tzinfo=UTC), covered))
        since = max(start, lowest - overlap) if covered else start
        counted = settle(self._settings, self._store, self._warnings, self._listing, since, None)
        self._count_before_start()
        clocks = self._heed_clocks()
        covered = self._store.covered()
        needed = plan.sync_intervals(start, clocks.horizon, covered, overlap)
        needed = union((*needed, *self._omitting(start, clocks.horizon)))
        known = counted if needed == interval(since, clocks.horizon) else None
        return self._read("sync", needed, known, clocks, started, undated=self._undated_window(clocks.horizon))

    def backfill(self, start: datetime, end: datetime) -> ReadReport:
        """Read ``[start, end)`` again, up to the horizon."""
        started = monotonic()
        self._prepare()
        counted = settle(self._settings, self._store, self._warnings, self._listing, start, end)
        clocks = self._heed_clocks()
        gaps, overlap = plan.find_gaps(self._settings.start, clocks.horizon, self._store.covered()), self._overlap()
        # a sync reads the overlap before a gap, so a backfill of the gap's start has to
        begin = min(
            [start, *(max(self._settings.start, gap.start - overlap) for gap in gaps if start <= gap.start < end)]
        )
        asked, needed = Interval(start, end), interval(begin, min(end, clocks.horizon))
        before = self._gone_on_with(asked, needed)
        if needed:
            plan.remember_backfill(
                self._store, asked, needed[0].end, datetime.now(UTC) if before is None else before.began_at
            )
        report = self._read("backfill", needed, counted if begin == start else None, clocks, started, before)
        self._store.delete_observation(plan.backfill_name(asked))
        return report

    def _prepare(self) -> None:
        """Try the filter if that is due. Compare what a killed read landed: if it is short, this run reads it again."""
        self._api.clock.listen()
        try_filter(self._listing, self._store, self._api.base_url)
        for text in compare(self._store, self._listing, self._counts, self._warnings, self._ids_of):
            self._warnings.remark(text)

    def _gone_on_with(self, asked: Interval, needed: Sequence[Interval]) -> UnfinishedBackfill | None:
        """Return the unfinished backfill of the same days, if part of it is unread.

        Add a note about it, or about windows of an earlier one that are loaded too.
        """
        before = plan.unfinished_backfill(self._store, asked)
        landed = self._landed_before(needed, before.began_at if before else EARLIEST)
        if before and plan.find_gaps(before.start, before.until, (window.interval for window in landed)):
            self._notes.append(
                f"resumes the backfill of {moment(before.began_at)}, which was interrupted: "
                f"{count_of(len(landed), 'window is', 'windows are')} on disk and not read again"
            )
            return before
        if landed:
            self._notes.append(
                f"{count_of(len(landed), 'window')} of an earlier backfill, read but not loaded, "
                f"{agreed(len(landed), 'is', 'are')} loaded too; all days are read again"
            )
        return None

    def _clocks(self) -> Clocks:
        """Return the clocks, as the answers since the last ``listen`` show them."""
        clock = self._api.clock
        newest = self._store.covered_until() or self._settings.start
        return Clocks(
            clock.readings, newest, expected_horizon(self._store, clock.tolerance), clock.tolerance, self._overlap()
        )

    def _heed_clocks(self) -> Clocks:
        """Return the clocks; if they are in doubt, request more answers first.

        Warn if needed, withdraw coverage of the times that the service's clock passes again, and remember the clocks.
        """
        clocks = self._clocks()
        if clocks.is_in_doubt:
            for _ in range(ASKED_AGAIN):
                self._listing.count(clocks.newest, None)
            clocks = self._clocks()
        for warning in clocks.warnings():
            self._warnings.warn(CLOCKS, warning)
        if clocks.repeated_from is not None:
            self._store.withdraw_coverage(clocks.repeated_from)
        remember(self._store, clocks)
        return clocks

    def _heed_clocks_again(self) -> None:
        """Withdraw coverage if the service's clock went back while pages were read."""
        clocks = self._clocks()
        if clocks.is_stuck:
            self._api.clock.listen()  # one server may have a wrong clock: ask again
            self._listing.count(clocks.newest, None)
            if self._clocks().went_back:
                self._heed_clocks()

    def _omitting(self, start: datetime, end: datetime) -> tuple[Interval, ...]:
        """Return the intervals that were read without data that is requested now."""
        omitting = plan.omitting(self._store.windows(*COMPLETE_STATES), self._listing.learned.selection.omitted)
        again = intersect(interval(start, end), omitting)
        if again:
            self._warnings.remark(
                "Fields that were left out before are requested again: windows that were read without them are read "
                "again."
            )
        return again

    def _overlap(self) -> timedelta:
        return max(
            timedelta(seconds=self._settings.overlap_seconds),
            timedelta(seconds=int(self._store.longest_read(datetime.now(UTC) - RECENT).total_seconds())),
        )

    def _count_before_start(self) -> None:
        about = self._settings.start.isoformat()
        known = self._store.observation(BEFORE_START)
        if known is None or known.about != about:
            before = self._listing.count(None, self._settings.start).count
            if before is not None and (before == 0 or self._counts.are_reliable()):
                self._store.observe(BEFORE_START, before, about)

    def _undated_window(self, horizon: datetime) -> tuple[Window, ...]:
        """Return the window for shipments without ``updated_at``, half-read or new; empty if it is not needed.

        Every sync reads them all, in a window that covers no time: without a date, new shipments cannot be
        distinguished from old ones.
        """
        count = self._count_undated()
        for window in self._store.windows("reading"):
            if window.reason == "undated":
                if count and self._is_fresh(window) and self._listing.requests_the_same(window.signature):
                    return (window,)
                self._store.abandon(window.id)
        if not count or horizon <= self._settings.start:
            return ()
        window = self._begin("undated", Interval(self._settings.start, horizon), count)
        self._store.begin_windows([window])
        return (window,)

    def _count_undated(self) -> int:
        """Return the number of shipments that the filter for those without ``updated_at`` finds.

        Warn if counts, which are requested once a day, show that it misses some.
        """
        found, known = self._listing.count_undated(), self._store.observation(UNDATED_MISSED)
        if found or (
            found == 0 and known is not None and not known.value and is_recent(TRIED_EVERY, known.observed_at)
        ):
            return found
        missed = self._counts.outside_dates()
        self._store.observe(UNDATED_MISSED, missed or 0, "")
        if missed:
            self._warnings.warn(
                "undated",
                f"{count_of(missed, 'shipment matches', 'shipments match')} no filter on updated_at, not even "
                "updated_at{null:true}, so only audits read them. If they have no updated_at, ask the operator of the "
                "service to support that filter.",
            )
        elif missed is None and found is None:
            self._warnings.warn(
                "undated-unknown",
                "It is unknown whether shipments without updated_at exist: the service refuses or ignores the filter "
                "updated_at{null:true} and gives no counts (meta.count). Only audits read such shipments.",
            )
        return 0

    def _read(
        self,
        reason: Reason,
        needed: Sequence[Interval],
        known: Counted | None,
        clocks: Clocks,
        started: float,
        before: UnfinishedBackfill | None = None,
        undated: Sequence[Window] = (),
    ) -> ReadReport:
        since = EARLIEST if reason == "sync" else LATEST if before is None else before.began_at
        resumed = self._resumable(reason, needed, since)
        landed = self._landed_before(needed, since) if reason == "backfill" else ()
        unread = subtract(needed, (window.interval for window in (*resumed, *landed)))
        # neither a half-read window nor one that landed earlier has what was committed late behind its pages
        rest = union((*unread, *(late for window in (*resumed, *landed) for late in self._late(window))))
        begun_at = min((window.started_at for window in (*resumed, *landed)), default=datetime.now(UTC))
        plans = [self._planned(part, known, begun_at, clocks.horizon) for part in needed]
        counts = {plan.interval: plan.counted for plan in plans}
        cut = [part for gap in rest for part in self._cutter.cut(gap, counts.get(gap))]
        # refuse before any new window is recorded
        unread_yet = sum((window.count_reported or 0) - window.records for window in resumed)
        refuse_without_room(self._settings.layout, self._store, sum(expected for _, expected in cut) + unread_yet)
        begun = tuple(self._begin(reason, part, expected) for part, expected in cut)
        self._store.begin_windows(begun, plans)
        half_read = (*resumed, *undated)
        left = {window: (window.count_reported or 0) - window.records for window in half_read}
        left |= {window: expected for window, (_, expected) in zip(begun, cut, strict=True)}
        windows = sorted(left, key=lambda window: -left[window])  # the largest first, so that all lanes end together
        self._tally.add(
            windows=len(windows),
            records=sum(window.records for window in half_read),
            expected=sum(expected for _, expected in cut) + sum(window.count_reported or 0 for window in half_read),
        )
        window_ids = self._read_all(windows)
        short = compare(self._store, self._listing, self._counts, self._warnings, self._ids_of)
        self._heed_clocks_again()  # it cuts windows, which are compared whole
        warn_of_page_size(self._listing.learned, self._settings.page_size, self._warnings)
        self._store.record_warnings(self._warnings.kept, from_scratch=reason == "sync")
        if short:
            raise ReadIncomplete("\n".join(short))
        return ReadReport(
            horizon=clocks.horizon,
            intervals=tuple(needed),
            window_ids=window_ids,
            progress=self._tally.now,
            requests=self._api.connection.requests,
            seconds=monotonic() - started,
            warnings=tuple(self._warnings.kept.values()),
            notes=tuple(self._notes),
        )

    def _planned(self, part: Interval, known: Counted | None, since: datetime, horizon: datetime) -> ReadPlan:
        """Return the plan of one interval; ``known`` is its count, if it was requested already."""
        counted = known or self._listing.count(part.start, part.end)
        return ReadPlan(part.start, part.end, since, horizon, counted.count, counted.highest_id)

    def _resumable(self, reason: Reason, needed: Sequence[Interval], since: datetime) -> tuple[Window, ...]:
        """Return the half-read windows to resume, started at ``since`` or later. Abandon stale and useless windows."""
        fresh: list[Window] = []
        for window in self._store.windows("reading"):
            if window.reason == "undated":
                continue
            inside = intersect(needed, (window.interval,)) == (window.interval,)
            usable = (
                window.reason == reason
                and window.started_at >= since
                and self._listing.requests_the_same(window.signature)
            )
            if not self._is_fresh(window) or (inside and not usable):
                self._store.abandon(window.id)
            elif inside and not intersect((other.interval for other in fresh), (window.interval,)):
                fresh.append(window)
        return tuple(fresh)

    def _is_fresh(self, window: Window) -> bool:
        return datetime.now(UTC) - window.started_at <= RESUME_WITHIN

    def _landed_before(self, needed: Sequence[Interval], since: datetime) -> tuple[Window, ...]:
        """Return the landed, not yet loaded backfill windows of these days that were started at ``since`` or later."""
        return tuple(
            window
            for window in self._store.windows("landed")
            if window.reason == "backfill"
            and window.covers_time
            and window.started_at >= since
            and intersect(needed, (window.interval,)) == (window.interval,)
            and self._listing.requests_the_same(window.signature)
        )

    def _late(self, window: Window) -> tuple[Interval, ...]:
        """Return the part of a window in which records may have been committed since reading it began."""
        landed = self._store.pages(window.id)
        if not landed:
            return ()
        return interval(max(window.from_at, landed[0].served_at - self._overlap()), window.to_at)

    def _ids_of(self, window: Window) -> Sequence[int]:
        """Return the ids on the pages of a window, also of one that an earlier run read; none if a page is damaged."""
        if window.id not in self._ids:
            with suppress(WindowIncomplete):  # the load gives it up
                self._ids[window.id] = array(
                    "q", proof.landed_ids(window, self._settings.layout, self._store.pages(window.id))
                )
        return self._ids.get(window.id, ())

    def _read_all(self, windows: Sequence[Window]) -> tuple[str, ...]:
        """Read all windows. Return the ids of those that landed."""
        parallel = self._settings.max_parallel_requests
        with (
            ThreadPoolExecutor(parallel, "ahead") as ahead,
            ThreadPoolExecutor(parallel, "window") as pool,
            self._api.cut_by_interrupts(),
        ):
            reader = WindowReader(
                self._settings, self._store, ahead, self._tally, self._counts, self._warnings, self._ids
            )
            futures = [pool.submit(self._read_window, reader, window) for window in windows]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                failures = [error for future in done if (error := future.exception())]
                if failures:
                    raise failures[0]
                return tuple(future.result() for future in futures)
            except BaseException:  # pages in progress are finished, except in an interrupt; no new request starts
                reader.stop()
                self._api.connection.throttle.close()
                for future in futures:
                    future.cancel()
                raise

    def _read_window(self, reader: WindowReader, window: Window) -> str:
        """Read a window. Return the id of the window that landed: a new id if it was read again.

        An incomplete window is read at most ``ATTEMPTS`` times. A window whose paging broke or was refused, perhaps
        because of page cursors stored by an earlier run, is read at most twice.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                reader.read(window, self._source(window))
                break
            except WindowIncomplete:
                if attempt == ATTEMPTS:
                    raise
            except PagingBroken:
                if attempt > 1:
                    raise
            except Rejected:  # without a landed page, the refusal did not concern a page cursor
                if attempt > 1 or not self._store.window(window.id).pages:
                    raise
            window = self._begin(window.reason, window.interval)
            self._store.begin_windows([window])
        if self._landed is not None:
            self._landed(window.id)
        return window.id

    def _source(self, window: Window) -> Source:
        if window.reason == "undated":
            return self._listing.undated()
        return self._listing.changed_within(window.from_at, window.to_at)
