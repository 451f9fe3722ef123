"""The state store, opened once by a run or command: windows and their pages, and its other parts.

A window goes through the states ``reading -> landed -> loaded``; a window that is given up becomes ``abandoned``. Each
method is one transaction, so a kill leaves either the old or the new state. Writing needs a ``Lease``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Engine, and_, case, func, literal, or_, select, update

from wms_sync.intervals import Interval, interval, subtract, union
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.audits import Audits
from wms_sync.state.engine import add_rows
from wms_sync.state.holder import Held
from wms_sync.state.leases import Guarded, Lease, taking_lease
from wms_sync.state.ledger import PushFiles, PushLedger
from wms_sync.state.reported import Acknowledgements, Outbox
from wms_sync.state.run_records import RunRecords
from wms_sync.state.schema import forgotten_orders, observations, pages, read_plans, read_warnings, refusals, windows
from wms_sync.state.snapshot import Snapshots

Reason = Literal["sync", "backfill", "undated", "audit"]
"""``undated`` reads the shipments without ``updated_at``, ``audit`` a slice of ids: neither covers time."""
COVERING: tuple[Reason, ...] = ("sync", "backfill")
"""The reasons of windows that cover the time from ``from_at`` to ``to_at``."""
COMPLETE_STATES = ("landed", "loaded")
"""The states of a window whose pages have all been read."""


class Window(Struct, frozen=True, kw_only=True):
    """One row of ``windows``: an interval of ``updated_at`` of one service, and its state; by default a new window.

    ``count_reported`` is the service's count of its records, an earlier one until its first page; None if unknown.
    ``to_at`` is earlier than in the window's requests if coverage was withdrawn; it is ``from_at`` if nothing is left.
    ``service`` is the base URL; None if the state store did not know the window. ``omitted`` are the
    names that its requests left out, as in ``Selection.omitted``.
    """

    id: str
    from_at: datetime
    to_at: datetime
    state: str = "reading"
    reason: Reason
    run_id: str
    signature: str
    count_reported: int | None = None
    pages: int = 0
    records: int = 0
    bytes: int = 0
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    landed_at: datetime | None = None
    loaded_at: datetime | None = None
    read_seconds: float | None = None
    service: str | None = None
    omitted: Mapping[str, str] = {}

    def __hash__(self) -> int:
        return hash(self.id)  # a mapping has no hash

    @property
    def covers_time(self) -> bool:
        """Return whether the window, once complete, has every change between ``from_at`` and ``to_at``."""
        return self.reason in COVERING and self.from_at < self.to_at

    @property
    def interval(self) -> Interval:
        """Return ``[from_at, to_at)``. Raise ``ValueError`` if nothing is left of it."""
        return Interval(self.from_at, self.to_at)


class ReadPlan(Struct, frozen=True):
    """One row of ``read_plans``: the service's count of an interval, until what a read landed is compared with it.

    ``counted`` is the number of shipments before the first page, None if the service does not count; ``highest_id`` is
    the highest of their ids. The windows of the read were begun at ``since`` or later. Shipments that leave the
    interval because they change have an ``updated_at`` from ``horizon`` on.
    """

    from_at: datetime
    to_at: datetime
    since: datetime
    horizon: datetime
    counted: int | None
    highest_id: int

    @property
    def interval(self) -> Interval:
        """Return ``[from_at, to_at)``."""
        return Interval(self.from_at, self.to_at)


class Observation(Struct, frozen=True):
    """One row of ``observations``: a number that a run observed or decided, and the time."""

    name: str
    value: int
    about: str
    observed_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class LandedPage(Struct, frozen=True):
    """One row of ``pages``: a page that is on disk.

    ``next_cursor`` is the page cursor of the next page, None for the last.
    """

    window_id: str
    number: int
    file: str
    next_cursor: int | None
    records: int
    last_id: int | None
    bytes: int
    content_bytes: int
    sha256: str
    served_at: datetime


class ForgottenOrder(Struct, frozen=True):
    """One row of ``forgotten_orders``: the time of the request, and the time when no personal data was left."""

    order_id: int
    asked_at: datetime
    done_at: datetime | None


class Refusal(Struct, frozen=True):
    """One row of ``refusals``: a parameter that a service refuses in this version of its interface.

    ``said`` is the text of its refusal, ``tried_at`` the time when everything was last tried. Reads leave the parameter
    out (``read/field_selection``).
    """

    service: str
    api_version: str
    parameter: str
    said: str
    tried_at: datetime


class StateStore(Guarded):
    """The windows, pages and other data of reads, and the other parts of the state store. Thread-safe."""

    def __init__(self, engine: Engine, lease: Lease | None = None) -> None:
        super().__init__(engine, lease)
        self.acknowledgements = Acknowledgements(engine)
        self.audits = Audits(engine, lease)
        self.ledger = PushLedger(engine, lease)
        self.outbox = Outbox(engine)
        self.pushed_files = PushFiles(engine, lease)
        self.runs = RunRecords(engine)
        self.snapshots = Snapshots(engine, lease)

    @contextmanager
    def leased(self, layout: Layout, held: Held) -> Iterator[StateStore]:
        """Yield this store for writing, with a lease under the held lock. Raise the errors of ``taking_lease``."""
        with taking_lease(self.engine, layout, held) as lease, lease.explaining():
            yield StateStore(self.engine, lease)

    # --- reading ---

    def windows(self, *states: str) -> tuple[Window, ...]:
        """Return the windows in these states, or all if no state is given, in the order in which they were begun."""
        query = select(windows).order_by(windows.c.started_at, windows.c.id)
        if states:
            query = query.where(windows.c.state.in_(states))
        return tuple(Window(**row._mapping) for row in self._rows(query))

    def window(self, window_id: str) -> Window:
        """Return one window by its id."""
        [row] = self._rows(select(windows).where(windows.c.id == window_id))
        return Window(**row._mapping)

    def pages(self, window_id: str) -> tuple[LandedPage, ...]:
        """Return the landed pages of a window, in order."""
        query = select(pages).where(pages.c.window_id == window_id).order_by(pages.c.number)
        return tuple(LandedPage(**row._mapping) for row in self._rows(query))

    def read_plans(self) -> tuple[ReadPlan, ...]:
        """Return the plans of reads that have not been compared yet, ordered by time."""
        return tuple(ReadPlan(**row._mapping) for row in self._rows(select(read_plans).order_by(read_plans.c.from_at)))

    def covered(
        self,
        states: Sequence[str] = COMPLETE_STATES,
        *,
        without: Collection[str] = (),
    ) -> tuple[Interval, ...]:
        """Return the time that windows in these states cover, as disjoint intervals. Ignore the windows ``without``.

        A window that was abandoned after landing (because of a damaged page) held the newest data of its interval, so
        windows that began earlier do not cover that interval either.
        """
        was_read = and_(windows.c.state == "abandoned", windows.c.landed_at.is_not(None))
        query = select(windows.c.id, windows.c.from_at, windows.c.to_at, windows.c.state)
        query = query.where(or_(windows.c.state.in_(states), was_read), windows.c.reason.in_(COVERING))
        covered: list[Interval] = []
        for id_, start, end, state in self._rows(query.order_by(windows.c.started_at, windows.c.id)):
            if id_ in without:
                continue
            part = interval(start, end)
            covered = [*subtract(covered, part)] if state == "abandoned" else [*covered, *part]
        return union(covered)

    def covered_until(self) -> datetime | None:
        """Return the newest time that a complete or half-read window covers; None if there is none."""
        query = select(func.max(windows.c.to_at)).where(
            windows.c.state.in_(("reading", *COMPLETE_STATES)),
            windows.c.reason.in_(COVERING),
            windows.c.from_at < windows.c.to_at,
        )
        return self._value(query)

    def service(self) -> str | None:
        """Return the base URL that the newest window was read from; None if no window has a base URL."""
        query = select(windows.c.service).where(windows.c.service.is_not(None)).order_by(windows.c.started_at.desc())
        return self._value(query.limit(1))

    def highest_id(self) -> int:
        """Return the highest shipment id on any page of a complete window; 0 if there is none."""
        query = select(func.max(pages.c.last_id)).join(windows, windows.c.id == pages.c.window_id)
        return self._value(query.where(windows.c.state.in_(COMPLETE_STATES))) or 0

    def latest_served(self) -> datetime | None:
        """Return the time when the newest page was served; None if there is no page."""
        return self._value(select(func.max(pages.c.served_at)))

    def longest_read(self, since: datetime) -> timedelta:
        """Return the longest time that reading a window took, of the windows landed at ``since`` or later."""
        query = select(func.max(windows.c.read_seconds)).where(windows.c.landed_at >= since)
        return timedelta(seconds=self._value(query) or 0)

    def landed_so_far(self) -> tuple[int, int]:
        """Return the number of records ever landed, and their size on disk in bytes."""
        query = select(func.sum(windows.c.records), func.sum(windows.c.bytes))
        [(records, size)] = self._rows(query)
        return int(records or 0), int(size or 0)

    def observation(self, name: str) -> Observation | None:
        """Return the observation of this name; None if there is none."""
        query = select(observations).where(observations.c.name == name)
        return next((Observation(**row._mapping) for row in self._rows(query)), None)

    def warnings(self) -> dict[str, tuple[str, datetime]]:
        """Return the warnings of the last sync and of the reads after it by name, each with its time."""
        query = select(read_warnings).order_by(read_warnings.c.warned_at, read_warnings.c.name)
        return {row.name: (row.text, row.warned_at) for row in self._rows(query)}

    def refusals(self, service: str, api_version: str) -> tuple[Refusal, ...]:
        """Return the refusals of one service, ordered by parameter."""
        query = select(refusals).where(_refused_by(service, api_version)).order_by(refusals.c.parameter)
        return tuple(Refusal(**row._mapping) for row in self._rows(query))

    def forgotten(self, *, unfinished: bool = False) -> frozenset[int]:
        """Return the ids of orders whose personal data must not be stored.

        With ``unfinished``, return only orders whose personal data may still be stored somewhere.
        """
        query = select(forgotten_orders.c.order_id)
        if unfinished:
            query = query.where(forgotten_orders.c.done_at.is_(None))
        return frozenset(order_id for (order_id,) in self._rows(query))

    def forgotten_list(self) -> tuple[ForgottenOrder, ...]:
        """Return every forgotten order, ordered by the time of the request."""
        query = select(forgotten_orders).order_by(forgotten_orders.c.asked_at, forgotten_orders.c.order_id)
        return tuple(ForgottenOrder(**row._mapping) for row in self._rows(query))

    # --- writing ---

    def begin_windows(self, begun: Iterable[Window], plans: Iterable[ReadPlan] = ()) -> None:
        """Record windows that are about to be read, and the plans of their read."""
        with self._transaction() as connection:
            add_rows(connection, windows, [asdict(window) for window in begun])
            add_rows(connection, read_plans, [asdict(plan) for plan in plans])

    def record_page(self, page: LandedPage) -> None:
        """Record that a page is on disk: reading continues with the next page."""
        self._execute(
            pages.insert().values(**asdict(page)),
            update(windows)
            .where(windows.c.id == page.window_id)
            .values(
                pages=windows.c.pages + 1,
                records=windows.c.records + page.records,
                bytes=windows.c.bytes + page.bytes,
            ),
        )

    def set_count(self, window_id: str, count: int | None) -> None:
        """Record the service's count from the first page of this window; None if there was none."""
        self._update(window_id, count_reported=count)

    def mark_landed(self, window_id: str, *, read_seconds: float) -> None:
        """Record that every page of the window is on disk and that its count was verified."""
        self._update(window_id, state="landed", landed_at=datetime.now(UTC), read_seconds=read_seconds)

    def mark_loaded(self, window_ids: Sequence[str]) -> None:
        """Record that the analytics database holds receipts for these windows."""
        landed = update(windows).where(windows.c.id.in_(window_ids), windows.c.state == "landed")
        self._execute(landed.values(state="loaded", loaded_at=datetime.now(UTC)))

    def abandon(self, window_id: str) -> None:
        """Give up the window: its interval is no longer covered and is read again in another window."""
        self._update(window_id, state="abandoned")

    def end_read(self, plan: ReadPlan, uncovered: Collection[str]) -> None:
        """Delete the plan of a read, and end the coverage of the windows ``uncovered``, which keep their state."""
        self._execute(
            read_plans.delete().where(read_plans.c.from_at == plan.from_at),
            update(windows).where(windows.c.id.in_(uncovered)).values(to_at=windows.c.from_at),
        )

    def withdraw_coverage(self, moment: datetime) -> None:
        """End the coverage of every window at ``moment``.

        Complete windows keep their state and their receipts. A half-read window that reaches beyond ``moment`` is
        abandoned, because its requests do too.
        """
        beyond = and_(windows.c.reason.in_(COVERING), windows.c.to_at > moment)
        end = case((windows.c.from_at > moment, windows.c.from_at), else_=literal(moment, windows.c.to_at.type))
        half_read = update(windows).where(beyond, windows.c.state == "reading").values(state="abandoned")
        complete = update(windows).where(beyond, windows.c.state.in_(COMPLETE_STATES)).values(to_at=end)
        self._execute(half_read, complete)

    def observe(self, name: str, value: int, about: str) -> None:
        """Record an observation with the current time; it replaces the previous observation of this name."""
        self.record((Observation(name, value, about),))

    def record(self, seen: Iterable[Observation]) -> None:
        """Record observations; each replaces the previous observation of its name."""
        self._put(observations, [asdict(observation) for observation in seen])

    def delete_observation(self, name: str) -> None:
        """Delete the observation of this name."""
        self._execute(observations.delete().where(observations.c.name == name))

    def record_warnings(self, warnings: Mapping[str, str], *, from_scratch: bool) -> None:
        """Record the warnings of a read, by name, with the earlier warnings or, if ``from_scratch``, in their place."""
        if not warnings and not (from_scratch and self.warnings()):
            return
        now = datetime.now(UTC)
        rows = [{"name": name, "text": text, "warned_at": now} for name, text in warnings.items()]
        with self._transaction() as connection:
            old = read_warnings.delete()
            if not from_scratch:
                old = old.where(read_warnings.c.name.in_(list(warnings)))
            connection.execute(old)
            add_rows(connection, read_warnings, rows)

    def replace_refusals(self, service: str, api_version: str, found: Iterable[Refusal]) -> None:
        """Replace the refusals of a service with the refusals ``found``."""
        rows = [asdict(refusal) for refusal in found]
        with self._transaction() as connection:
            connection.execute(refusals.delete().where(_refused_by(service, api_version)))
            add_rows(connection, refusals, rows)

    def rewrite_page(self, page: LandedPage) -> None:
        """Replace the row of a page whose file is about to be rewritten without personal data."""
        this = and_(pages.c.window_id == page.window_id, pages.c.number == page.number)
        before = select(pages.c.bytes).where(this).scalar_subquery()
        self._execute(
            update(windows).where(windows.c.id == page.window_id).values(bytes=windows.c.bytes + page.bytes - before),
            update(pages).where(this).values(**asdict(page)),
        )

    def remember_forgotten(self, order_ids: Iterable[int]) -> None:
        """Record that personal data of these orders must not be stored from now on."""
        known = self.forgotten()
        rows = [{"order_id": order_id, "asked_at": datetime.now(UTC)} for order_id in sorted(set(order_ids) - known)]
        self._put(forgotten_orders, rows)

    def take_off_forgotten(self, order_ids: Iterable[int]) -> None:
        """Remove orders from the forgotten orders: their data is stored from now on like that of any other order."""
        self._execute(forgotten_orders.delete().where(forgotten_orders.c.order_id.in_(list(order_ids))))

    def mark_forgotten(self) -> None:
        """Record that no personal data of any forgotten order is left anywhere."""
        self._execute(
            update(forgotten_orders).where(forgotten_orders.c.done_at.is_(None)).values(done_at=datetime.now(UTC))
        )

    def _update(self, window_id: str, **values: Any) -> None:  # noqa: ANN401 - columns of several types
        self._execute(update(windows).where(windows.c.id == window_id).values(**values))


def _refused_by(service: str, api_version: str) -> ColumnElement[bool]:
    return and_(refusals.c.service == service, refusals.c.api_version == api_version)


class Run(Struct, frozen=True):
    """One run that writes: its settings, the state store opened with its ``Lease``, and its id.

    If Dagster runs it, even from the command line, the id is Dagster's.
    """

    settings: Settings
    store: StateStore
    id: str

    @property
    def layout(self) -> Layout:
        """Return the paths below the data folder."""
        return self.settings.layout

    @property
    def lease(self) -> Lease:
        """Return the right to write."""
        return self.store.lease
