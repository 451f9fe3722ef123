"""The columns of all shipments: what filters and sorting need, and what has changed. Nothing else is stored of them.

A shipment is identified by its index; its id rises with it. An order has no row of its own but is identified by the
index of its first shipment (`order_first`). A shipment takes about 60 bytes. Everything it shows follows from its
family, its index and the counters here (`step`, `shown`, `revision` and the order's), so a change is a few numbers, not
a copy.

Every shipment has a plan: when it is packed and shipped (or canceled), and when its order is delivered. `settle` brings
it to the stage of its plan, so that nothing changes by itself, and every change has its `updated_at`. About 95 % are
shipped by their day; one week is bad, one carrier late, and a few shipments are days over their day. If values are odd,
statuses are chance.
"""

import numpy as np
from numpy.typing import NDArray

from wms_sandbox.config import SandboxConfig
from wms_sandbox.heads import PACKED, PAIR_SHARE, STAGES, Head, Newcomer, family_heads, newcomer_head
from wms_sandbox.kinds import names
from wms_sandbox.texts import TARIFFS

NO_TIME = np.iinfo(np.int64).min
DAY = 86_400_000
Indexes = NDArray[np.int64]
_FIRST_ID = 100_001
_PAIRS = 0.08
"""Share of shipments that start a pair with a common order."""

_COLUMNS = names(
    "ids deleted created updated packed ships family part shown step revision order_first order_updated order_revision"
)
SHIP_BY_DAYS = 2
_LATE_IN_BAD_WEEK, _MOST_DAYS_LATE = 0.2, 25
_SHIPPING_HOURS = 14.5, 17, 21.5
"""The first, the usual and the last one, UTC: a working day in America, and the same date in Europe."""


Assigned = tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]
"""Of new shipments: the number of the family, which of its shipments, and the index of the order's first one."""


class Store:
    """Arrays of the same length, one entry per shipment, deleted ones included. `family` is the position of a head.

    `version` counts the changes, for caches.
    """

    def __init__(self, config: SandboxConfig, anchor: int) -> None:
        self.seed = config.seed
        self.is_odd = config.odd_values
        self._bad_week = (anchor // DAY + 3) // 7 - 3  # weeks begin on Monday
        families = (family_heads(config.seed, number, is_odd=self.is_odd) for number in range(config.families))
        self.heads: list[Head] = [head for heads in families for head in heads]
        self._common = config.families
        self._index_heads()
        self.version = 0
        self.retailer_revision: dict[int, int] = {}
        self._make_empty()
        generator = np.random.default_rng([config.seed, 0])
        created = _first_created(generator, config, anchor)
        self.append(generator, self.assign(generator, config.shipments), created, anchor)

    def __len__(self) -> int:
        return len(self.ids)

    def _index_heads(self) -> None:
        self._packages = _by_part([tuple(map(head.shown, range(len(head.packages)))) for head in self.heads])
        self._statuses = _by_part([head.statuses for head in self.heads])
        self._order_states = np.array([[head.order_state, head.order_status] for head in self.heads], np.int64)
        self._packed = np.array([[head.is_packed(0), head.is_packed(-1)] for head in self.heads])
        self._service = np.array([TARIFFS[head.carrier][2:] for head in self.heads])

    def add_families(self, newcomers: list[Newcomer]) -> NDArray[np.int32]:
        """Add a family of one shipment for each newcomer. Return their numbers."""
        start = len(self.heads) // len(STAGES)
        for number, newcomer in enumerate(newcomers, start):
            heads = family_heads(self.seed, number, is_odd=self.is_odd)
            self.heads += [newcomer_head(head, newcomer) for head in heads]
        self._index_heads()
        return np.arange(start, start + len(newcomers), dtype=np.int32)

    def _make_empty(self) -> None:
        self.ids = np.empty(0, np.int64)
        self.deleted = np.empty(0, bool)
        self.created = np.empty(0, np.int64)
        self.updated = np.empty(0, np.int64)
        self.packed = np.empty(0, np.int64)
        self.ships = np.empty(0, np.int64)
        self.family = np.empty(0, np.int32)
        self.part = np.empty(0, np.int8)
        self.shown = np.empty(0, np.int8)
        self.step = np.empty(0, np.int8)
        self.revision = np.empty(0, np.int16)
        self.order_first = np.empty(0, np.int32)
        self.order_updated = np.empty(0, np.int64)
        self.order_revision = np.empty(0, np.int16)

    def assign(self, generator: np.random.Generator, count: int) -> Assigned:
        """Choose families for the next `count` shipments: every family once while there is room, then at random."""
        begins = generator.random(count) < _PAIRS
        begins[-1:] = False
        begins[1:] &= ~begins[:-1]
        second = np.zeros(count, bool)
        second[1:] = begins[:-1]
        families = np.arange(self._common, dtype=np.int32)
        pairs, singles = families[::PAIR_SHARE], families[families % PAIR_SHARE != 0]
        family = np.empty(count, np.int32)
        alone = ~begins & ~second
        family[alone] = _deal(generator, singles, int(alone.sum()))
        family[begins] = _deal(generator, pairs, int(begins.sum()))
        family[second] = family[begins]
        first = np.arange(len(self), len(self) + count, dtype=np.int32) - second
        return family, second.astype(np.int8), first

    def append(self, generator: np.random.Generator, assigned: Assigned, created: Indexes, now: int) -> None:
        """Append shipments with rising ids, as they are at a moment."""
        number, part, first = assigned
        old, count = len(self), len(number)
        index = np.arange(old, old + count, dtype=np.int64)
        ids = _FIRST_ID + 3 * index + index * 2_654_435_761 % 4_294_967_296 % 3
        family, created = number * len(STAGES), np.maximum(created, created[first - old])
        values = {
            "ids": ids,
            "family": family,
            "part": part,
            "shown": self._packages[family, part],
            "order_first": first,
            "packed": NO_TIME,
            **dict.fromkeys(("created", "updated", "order_updated"), created),
        }
        for name in _COLUMNS:
            column = getattr(self, name)
            setattr(self, name, np.append(column, np.full(count, values.get(name, 0), column.dtype)))
        self.ships[index] = self._planned(generator, index)
        self.settle(index, now)

    def _planned(self, generator: np.random.Generator, at: Indexes) -> Indexes:
        """Return when new shipments will be shipped: in working hours of the next day or the one after, few later."""
        count, day = len(at), self.created[at] // DAY
        is_bad = (day + SHIP_BY_DAYS + 3) // 7 == self._bad_week
        late = np.where(is_bad, _LATE_IN_BAD_WEEK, self._service[self.family[at], 1])
        days_late = np.exp(generator.uniform(0, np.log(_MOST_DAYS_LATE), count)).astype(np.int64)
        on_time = generator.integers(1, SHIP_BY_DAYS, count, endpoint=True)
        days = np.where(generator.random(count) < late, SHIP_BY_DAYS + days_late, on_time)
        seconds = (generator.triangular(*_SHIPPING_HOURS, count) * 3600).astype(np.int64)
        return np.asarray((day + days) * DAY + seconds * 1000, np.int64)

    def plan(self, at: Indexes) -> Indexes:
        """Return when shipments reach the stages after the first one: a row a stage, in order of time."""
        firsts = self.order_first[at].astype(np.int64)
        created, ships = self.created[firsts], self.ships[firsts]
        packs = ships - (firsts * 7919 % 7200 + 1800) * 1000
        over = np.minimum((created // DAY + SHIP_BY_DAYS + 1) * DAY, packs)
        days = self._service[self.family[firsts], 0].astype(np.int64)
        delivered = (ships // DAY + days) * DAY + (firsts * 7919 % 36_000 + 46_800) * 1000 - (firsts % 50 == 7) * 750
        picking, packing = (created + (over - created) * share // 10 for share in (6, 9))
        return np.array([picking, packing, over, packs, ships, delivered])

    def is_due(self, at: Indexes, now: int) -> NDArray[np.bool_]:
        """Return which shipments reach another stage up to a moment."""
        return np.asarray((self.plan(at) <= now).sum(0) > self.family[at] % len(STAGES))

    def settle(self, at: Indexes, now: int) -> Indexes:
        """Bring shipments, and others of their orders, to their stage of a moment; return those with another stage."""
        orders = np.unique(self.order_first[at[self.is_due(at, now)]])
        at = np.nonzero(np.isin(self.order_first, orders))[0].astype(np.int64)
        plan, firsts, part = self.plan(at), self.order_first[at], self.part[at]
        happened = np.where(plan <= now, plan, NO_TIME)
        self.family[at] += (plan <= now).sum(0) - self.family[at] % len(STAGES)
        is_packed = self._packed[self.family[at], part] & (happened[PACKED - 1] != NO_TIME)
        self.packed[at] = np.where(is_packed, plan[PACKED - 1] - np.where(part, 0, 60_000), NO_TIME)
        self.shown[at] = self._packages[self.family[at], part]
        changed = np.maximum(self.updated[at], happened.max(0, initial=NO_TIME))
        np.maximum.at(self.order_updated, firsts, changed)
        self.updated[at] = self.order_updated[firsts]
        return at

    def living(self) -> Indexes:
        """Return the shipments that are not deleted."""
        return np.nonzero(~self.deleted)[0].astype(np.int64)

    def delete(self, ids: list[int], *, deleted: bool) -> None:
        """Delete shipments, or restore them as they were. Raises LookupError for an unknown id."""
        at = np.searchsorted(self.ids, np.array(ids, np.int64))
        if (at == len(self)).any() or (self.ids[at] != ids).any():
            raise LookupError(f"not all of {ids} are shipments")
        self.deleted[at] = deleted
        self.version += 1

    def statuses(self, at: Indexes) -> Indexes:
        """Return how many steps these shipments' statuses have advanced, to be taken modulo the number of statuses."""
        return self._statuses[self.family[at], self.part[at]].astype(np.int64) + self.step[at]

    def order_states(self, firsts: Indexes) -> tuple[Indexes, Indexes]:
        """Return the same for the state and the status of orders."""
        both = self._order_states[self.family[firsts]] + (self.order_revision[firsts] * self.is_odd)[:, None]
        return both[:, 0], both[:, 1]

    def retailer_ids(self) -> NDArray[np.int64]:
        """Return the retailer id of every shipment; 0 if it has none."""
        by_family = np.array([head.retailer_id or 0 for head in self.heads], np.int64)
        return by_family[self.family]

    def merchants(self) -> NDArray[np.int64]:
        """Return the merchant of every shipment's order, by position in its pool, which is the order of ids."""
        return np.array([head.merchant for head in self.heads], np.int64)[self.family]


def _first_created(generator: np.random.Generator, config: SandboxConfig, anchor: int) -> Indexes:
    """Return when the first shipments were created: in the days before the anchor, roughly by id."""
    count, span = config.shipments, config.days * DAY
    gap = span / max(count, 1)
    created = anchor - span + ((np.arange(count) + generator.uniform(-2, 2, count)) * gap).astype(np.int64)
    return np.clip(created, anchor - span, anchor - 120_000) // 1000 * 1000


def _by_part(values: list[tuple[int, ...]]) -> NDArray[np.int8]:
    return np.array([[each[0], each[-1]] for each in values], np.int8)


def _deal(generator: np.random.Generator, families: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    once = generator.permutation(families)[:count]
    again = generator.choice(families, max(0, count - len(families)))
    return np.concatenate([once, again])
