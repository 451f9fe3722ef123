"""Repeatable chance: the same key always throws the same, on any machine and in any order."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Dice:
    """Throws for one thing, named by its key (`Dice(seed, "family", 12)`)."""

    def __init__(self, *key: object) -> None:
        self._random = random.Random(":".join(map(str, key)))  # noqa: S311 - repeatable is the point

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, each as likely."""
        return choices[int(self._random.random() * len(choices))]

    def whole(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def decimal(self, low: float, high: float, digits: int) -> float:
        """From low to high, with so many digits."""
        return round(low + self._random.random() * (high - low), digits)

    def low_first(self, count: int) -> int:
        """An index below count; low ones come up far more often, as a few products sell most."""
        return int(count * self._random.random() ** 3)

    def weighted(self, weights: Sequence[float]) -> int:
        """An index, by its weight."""
        left = self._random.random() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return len(weights) - 1

    def roughen(self, thing: dict[str, Any], keep: frozenset[str], share: float = 0.05) -> None:
        """Turn a share of the values into null and leave a few keys out, as life does; `keep` names those that stay."""
        keys = list(thing)
        for _ in range(int(len(keys) * share + self._random.random())):
            key = self.pick(keys)
            if key in keep or key not in thing:
                continue
            if self._random.random() < 0.12:
                del thing[key]
            else:
                thing[key] = None
