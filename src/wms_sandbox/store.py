"""The columns of all shipments: what filters and sorting need, and what has changed. Nothing else is stored of them.

A shipment is identified by its index; its id rises with it. An order has no row of its own but is identified by the
index of its first shipment (`order_first`). A shipment takes about 60 bytes. Everything it shows follows from its
family, its index and the counters here (`step`, `shown`, `revision` and the order's), so a change is a few numbers, not
a copy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wms_sandbox.config import SandboxConfig
from wms_sandbox.heads import PAIR_SHARE, Head, Newcomer, family_head, newcomer_head

NO_TIME = np.iinfo(np.int64).min
DAY = 86_400_000
Indexes = NDArray[np.int64]
_FIRST_ID = 100_001
_PAIRS = 0.08
"""Share of shipments that start a pair with a common order."""


@dataclass
class NewShipments:
    """Shipments to append: family, which of its shipments, index of the order's first shipment, and times."""

    family: NDArray[np.int32]
    part: NDArray[np.int8]
    order_first: NDArray[np.int32]
    created: NDArray[np.int64]
    updated: NDArray[np.int64]


class Store:
    """Arrays of the same length, one entry per shipment, deleted ones included.

    `version` counts the changes, for caches.
    """

    def __init__(self, config: SandboxConfig, anchor: int) -> None:
        self.seed = config.seed
        self.only_known_statuses = config.only_known_statuses
        self.heads: list[Head] = [family_head(config.seed, index) for index in range(config.families)]
        self._common = len(self.heads)
        self._index_heads()
        self.version = 0
        self.retailer_revision: dict[int, int] = {}
        self._make_empty()
        generator = np.random.default_rng([config.seed, 0])
        self.append(generator, self._first_shipments(generator, config, anchor))

    def __len__(self) -> int:
        return len(self.ids)

    def _index_heads(self) -> None:
        self._packages = _by_part([head.packages for head in self.heads])
        self._statuses = _by_part([head.statuses for head in self.heads])
        self._order_states = np.array([[head.order_state, head.order_status] for head in self.heads], np.int64)
        self._packed = np.array([[head.is_packed(0), head.is_packed(-1)] for head in self.heads])

    def add_families(self, newcomers: list[Newcomer]) -> NDArray[np.int32]:
        """Add a family of one shipment for each newcomer. Return their numbers."""
        start = len(self.heads)
        self.heads += [newcomer_head(self.seed, start + k, newcomer) for k, newcomer in enumerate(newcomers)]
        self._index_heads()
        return np.arange(start, len(self.heads), dtype=np.int32)

    def _make_empty(self) -> None:
        self.ids = np.empty(0, np.int64)
        self.deleted = np.empty(0, bool)
        self.created = np.empty(0, np.int64)
        self.updated = np.empty(0, np.int64)
        self.packed = np.empty(0, np.int64)
        self.lag = np.empty(0, np.int32)
        self.family = np.empty(0, np.int32)
        self.part = np.empty(0, np.int8)
        self.shown = np.empty(0, np.int8)
        self.step = np.empty(0, np.int8)
        self.revision = np.empty(0, np.int16)
        self.order_first = np.empty(0, np.int32)
        self.order_updated = np.empty(0, np.int64)
        self.order_step = np.empty(0, np.int8)
        self.order_revision = np.empty(0, np.int16)

    def _first_shipments(self, generator: np.random.Generator, config: SandboxConfig, anchor: int) -> NewShipments:
        """Return shipments created in the days before the anchor, roughly by id, updated minutes to 20 days later."""
        count = config.shipments
        start, span = anchor - config.days * DAY, config.days * DAY
        gap = span / max(count, 1)
        created = start + ((np.arange(count) + generator.uniform(-2, 2, count)) * gap).astype(np.int64)
        created = np.clip(created, start, anchor - 120_000)
        lag = np.exp(generator.uniform(np.log(60_000), np.log(20 * DAY), count)).astype(np.int64)
        late = created + lag > anchor
        lag = np.where(late, (generator.uniform(0.5, 1, count) * (anchor - created)).astype(np.int64), lag)
        family, part, first = self.assign(generator, count)
        return NewShipments(family, part, first, _coarse(created), np.maximum(_coarse(created + lag), _coarse(created)))

    def assign(
        self, generator: np.random.Generator, count: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]:
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

    def append(self, generator: np.random.Generator, new: NewShipments) -> None:
        """Append shipments with rising ids."""
        old, count = len(self), len(new.family)
        index = np.arange(old, old + count, dtype=np.int64)
        ids = _FIRST_ID + 3 * index + index * 2_654_435_761 % 4_294_967_296 % 3
        sub_second = generator.random(count) < 0.02
        updated = np.where(sub_second & (new.updated > new.created + 1000), new.updated - 750, new.updated)
        packed = new.created + (updated - new.created) // 2000 * 1000
        packed = np.where(self._packed[new.family, new.part], packed, NO_TIME)
        self.ids = np.concatenate([self.ids, ids])
        self.created = np.concatenate([self.created, new.created])
        self.updated = np.concatenate([self.updated, updated])
        self.packed = np.concatenate([self.packed, packed])
        self.lag = np.concatenate([self.lag, ((updated - new.created) // 1000).astype(np.int32)])
        self.family = np.concatenate([self.family, new.family])
        self.part = np.concatenate([self.part, new.part])
        self.shown = np.concatenate([self.shown, self._packages[new.family, new.part]])
        self.order_first = np.concatenate([self.order_first, new.order_first])
        self.order_updated = np.concatenate([self.order_updated, updated])
        for name in ("deleted", "step", "revision", "order_step", "order_revision"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros(count, column.dtype)]))

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
        both = self._order_states[self.family[firsts]] + self.order_step[firsts][:, None]
        return both[:, 0], both[:, 1]

    def retailer_ids(self) -> NDArray[np.int64]:
        """Return the retailer id of every shipment; 0 if it has none."""
        by_family = np.array([head.retailer_id or 0 for head in self.heads], np.int64)
        return by_family[self.family]

    def merchants(self) -> NDArray[np.int64]:
        """Return the merchant of every shipment's order, by position in its pool, which is the order of ids."""
        return np.array([head.merchant for head in self.heads], np.int64)[self.family]


def _coarse(milliseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return times rounded to whole seconds, as most times are."""
    return milliseconds // 1000 * 1000


def _by_part(values: list[tuple[int, ...]]) -> NDArray[np.int8]:
    return np.array([[each[0], each[-1]] for each in values], np.int8)


def _deal(generator: np.random.Generator, families: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    once = generator.permutation(families)[:count]
    again = generator.choice(families, max(0, count - len(families)))
    return np.concatenate([once, again])
