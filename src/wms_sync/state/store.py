"""The state store: windows and pages, read and written.

A window goes ``reading -> landed -> loaded``; one that is given up is ``abandoned``. Each method is one transaction,
so that a kill leaves either the old or the new state; to write takes a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

from sqlalchemy import Row, and_, func, or_, select, update

from wms_sync.intervals import Interval, interval, subtract, union
from wms_sync.settings import TOLERANCE
from wms_sync.state.schema import forgotten_orders, observations, pages, read_warnings, windows
from wms_sync.state.turns import Guarded

Reason = Literal["sync", "backfill", "audit"]
"""An audit reads by id, so it covers no time: ``from_at`` and ``to_at`` say which shipments it compares."""
KNOWN = ("landed", "loaded")
GIVEN_BACK = "coverage_given_back_from"


@dataclass(frozen=True)
class Window:
    """One row of ``windows``: an interval of ``updated_at`` of a service, and how far it is.

    Windows of earlier releases do not tell their ``service``, the base URL. ``narrowed`` is what it was not asked for
    though the tables have a place for it, comma-separated, as ``Selection.lost`` tells it; None where that is nothing.
    """

    id: str
    from_at: datetime
    to_at: datetime
    state: str
    reason: Reason
    run_id: str
    signature: str
    count_reported: int | None
    pages: int
    records: int
    bytes: int
    started_at: datetime
    landed_at: datetime | None
    loaded_at: datetime | None
    read_seconds: float | None
    service: str | None = None
    narrowed: str | None = None

    @classmethod
    def begun(
        cls,
        window_id: str,
        whole: Interval,
        *,
        reason: Reason,
        run_id: str,
        signature: str,
        service: str | None,
        lost: Sequence[str] = (),
    ) -> Self:
        """A window of which nothing is read yet."""
        return cls(
            id=window_id,
            from_at=whole.start,
            to_at=whole.end,
            state="reading",
            reason=reason,
            run_id=run_id,
            signature=signature,
            count_reported=None,
            pages=0,
            records=0,
            bytes=0,
            started_at=datetime.now(UTC),
            landed_at=None,
            loaded_at=None,
            read_seconds=None,
            service=service,
            narrowed=",".join(lost) or None,
        )

    @property
    def lost(self) -> tuple[str, ...]:
        """What the window was not asked for."""
        return tuple(self.narrowed.split(",")) if self.narrowed else ()

    @property
    def interval(self) -> Interval:
        """``[from_at, to_at)``."""
        return Interval(self.from_at, self.to_at)


@dataclass(frozen=True)
class LandedPage:
    """One row of ``pages``: a page that is on disk.

    ``next_cursor`` is the page cursor of the one after it, None for the last; earlier releases kept a whole ``next``.
    """

    window_id: str
    number: int
    file: str
    next_cursor: str | None
    records: int
    last_id: int | None
    bytes: int
    content_bytes: int
    sha256: str
    served_at: datetime


class StateStore(Guarded):
    """Opened once a process; safe to use from several threads."""

    # --- reading ---

    def windows(self, *states: str) -> tuple[Window, ...]:
        """Windows in these states (all without), in the order they were begun."""
        query = select(windows).order_by(windows.c.started_at, windows.c.id)
        if states:
            query = query.where(windows.c.state.in_(states))
        with self._engine.connect() as connection:
            return tuple(Window(**row._mapping) for row in connection.execute(query))

    def window(self, window_id: str) -> Window:
        """One window by its id."""
        with self._engine.connect() as connection:
            row = connection.execute(select(windows).where(windows.c.id == window_id)).one()
        return Window(**row._mapping)

    def pages(self, window_id: str) -> tuple[LandedPage, ...]:
        """The landed pages of a window, in order."""
        query = select(pages).where(pages.c.window_id == window_id).order_by(pages.c.number)
        with self._engine.connect() as connection:
            return tuple(LandedPage(**row._mapping) for row in connection.execute(query))

    def covered(self, states: Sequence[str] = KNOWN, *, tolerance: timedelta = TOLERANCE) -> tuple[Interval, ...]:
        """What windows in these states cover, as disjoint intervals.

        A window that ends later than ``tolerance`` after it was begun trusted a wrong clock: it covers nothing of what
        was still to come. Nor does one cover what was given back since. What a window had read that was given up behind
        its end, because a page was damaged, was the newest of its time: earlier windows do not cover it either.
        """
        given_back = self.observation(GIVEN_BACK)
        was_read = and_(windows.c.state == "abandoned", windows.c.landed_at.is_not(None))
        query = select(windows.c.from_at, windows.c.to_at, windows.c.started_at, windows.c.state)
        query = query.where(or_(windows.c.state.in_(states), was_read), windows.c.reason != "audit")
        covered: list[Interval] = []
        with self._engine.connect() as connection:
            for start, end, begun, state in connection.execute(query.order_by(windows.c.started_at, windows.c.id)):
                one = interval(start, _trusted_end(end, begun, tolerance, given_back))
                covered = [*subtract(covered, one)] if state == "abandoned" else [*covered, *one]
        return union(covered)

    def service(self) -> str | None:
        """The service that windows were read from; None before the first."""
        query = select(windows.c.service).where(windows.c.service.is_not(None)).order_by(windows.c.started_at.desc())
        with self._engine.connect() as connection:
            return connection.scalar(query.limit(1))

    def highest_id(self) -> int:
        """The highest id of a shipment on a page of a window that is known; 0 without any."""
        query = select(func.max(pages.c.last_id)).join(windows, windows.c.id == pages.c.window_id)
        with self._engine.connect() as connection:
            return connection.scalar(query.where(windows.c.state.in_(KNOWN))) or 0

    def latest_served(self, tolerance: timedelta) -> datetime | None:
        """When the newest page was served; but for pages whose time lies ahead of their window's by a wrong clock."""
        ended = func.coalesce(windows.c.landed_at, windows.c.started_at)
        query = select(func.max(pages.c.served_at), ended).join(windows, windows.c.id == pages.c.window_id)
        with self._engine.connect() as connection:
            rows = connection.execute(query.group_by(windows.c.id, ended)).all()
        return max((served for served, ended in rows if served - ended <= tolerance), default=None)

    def longest_read(self, since: datetime) -> timedelta:
        """The longest time that one window took to read since then."""
        query = select(func.max(windows.c.read_seconds)).where(windows.c.landed_at >= since)
        with self._engine.connect() as connection:
            return timedelta(seconds=connection.scalar(query) or 0)

    def landed_so_far(self) -> tuple[int, int]:
        """Records that were landed since the beginning, and their bytes on disk as they were received."""
        query = select(func.sum(windows.c.records), func.sum(windows.c.bytes))
        with self._engine.connect() as connection:
            records, size = connection.execute(query).one()
        return int(records or 0), int(size or 0)

    def observation(self, name: str) -> Row[Any] | None:
        """A number that was counted once: value, about, observed_at."""
        with self._engine.connect() as connection:
            return connection.execute(select(observations).where(observations.c.name == name)).one_or_none()

    def warnings(self) -> tuple[str, ...]:
        """What the last sync and the reads after it warned of."""
        query = select(read_warnings.c.warning).order_by(read_warnings.c.warned_at, read_warnings.c.warning)
        with self._engine.connect() as connection:
            return tuple(connection.scalars(query))

    def forgotten(self, *, unfinished: bool = False) -> frozenset[int]:
        """Ids of the orders whose personal data must not be stored; only those that may still be somewhere."""
        query = select(forgotten_orders.c.order_id)
        if unfinished:
            query = query.where(forgotten_orders.c.done_at.is_(None))
        with self._engine.connect() as connection:
            return frozenset(connection.scalars(query))

    # --- writing ---

    def begin_windows(self, begun: Iterable[Window]) -> None:
        """Remember windows that are about to be read."""
        rows = [vars(window) for window in begun]
        if rows:
            with self._writing() as connection:
                connection.execute(windows.insert(), rows)

    def adopt(self, window: Window, landed: Sequence[LandedPage] = ()) -> None:
        """Take in a window that is known from elsewhere: its manifest, or its receipt."""
        with self._writing() as connection:
            connection.execute(windows.insert().values(**vars(window)))
            if landed:
                connection.execute(pages.insert(), [vars(page) for page in landed])

    def record_page(self, page: LandedPage) -> None:
        """A page is on disk; the window goes on after it."""
        with self._writing() as connection:
            connection.execute(pages.insert().values(**vars(page)))
            connection.execute(
                update(windows)
                .where(windows.c.id == page.window_id)
                .values(
                    pages=windows.c.pages + 1,
                    records=windows.c.records + page.records,
                    bytes=windows.c.bytes + page.bytes,
                )
            )

    def set_count(self, window_id: str, count: int) -> None:
        """What the service counted for this window with its first page."""
        self._update(window_id, count_reported=count)

    def landed(self, window_id: str, *, read_seconds: float) -> None:
        """Every page of the window is on disk and counted."""
        self._update(window_id, state="landed", landed_at=datetime.now(UTC), read_seconds=read_seconds)

    def loaded(self, window_ids: Sequence[str]) -> None:
        """The analytics database holds receipts for these windows."""
        with self._writing() as connection:
            connection.execute(
                update(windows)
                .where(windows.c.id.in_(window_ids), windows.c.state == "landed")
                .values(state="loaded", loaded_at=datetime.now(UTC))
            )

    def abandon(self, window_id: str) -> None:
        """The window will not be read to its end; what it covers is asked for anew."""
        self._update(window_id, state="abandoned")

    def give_back(self, moment: datetime) -> None:
        """What lies behind this moment is covered no more: the service's clock comes there once again."""
        self.observe(GIVEN_BACK, int(moment.timestamp()), "seconds since 1970")

    def observe(self, name: str, value: int, about: str) -> None:
        """Remember a number that was counted."""
        with self._writing() as connection:
            connection.execute(observations.delete().where(observations.c.name == name))
            connection.execute(
                observations.insert().values(name=name, value=value, about=about, observed_at=datetime.now(UTC))
            )

    def observe_no_more(self, name: str) -> None:
        """Forget a number."""
        with self._writing() as connection:
            connection.execute(observations.delete().where(observations.c.name == name))

    def warned(self, run_id: str, warnings: Sequence[str], *, anew: bool) -> None:
        """Remember what a read warned of, instead of what was remembered (``anew``) or besides."""
        if not warnings and not (anew and self.warnings()):
            return
        now = datetime.now(UTC)
        rows = [{"warning": one, "run_id": run_id, "warned_at": now} for one in dict.fromkeys(warnings)]
        with self._writing() as connection:
            old = read_warnings.delete()
            if not anew:
                old = old.where(read_warnings.c.warning.in_([row["warning"] for row in rows]))
            connection.execute(old)
            if rows:
                connection.execute(read_warnings.insert(), rows)

    def rewrite_page(self, page: LandedPage) -> None:
        """What is to be recorded of a page whose file is about to be replaced by a shorter one."""
        this = and_(pages.c.window_id == page.window_id, pages.c.number == page.number)
        with self._writing() as connection:
            before = connection.scalar(select(pages.c.bytes).where(this)) or 0
            connection.execute(update(pages).where(this).values(**vars(page)))
            grown = windows.c.bytes + (page.bytes - before)
            connection.execute(update(windows).where(windows.c.id == page.window_id).values(bytes=grown))

    def forget(self, order_ids: Iterable[int]) -> None:
        """Remember that nothing personal of these orders is to be stored, from now on."""
        known = self.forgotten()
        rows = [{"order_id": one, "asked_at": datetime.now(UTC)} for one in sorted(set(order_ids) - known)]
        if rows:
            with self._writing() as connection:
                connection.execute(forgotten_orders.insert(), rows)

    def forgot(self, order_ids: Iterable[int]) -> None:
        """Nothing personal of these orders is left anywhere."""
        with self._writing() as connection:
            connection.execute(
                update(forgotten_orders)
                .where(forgotten_orders.c.order_id.in_(order_ids))
                .values(done_at=datetime.now(UTC))
            )

    def _update(self, window_id: str, **values: Any) -> None:  # noqa: ANN401 - columns of several types
        with self._writing() as connection:
            connection.execute(update(windows).where(windows.c.id == window_id).values(**values))


def _trusted_end(end: datetime, begun: datetime, tolerance: timedelta, given_back: Row[Any] | None) -> datetime:
    trusted = end if end - begun <= tolerance else min(end, begun)
    if given_back is not None and begun < given_back.observed_at:
        trusted = min(trusted, datetime.fromtimestamp(given_back.value, UTC))
    return trusted
