"""Parse the query parameters of a listing (specification 4.4): a `ListQuery`, or the error that names the parameter.

A parameter that the specification does not name is refused, and so is a single-valued one that is given twice.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from wms_sandbox.errors import ParameterError
from wms_sandbox.filters import Filter, parse_filter
from wms_sandbox.selection import Selection, read_selection

SORTABLE = ("id", "unique_id", "created_at", "updated_at", "packed_at", "merchant_id")
DEFAULT_LIMIT, MAXIMUM_LIMIT = 100, 1000
HIGHEST_CURSOR = 2**63 - 1
_KNOWN = ("filter", "sort", "count", "limit", "cursor_start", "cursor_end", "fields")


@dataclass(frozen=True)
class SortKey:
    """One of the fields to sort by."""

    field: str
    descending: bool


@dataclass(frozen=True)
class ListQuery:
    """A requested listing. `parameters` are kept as received, for `next` and `previous`."""

    parameters: tuple[tuple[str, str], ...]
    filters: tuple[Filter, ...]
    sort: tuple[SortKey, ...]
    limit: int
    wants_count: bool
    cursor_start: int | None
    cursor_end: int | None
    selection: Selection

    @property
    def is_by_id(self) -> bool:
        """Return whether it is sorted by id; only such listings can be walked with cursors."""
        return len(self.sort) == 1 and self.sort[0].field == "id"

    @property
    def is_descending(self) -> bool:
        """Return whether the first sort key is descending."""
        return self.sort[0].descending


def read_query(parameters: Sequence[tuple[str, str]]) -> ListQuery:
    """Parse the parameters. Raises ParameterError for the first one that the service would refuse."""
    check_names(parameters, _KNOWN, "fields:")
    single = {name: value for name, value in parameters if name != "filter"}
    query = ListQuery(
        parameters=tuple(parameters),
        filters=tuple(parse_filter(value) for name, value in parameters if name == "filter"),
        sort=_sort(single.get("sort", "-id")),
        limit=_integer(single, "limit", 1, MAXIMUM_LIMIT) or DEFAULT_LIMIT,
        wants_count=bool(_integer(single, "count", 0, 1)),
        cursor_start=_integer(single, "cursor_start"),
        cursor_end=_integer(single, "cursor_end"),
        selection=read_selection(parameters),
    )
    _check_cursors(query)
    return query


def check_names(parameters: Sequence[tuple[str, str]], known: Sequence[str], prefix: str | None = None) -> None:
    """Raise ParameterError for a parameter that is neither known nor has the prefix, or is given twice."""
    for name, times in Counter(name for name, _ in parameters).items():
        if name not in known and not (prefix and name.startswith(prefix)):
            raise ParameterError(name, "Unknown parameter.")
        if times > 1 and name != "filter":
            raise ParameterError(name, "Given more than once.")


def _check_cursors(query: ListQuery) -> None:
    for name in ("cursor_start", "cursor_end"):
        if getattr(query, name) is not None and not query.is_by_id:
            raise ParameterError(name, "Cursors work only with sort=id or sort=-id.")
    if query.cursor_start is not None and query.cursor_end is not None:
        raise ParameterError("cursor_end", "Give cursor_start or cursor_end, not both.")


def _sort(text: str) -> tuple[SortKey, ...]:
    keys = tuple(SortKey(name.removeprefix("-"), name.startswith("-")) for name in text.split(","))
    for key in keys:
        if key.field not in SORTABLE:
            raise ParameterError("sort", f"Cannot sort by {key.field!r}. Sortable: {', '.join(SORTABLE)}.")
    return keys


def _integer(single: dict[str, str], name: str, low: int = 0, high: int = HIGHEST_CURSOR) -> int | None:
    text = single.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,19}", text) or not low <= int(text) <= high:
        raise ParameterError(name, f"An integer from {low} to {high} is expected.")
    return int(text)
