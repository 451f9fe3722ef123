"""How the search methods of the Merchant API choose: (filters, options, fields), as the vendor documents them.

{"sku": "X"}                            equals
{"sku": {"in": ["X", "Y"]}, "id": {"gt": 5}}    all of them
{"sort_field": "sku", "sort_dir": "desc", "limit": 50, "page": 2}
["sku", "name"]
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wms_sandbox.rpc_errors import invalid_filters, invalid_params

Row = dict[str, Any]

Test = Callable[[Any, Any], bool]


def _comparing(compare: Test) -> Test:
    """Return the comparison with null compared to nothing: neither smaller nor greater."""
    return lambda value, other: value is not None and bool(compare(value, other))


_TESTS: dict[str, Test] = {
    "eq": lambda value, other: bool(value == other),
    "neq": lambda value, other: bool(value != other),
    "in": lambda value, others: value in others,
    "nin": lambda value, others: value not in others,
    "gt": _comparing(operator.gt),
    "lt": _comparing(operator.lt),
    "gteq": _comparing(operator.ge),
    "lteq": _comparing(operator.le),
    "from": _comparing(operator.ge),
    "to": _comparing(operator.le),
    "starts": _comparing(str.startswith),
}
_OPTIONS = ("sort_field", "sort_dir", "limit", "page")


@dataclass(frozen=True)
class Search:
    """The parameters of a search."""

    filters: Row
    options: Row
    fields: list[str] | None

    @classmethod
    def read(cls, arguments: list[Any]) -> "Search":
        """Parse the arguments of a search method, each of which may be null or left out."""
        filters, options, fields = [*arguments, None, None, None][:3]
        if len(arguments) > 3 or not isinstance(filters or {}, dict) or not isinstance(options or {}, dict):
            raise invalid_params("(filters, options, fields) are expected: an object, an object, an array.")
        if fields is not None and not (isinstance(fields, list) and all(isinstance(name, str) for name in fields)):
            raise invalid_params("fields is an array of names.")
        unknown = [name for name in options or {} if name not in _OPTIONS]
        if unknown:
            raise invalid_params(f"Unknown option {unknown[0]}. Known: {', '.join(_OPTIONS)}.")
        return cls(filters or {}, options or {}, fields)

    def matches(self, rows: list[Row]) -> list[Row]:
        """Return the rows that meet all filters, sorted."""
        tests = [(name, *each) for name, condition in self.filters.items() for each in _conditions(name, condition)]
        order = self.options.get("sort_field", next(iter(rows[0])))
        for name in (*self.filters, order):
            if name not in list(rows[0]):
                raise invalid_filters(f"Unknown field {name}.")
        try:
            found = [row for row in rows if all(test(row[name], value) for name, test, value in tests)]
        except TypeError as error:
            raise invalid_filters(f"{error}.") from None
        found.sort(key=lambda row: (row[order] is not None, row[order]), reverse=self.options.get("sort_dir") == "desc")
        return found

    def page(self, found: list[Row], default_limit: int | None = None) -> list[Row]:
        """Return the part that `limit` and `page` ask for, with the requested fields."""
        limit = self.limit(default_limit) or max(1, len(found))
        start = limit * (_positive(self.options, "page", 1) - 1)
        part = found[start : start + limit]
        if self.fields is None:
            return part
        return [{name: row[name] for name in self.fields if name in row} for row in part]

    def limit(self, default: int | None = None) -> int | None:
        """Return the number of rows per page; None for all."""
        return _positive(self.options, "limit", default) if "limit" in self.options else default


def _positive(options: Row, name: str, default: int | None) -> int:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise invalid_params(f"{name} is a whole number from 1.")
    return value


def _conditions(name: str, condition: object) -> list[tuple[Test, Any]]:
    if not isinstance(condition, dict):
        return [(_TESTS["eq"], condition)]
    found: list[tuple[Test, Any]] = []
    for word, value in condition.items():
        if word not in _TESTS:
            raise invalid_filters(f"Unknown operator {word} of {name}. Known: {', '.join(_TESTS)}.")
        found.append((_TESTS[word], value))
    return found
