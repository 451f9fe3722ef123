"""Find the field selection parameters that the service refuses (specification 7.1), and a selection that it accepts.

The form of the path to the offending key is not specified, so ``fields:order.brand``, ``query.fields:order.brand`` and
``fields[order.brand]`` are treated alike. If a refusal has no details, its message is searched. A message may also list
allowed names, so each name is tried alone before it is left out. If the service names no parameter, the refused
parameters are found by bisection, with requests for one record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar
from urllib.parse import urlencode

from msgspec import Struct, field

from wms_sync.service.errors import Problem, StatusError, Unauthorized
from wms_sync.service.reasons import in_words
from wms_sync.service.selection import ALL, SHIPMENT, Selection, parameter

ABOUT_WHAT_WAS_SENT = frozenset({400, 403, 404, 413, 414, 422, 431})
"""Statuses of refusals that field selection may cause, including a missing permission and a URL that is too long."""
MOST_REQUESTS = 400
ROOM = 100
"""By how many characters a page's URL may exceed that of the first request: the end of a filter, and a page cursor."""
_PARTS = re.compile(r"[^a-z0-9_]+")
_IN_SENTENCE = re.compile(r"\bfields(?::[\w.]*\w|\[[\w.]+\])")
_QUOTED = re.compile(r"""['"`‘“](\w+)['"`’”]""")  # noqa: RUF001 - quotes as people write them
_WORD = re.compile(r"\w+")

T = TypeVar("T")
Ask = Callable[[Selection], T]
"""A function that sends one request with a selection, and raises ``StatusError`` if the service refuses it."""


class Agreement(Struct, Generic[T], frozen=True):
    """The selection that the service accepts, its answer, and its reasons for refusing more, by parameter."""

    selection: Selection
    answer: T
    said: Mapping[str, str] = field(default_factory=dict)


class _Violation(Struct, frozen=True):
    """A refused parameter (or one refused ``value`` of a parameter) and the service's reason."""

    name: str
    value: str | None
    said: str


def agree(ask: Ask[T], wanted: Selection) -> Agreement[T]:
    """Reduce the selection until the service accepts it. Raise a refusal that field selection did not cause."""
    search = _Search(ask)
    agreed, said = wanted, dict[str, str]()
    while True:
        try:
            answer = search.ask(agreed)
        except StatusError as refusal:
            refused = agreed
            for violation in _named(refusal, refused):
                if search.is_refused_alone(agreed, violation.name):
                    agreed = _without(agreed, violation, search, said)
            if agreed == refused:
                agreed = _without(agreed, search.violation(agreed, refusal), search, said)
        else:
            return Agreement(_with_room(agreed, said) if search.is_too_much else agreed, answer, said)


class _Search(Generic[T]):
    """Counts the requests, and searches for refused parameters that the service does not name."""

    def __init__(self, ask: Ask[T]) -> None:
        self._ask = ask
        self._left = MOST_REQUESTS
        self.is_too_much = False

    def ask(self, selection: Selection) -> T:
        """Send one request and count it."""
        self._left -= 1
        return self._ask(selection)

    def takes(self, selection: Selection) -> bool:
        """Return whether the service accepts the selection."""
        try:
            self.ask(selection)
        except StatusError as refusal:
            if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0:
                raise
            return False
        return True

    def violation(self, selection: Selection, refusal: StatusError) -> _Violation:
        """Return the first refused parameter. Raise the refusal if no parameter caused it."""
        if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0 or not self.takes(selection.until(0)):
            raise refusal
        count = self._first_refused(len(selection.asked), lambda count: selection.until(count))
        return _Violation(selection.asked[count - 1][0], None, _said(refusal))

    def is_refused_alone(self, selection: Selection, name: str) -> bool:
        """Return whether a parameter is refused even if only the parameters that it depends on are sent with it."""
        return bool(selection.values(name)) and not self.takes(_alone(selection, name))

    def refused_value(self, selection: Selection, name: str, named: str | None) -> str | None:
        """Return the refused value of a parameter, preferably the named one; None if all its values are refused."""
        values = selection.values(name)
        alone = _alone(selection, name)
        if named in values and not self.takes(alone.asking(name, (named,))):
            return named
        first, last = ((values[at],) for at in (0, -1))
        if len(values) == 1 or not (self.takes(alone.asking(name, first)) or self.takes(alone.asking(name, last))):
            return None
        count = self._first_refused(len(values), lambda count: alone.asking(name, values[:count]))
        return values[count - 1]

    def _first_refused(self, all_of_them: int, first: Callable[[int], Selection]) -> int:
        """Return by bisection the smallest count that is refused; 0 is accepted and ``all_of_them`` refused."""
        taken, refused = 0, all_of_them
        while refused - taken > 1:
            middle = (taken + refused) // 2
            if self.takes(first(middle)):
                taken = middle
            else:
                refused = middle
        return refused


def _without(selection: Selection, violation: _Violation, search: _Search[T], said: dict[str, str]) -> Selection:
    """Return the selection without the refused parameter or value, and add the reasons to ``said``."""
    smaller = _smaller(selection, violation, search)
    gone = {name for name, _ in selection.asked} - {name for name, _ in smaller.asked}
    said |= dict.fromkeys(gone | {violation.name}, violation.said)
    return smaller


def _smaller(selection: Selection, violation: _Violation, search: _Search[T]) -> Selection:
    """Return the selection with names in place of ``all``, without the refused value, or without the parameter."""
    values = selection.values(violation.name)
    if not search.is_refused_alone(selection, violation.name):
        search.is_too_much = True
        return selection.dropping(violation.name)
    if values == (ALL,):
        return selection.asking(violation.name, parameter(violation.name).names)
    value = search.refused_value(selection, violation.name, violation.value)
    if value is None:
        return selection.dropping(violation.name)
    return selection.asking(violation.name, (other for other in values if other != value))


def _named(refusal: StatusError, selection: Selection) -> Iterator[_Violation]:
    """Yield the parameters that the refusal names."""
    if refusal.status not in ABOUT_WHAT_WAS_SENT:
        return
    for problem in refusal.problems:
        for name in dict.fromkeys(_names_in(problem, selection)):
            yield _Violation(name, _value_in(problem, selection.values(name)), _said(refusal))


def _with_room(selection: Selection, said: dict[str, str]) -> Selection:
    """Shorten further a selection that was refused for its length: the requests for pages are a little longer."""
    shorter, why = selection, next(reversed(said.values()))
    while shorter.asked and len(urlencode(selection.params)) - len(urlencode(shorter.params)) < ROOM:
        last, _ = shorter.asked[-1]
        shorter = shorter.dropping(last)
        said[last] = why
    return shorter


def _alone(selection: Selection, name: str) -> Selection:
    """Return a selection with one parameter and the parameters that it depends on."""
    return selection.without([each for each, _ in selection.asked if not f"{name}.".startswith(f"{each}.")])


def _said(refusal: StatusError) -> str:
    """Return the reason; for 403 without the advice about the token, which lacks permission for only one name."""
    if isinstance(refusal, Unauthorized):
        return f"{refusal.status}: {in_words(refusal.problems) or 'no reason given.'}"
    return str(refusal)


def _names_in(problem: Problem, selection: Selection) -> Iterator[str]:
    asked = {_plain(name): name for name, _ in selection.asked}
    key = _plain(problem.key).rstrip(".0123456789")
    yield from (asked[end] for end in _endings(key) if end in asked)
    for found in _IN_SENTENCE.findall(problem.message):
        if _plain(found) in asked:
            yield asked[_plain(found)]


def _endings(key: str) -> Iterator[str]:
    """Yield each end of the key that begins with ``fields``: ``fields.order`` for ``query.fields.order``."""
    parts = key.split(".")
    yield from (".".join(parts[at:]) for at, part in enumerate(parts) if part == SHIPMENT)


def _value_in(problem: Problem, values: tuple[str, ...]) -> str | None:
    """Return the value that the message names: the only value in quotes, or else the only value in it; else None."""
    sentence = _IN_SENTENCE.sub(" ", problem.message)
    for words in (_QUOTED.findall(sentence), _WORD.findall(sentence)):
        named = [value for value in values if value in words]
        if len(named) == 1:
            return named[0]
    return None


def _plain(name: str) -> str:
    return _PARTS.sub(".", name.lower()).strip(".")
