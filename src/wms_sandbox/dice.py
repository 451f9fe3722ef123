"""Repeatable chance: the same key always gives the same results, on any machine and in any order."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from wms_sandbox import texts

T = TypeVar("T")


class Dice:
    """Random choices for one object, identified by its key (`Dice(seed, "family", 12)`).

    `is_odd`: the object has odd values (see `SandboxConfig`).
    """

    def __init__(self, *key: object, is_odd: bool = False) -> None:
        self.is_odd = is_odd
        self._random = random.Random(":".join(map(str, key)))  # noqa: S311 - repeatable is the point

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random.random() < probability

    def oddly(self, probability: float) -> bool:
        """Return True with this probability if values are odd; otherwise never."""
        return self.is_odd and self.chance(probability)

    def remark(self) -> str:
        """Return a text that a person typed; a difficult one if values are odd."""
        return self.pick(texts.UGLY if self.is_odd else texts.REMARKS)

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices, all equally likely."""
        return choices[int(self._random.random() * len(choices))]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def decimal(self, low: float, high: float, digits: int) -> float:
        """Return a number from low to high, with this many digits."""
        return round(low + self._random.random() * (high - low), digits)

    def low_first(self, count: int) -> int:
        """Return an index below count; low ones are far more frequent, as a few products make most sales."""
        return int(count * self._random.random() ** 3)

    def weighted(self, weights: Sequence[float]) -> int:
        """Return an index, by its weight."""
        left = self._random.random() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return len(weights) - 1

    def roughen(self, thing: dict[str, Any], keep: frozenset[str], share: float = 0.05) -> None:
        """If values are odd, set a share of them to null and remove a few keys; `keep` names those that stay."""
        keys = list(thing) if self.is_odd else []
        for _ in range(int(len(keys) * share + self._random.random())):
            key = self.pick(keys)
            if key in keep or key not in thing:
                continue
            if self._random.random() < 0.12:
                del thing[key]
            else:
                thing[key] = None
