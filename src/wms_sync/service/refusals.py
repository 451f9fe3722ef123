"""Find a field selection that the service accepts, if it refuses some parameters (specification 7.1).

How a refusal names the offending parameter is not specified, so its words are not read. The refused parameters, and
the refused values of a parameter, are found by bisection, with requests for one record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar
from urllib.parse import urlencode

from msgspec import Struct, field

from wms_sync.service.errors import StatusError, Unauthorized
from wms_sync.service.reasons import in_words
from wms_sync.service.selection import ALL, Selection, parameter

ABOUT_WHAT_WAS_SENT = frozenset({400, 403, 404, 413, 414, 422, 431})
"""Statuses of refusals that field selection may cause, including a missing permission and a URL that is too long."""
MOST_REQUESTS = 400
ROOM = 100
"""By how many characters a page's URL may exceed that of the first request: the end of a filter, and a page cursor."""

T = TypeVar("T")
Ask = Callable[[Selection], T]
"""A function that sends one request with a selection, and raises ``StatusError`` if the service refuses it."""


class Agreement(Struct, Generic[T], frozen=True):
    """The selection that the service accepts, its answer, and its reasons for refusing more, by parameter."""

    selection: Selection
    answer: T
    said: Mapping[str, str] = field(default_factory=dict)


def agree(ask: Ask[T], wanted: Selection) -> Agreement[T]:
    """Reduce the selection until the service accepts it. Raise a refusal that field selection did not cause."""
    search = _Search(ask)
    agreed, said = wanted, dict[str, str]()
    while True:
        try:
            answer = search.ask(agreed)
        except StatusError as refusal:
            name = search.refused_parameter(agreed, refusal)
            smaller, why = search.smaller(agreed, name, refusal)
            gone = {each for each, _ in agreed.asked} - {each for each, _ in smaller.asked}
            said |= dict.fromkeys(gone | {name}, _said(why))
            agreed = smaller
        else:
            return Agreement(_with_room(agreed, said) if search.is_too_much else agreed, answer, said)


class _Search(Generic[T]):
    """Counts the requests, and searches for what is refused. ``is_too_much``: a selection was refused as a whole."""

    def __init__(self, ask: Ask[T]) -> None:
        self._ask = ask
        self._left = MOST_REQUESTS
        self.is_too_much = False

    def ask(self, selection: Selection) -> T:
        """Send one request and count it."""
        self._left -= 1
        return self._ask(selection)

    def refused_parameter(self, selection: Selection, refusal: StatusError) -> str:
        """Return the first refused parameter. Raise the refusal of the whole selection if no parameter caused it."""
        if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0 or self._refusal(selection.until(0)):
            raise refusal
        count = self._first_refused(len(selection.asked), lambda count: selection.until(count))
        return selection.asked[count - 1][0]

    def smaller(self, selection: Selection, name: str, refusal: StatusError) -> tuple[Selection, StatusError]:
        """Return the selection with names in place of ``all``, without the refused value, or without the parameter.

        Return it with the refusal that is the reason.
        """
        alone = selection.without([each for each, _ in selection.asked if not f"{name}.".startswith(f"{each}.")])
        why = self._refusal(alone)
        if why is None:
            self.is_too_much = True
            return selection.dropping(name), refusal
        values = selection.values(name)
        if values == (ALL,):
            return selection.asking(name, parameter(name).names), why
        value = self._refused_value(alone, name)
        if value is None:
            return selection.dropping(name), why
        return selection.asking(name, (other for other in values if other != value)), why

    def _refused_value(self, alone: Selection, name: str) -> str | None:
        """Return the first refused value of a parameter; None if its first and its last value are refused."""
        values = alone.values(name)
        if len(values) == 1 or all(self._refusal(alone.asking(name, (values[at],))) for at in (0, -1)):
            return None
        count = self._first_refused(len(values), lambda count: alone.asking(name, values[:count]))
        return values[count - 1]

    def _refusal(self, selection: Selection) -> StatusError | None:
        """Return the refusal of a selection; None if the service accepts it."""
        try:
            self.ask(selection)
        except StatusError as refusal:
            if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0:
                raise
            return refusal
        return None

    def _first_refused(self, all_of_them: int, first: Callable[[int], Selection]) -> int:
        """Return by bisection the smallest count that is refused; 0 is accepted and ``all_of_them`` refused."""
        accepted, refused = 0, all_of_them
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            if self._refusal(first(middle)):
                refused = middle
            else:
                accepted = middle
        return refused


def _with_room(selection: Selection, said: dict[str, str]) -> Selection:
    """Shorten further a selection that was refused for its length: the requests for pages are a little longer."""
    shorter, why = selection, next(reversed(said.values()))
    while shorter.asked and len(urlencode(selection.params)) - len(urlencode(shorter.params)) < ROOM:
        last, _ = shorter.asked[-1]
        shorter = shorter.dropping(last)
        said[last] = why
    return shorter


def _said(refusal: StatusError) -> str:
    """Return the reason; for 403 without the advice about the token, which lacks permission for only one name."""
    if isinstance(refusal, Unauthorized):
        return f"{refusal.status}: {in_words(refusal.problems) or 'no reason given.'}"
    return str(refusal)
