"""Let time pass: move the clock, and change shipments, orders and retailers between the old and the new time.

The changes follow from the seed and the number of earlier advances. Shipments that reach another stage of their plan
(see `store`) change first, then others at random. A change is a few numbers in the store, so a record shows it whenever
it is served. The `updated_at` of a changed record lies between the two times; a retailer's new name appears the next
time the retailer is included, without any sign on the shipment, as in reality. New shipments refer to the retailers and
products that callers have created (`newcomers`). A record that is committed late appears only now, with an `updated_at`
from before.
"""

from dataclasses import dataclass

import numpy as np

from wms_sandbox.clock import Clock
from wms_sandbox.heads import MOST_PACKAGES, PAIR_SHARE
from wms_sandbox.identities import RETAILERS
from wms_sandbox.newcomers import Newcomers
from wms_sandbox.store import Indexes, Store


@dataclass(frozen=True)
class Advance:
    """The ids of shipments that changed by themselves, are new, or changed with their order."""

    changed: list[int]
    new: list[int]
    order_shipments: list[int]


@dataclass(frozen=True)
class Wish:
    """How much is to change. Packages: this many of the changed shipments gain one, lose one or lose all.

    `late`: move the times of all changes back by this many seconds, but never before a record's last change.
    """

    seconds: float = 86_400
    changed: int = 0
    new: int = 0
    packages_added: int | None = None
    packages_removed: int | None = None
    orders: int = 0
    retailers: int = 0
    late: float = 0


class Passage:
    """One advance in progress: changes the store step by step and collects the result."""

    def __init__(self, store: Store, newcomers: Newcomers, clock: Clock, wish: Wish) -> None:
        store.version += 1
        self._store = store
        self._newcomers = newcomers
        self._wish = wish
        self._generator = np.random.default_rng([store.seed, store.version])
        self._before = clock.now()
        clock.advance(round(wish.seconds * 1000))
        self._after = self._before + round(wish.seconds * 1000)
        self._late = round(wish.late * 1000)

    def run(self) -> Advance:
        """Make all changes; new shipments come last, so that they are not among the changed ones."""
        living = self._store.living()
        is_due = self._store.is_due(living, self._after - self._late)
        changed = np.sort(living[np.argsort(self._generator.random(len(living)) - is_due)[: self._wish.changed]])
        self._touch(changed)
        settled = self._store.settle(changed, self._after - self._late)
        self._change_packages(changed)
        order_shipments = np.union1d(self._change_orders(), np.setdiff1d(settled, changed))
        self._rename_retailers()
        new = self._add_new()
        return Advance(*(self._store.ids[at].tolist() for at in (changed, new, order_shipments)))

    def _choose(self, count: int, wanted: int) -> Indexes:
        return np.sort(self._generator.choice(count, min(wanted, count), replace=False)).astype(np.int64)

    def _moments(self, count: int) -> Indexes:
        """Return times in milliseconds after the old time and before the new one, in whole seconds if possible."""
        low, high = self._before + 1, max(self._before + 1, self._after)
        moments = self._generator.integers(low, high, count, endpoint=high == low)
        whole = (moments + 999) // 1000 * 1000
        return np.where(whole < high, whole, moments) - self._late

    def _touch(self, at: Indexes) -> None:
        """Give shipments another revision: new tracking numbers; odd ones often get another status."""
        store = self._store
        store.updated[at] = np.maximum(self._moments(len(at)), store.updated[at] + 1)
        store.revision[at] += 1
        moves = at[self._generator.random(len(at)) < 0.8]
        store.step[moves] += store.is_odd

    def _change_packages(self, changed: Indexes) -> None:
        wish, shown = self._wish, self._store.shown
        usual = len(changed) // 5 * self._store.is_odd
        may_gain = self._generator.permutation(changed[shown[changed] < MOST_PACKAGES])
        added = may_gain[: usual if wish.packages_added is None else wish.packages_added]
        may_lose = self._generator.permutation(changed[(shown[changed] > 0) & ~np.isin(changed, added)])
        removed = may_lose[: usual if wish.packages_removed is None else wish.packages_removed]
        shown[added] += 1
        shown[removed[: len(removed) // 2]] -= 1
        shown[removed[len(removed) // 2 :]] = 0

    def _change_orders(self) -> Indexes:
        store = self._store
        firsts = np.nonzero(store.order_first == np.arange(len(store)))[0]
        orders = firsts[self._choose(len(firsts), self._wish.orders)].astype(np.int64)
        store.order_updated[orders] = np.maximum(self._moments(len(orders)), store.order_updated[orders] + 1)
        store.order_revision[orders] += 1
        touched = np.nonzero(np.isin(store.order_first, orders) & ~store.deleted)[0]
        moments = store.order_updated[store.order_first[touched]]
        store.updated[touched] = np.maximum(moments, store.updated[touched] + 1)
        return touched

    def _rename_retailers(self) -> None:
        for position in self._choose(RETAILERS, self._wish.retailers).tolist():
            self._store.retailer_revision[position] = self._store.retailer_revision.get(position, 0) + 1

    def _add_new(self) -> Indexes:
        store, count = self._store, self._wish.new
        created = np.sort(self._moments(count))
        family, part, first = store.assign(self._generator, count)
        alone = np.nonzero(family % PAIR_SHARE)[0]
        newcomers = self._newcomers.take(len(alone))
        if newcomers:
            family[alone[: len(newcomers)]] = store.add_families(newcomers)
        start = len(store)
        store.append(self._generator, (family, part, first), created, self._after - self._late)
        return np.arange(start, start + count, dtype=np.int64)
