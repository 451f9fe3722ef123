"""Apply filters to the store: which shipments match, and in which order they are listed.

Numbers and times are compared as whole columns; texts are made only for the shipments that are left. Comparing a null
value gives false, as in SQL. A tracking number matches if that of any package does.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wms_sandbox.filters import TEXT_FIELDS, TEXTUAL, Condition, Filter
from wms_sandbox.query import SortKey
from wms_sandbox.slots import time_json, unique_number
from wms_sandbox.store import NO_TIME, Indexes, Store
from wms_sandbox.tracking import TrackingNumbers

Mask = NDArray[np.bool_]
_KEPT_RESULTS = 16
_PORTION = 20_000

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda value, other: value == other,
    "gt": lambda value, other: value > other,
    "lt": lambda value, other: value < other,
    "from": lambda value, other: value >= other,
    "to": lambda value, other: value <= other,
}
_TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "start": str.startswith,
    "end": str.endswith,
    "regex": lambda text, pattern: re.search(pattern, text) is not None,
}


class Matcher:
    """Evaluates filters once for all pages of a listing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tracking = TrackingNumbers(store)
        self._results = lru_cache(_KEPT_RESULTS)(self._evaluate)

    def matches(self, filters: tuple[Filter, ...]) -> Indexes:
        """Return the indexes of the shipments that meet all filters, ascending."""
        return self._results(filters, self._store.version)

    def _evaluate(self, filters: tuple[Filter, ...], version: int) -> Indexes:
        """Evaluate the filters; results of another version of the store are not this one's."""
        at = self._store.living()
        for each in sorted(filters, key=_needs_text):
            any_of = [self._all_of(each.field, conditions, at) for conditions in each.alternatives]
            at = at[np.logical_or.reduce(any_of)]
        return at

    def _all_of(self, field: str, conditions: Sequence[Condition], at: Indexes) -> Mask:
        mask: Mask = np.ones(len(at), bool)
        for condition in conditions:
            mask[mask] = self._meets(field, condition, at[mask])
        return mask

    def _meets(self, field: str, condition: Condition, at: Indexes) -> Mask:
        if field in TEXT_FIELDS or condition.operator in TEXTUAL:
            return self._text_meets(field, condition, at)
        values, is_null = self._values(field, at)
        if condition.operator == "null":
            return is_null if condition.value else ~is_null
        if condition.operator == "in":
            return np.isin(values, np.array(_storable(condition.value), np.int64)) & ~is_null
        compared: Mask = _COMPARE[condition.operator](values, condition.value)
        return compared & ~is_null

    def _text_meets(self, field: str, condition: Condition, at: Indexes) -> Mask:
        """Compare texts in portions, so that the texts of a million shipments are never in memory at once."""
        met: list[bool] = []
        for start in range(0, len(at), _PORTION):
            texts = self._texts(field, at[start : start + _PORTION])
            met += [_any_text(each, condition) for each in texts]
        return np.array(met, bool)

    def _values(self, field: str, at: Indexes) -> tuple[Indexes, Mask]:
        store = self._store
        if field == "id":
            return store.ids[at], np.zeros(len(at), bool)
        if field == "retailer_id":
            values = store.retailer_ids()[at]
            return values, values == 0
        values = {"created_at": store.created, "updated_at": store.updated, "packed_at": store.packed}[field][at]
        return values, values == NO_TIME

    def _texts(self, field: str, at: Indexes) -> list[list[str]]:
        """Return the values of each shipment in a field, as shown; empty if it is null."""
        if field == "unique_id":
            return [[f"{value:010}"] for value in unique_number(self._store.ids[at]).tolist()]
        if field in ("tracking_number", "alt_tracking_number"):
            return self._tracking.of(at, field)
        values, is_null = self._values(field, at)
        write = _integer_text if field in ("id", "retailer_id") else _time_text
        known = zip(values.tolist(), is_null.tolist(), at.tolist(), strict=True)
        return [[] if missing else [write(value, index)] for value, missing, index in known]

    def first_sorted(self, at: Indexes, keys: Sequence[SortKey], limit: int) -> Indexes:
        """Return the first of `at` in the order of the keys; ties by id, nulls lowest."""
        columns = [self._sort_column(key, at) for key in keys]
        return at[np.lexsort([at, *reversed(columns)])[:limit]]

    def _sort_column(self, key: SortKey, at: Indexes) -> Indexes:
        if key.field == "unique_id":
            values = unique_number(self._store.ids[at])
        elif key.field == "merchant_id":
            values = self._store.merchants()[at]
        else:
            values, _ = self._values(key.field, at)
        return -np.maximum(values, NO_TIME + 1) if key.descending else values


def _needs_text(each: Filter) -> bool:
    operators = {condition.operator for conditions in each.alternatives for condition in conditions}
    return each.field in TEXT_FIELDS or not operators.isdisjoint(TEXTUAL)


def _storable(values: Sequence[int]) -> list[int]:
    return [value for value in values if abs(value) < 2**63]


def _integer_text(value: int, index: int) -> str:
    return str(value)


def _time_text(value: int, index: int) -> str:
    return time_json(value, index).decode().strip('"')


def _any_text(texts: list[str], condition: Condition) -> bool:
    operator, value = condition.operator, condition.value
    if operator == "null":
        return bool(texts) is not value
    if operator == "in":
        return any(text in value for text in texts)
    test = _TEXT_TESTS.get(operator) or _COMPARE[operator]
    return any(test(text, value) for text in texts)
