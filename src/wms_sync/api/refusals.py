"""Which parameters of field selection a refusal names (specification 7.1), and what can be asked for instead.

The path to the offending key is not specified further, so ``fields:order.brand``, ``query.fields:order.brand`` and
``fields[order.brand]`` are the same to us; where there are no details the service's sentence is looked at. A service
that names nothing is searched: parameters are left out by halving, with one record a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from wms_sync.api.errors import Problem, Rejected
from wms_sync.api.selection import ALL, SHIPMENT, Selection, parameter

ABOUT_WHAT_WAS_SENT = frozenset({400, 414, 422, 431})
"""Refusals that field selection may be to blame for, an address that is too long too."""
MOST_REQUESTS = 400
_PARTS = re.compile(r"[^a-z0-9_]+")
_IN_SENTENCE = re.compile(r"\bfields(?::[\w.]*\w|\[[\w.]+\])")
_QUOTED = re.compile(r"""['"`‘“](\w+)['"`’”]""")  # noqa: RUF001 - quotes as people write them
_WORD = re.compile(r"\w+")

T = TypeVar("T")
Ask = Callable[[Selection], T]
"""Sends one request with a selection; raises ``Rejected``."""


@dataclass(frozen=True)
class Agreement(Generic[T]):
    """What the service takes, its answer, and by parameter why it takes no more."""

    selection: Selection
    answer: T
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Offence:
    """A parameter, and the value of it that is refused where one is."""

    name: str
    value: str | None
    said: str


def agree(ask: Ask[T], wanted: Selection) -> Agreement[T]:
    """Ask with ever less until the service takes it. Raises the refusal that field selection is not to blame for."""
    search = _Search(ask)
    agreed, said = wanted, dict[str, str]()
    while True:
        try:
            return Agreement(agreed, search.ask(agreed), said)
        except Rejected as refusal:
            offences = list(_named(refusal, agreed)) or list(search.offences(agreed, refusal))
            for offence in offences:
                narrower = _narrower(agreed, offence, search)
                gone = {name for name, _ in agreed.asked} - {name for name, _ in narrower.asked}
                said |= dict.fromkeys(gone | {offence.name}, offence.said)
                agreed = narrower


class _Search(Generic[T]):
    """Requests, counted, and the finding of what nobody names."""

    def __init__(self, ask: Ask[T]) -> None:
        self._ask = ask
        self._left = MOST_REQUESTS

    def ask(self, selection: Selection) -> T:
        """One request."""
        self._left -= 1
        return self._ask(selection)

    def takes(self, selection: Selection) -> bool:
        """Whether the service answers that."""
        try:
            self.ask(selection)
        except Rejected as refusal:
            if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0:
                raise
            return False
        return True

    def offences(self, selection: Selection, refusal: Rejected) -> Iterator[_Offence]:
        """The first parameter that is refused; raises the refusal where none is to blame."""
        if refusal.status not in ABOUT_WHAT_WAS_SENT or self._left <= 0 or not self.takes(selection.until(0)):
            raise refusal
        count = self._first_refused(len(selection.asked), lambda count: selection.until(count))
        yield _Offence(selection.asked[count - 1][0], None, str(refusal))

    def refused_value(self, selection: Selection, name: str) -> str | None:
        """The first value of a list that is refused; None where all are, or where it is not for a value of its own."""
        values = selection.values(name)
        alone = selection.without([each for each, _ in selection.asked if not f"{name}.".startswith(f"{each}.")])
        first, last = ((values[at],) for at in (0, -1))
        if len(values) == 1 or not (self.takes(alone.asking(name, first)) or self.takes(alone.asking(name, last))):
            return None
        if self.takes(alone):
            return None
        count = self._first_refused(len(values), lambda count: alone.asking(name, values[:count]))
        return values[count - 1]

    def _first_refused(self, all_of_them: int, first: Callable[[int], Selection]) -> int:
        """The least count that is refused, where none is taken and all are refused."""
        taken, refused = 0, all_of_them
        while refused - taken > 1:
            middle = (taken + refused) // 2
            if self.takes(first(middle)):
                taken = middle
            else:
                refused = middle
        return refused


def _narrower(selection: Selection, offence: _Offence, search: _Search[T]) -> Selection:
    """Without the value; of ``all`` the names that 4.5 lists; else without the parameter."""
    values = selection.values(offence.name)
    if not values:  # two offences of one parameter
        return selection
    if values == (ALL,):
        return selection.asking(offence.name, parameter(offence.name).names)
    value = offence.value if offence.value in values else search.refused_value(selection, offence.name)
    if value is None:
        return selection.dropping(offence.name)
    return selection.asking(offence.name, (one for one in values if one != value))


def _named(refusal: Rejected, selection: Selection) -> Iterator[_Offence]:
    """The parameters that the service names."""
    if refusal.status not in ABOUT_WHAT_WAS_SENT:
        return
    for problem in refusal.problems:
        for name in dict.fromkeys(_names_in(problem, selection)):
            yield _Offence(name, _value_in(problem, selection.values(name)), str(refusal))


def _names_in(problem: Problem, selection: Selection) -> Iterator[str]:
    asked = {_plain(name): name for name, _ in selection.asked}
    key = _plain(problem.key).rstrip(".0123456789")
    yield from (asked[end] for end in _endings(key) if end in asked)
    for found in _IN_SENTENCE.findall(problem.message):
        if _plain(found) in asked:
            yield asked[_plain(found)]


def _endings(key: str) -> Iterator[str]:
    """The key from ``fields`` on, whatever stands before: ``query.fields.order`` is about ``fields.order``."""
    parts = key.split(".")
    yield from (".".join(parts[at:]) for at, part in enumerate(parts) if part == SHIPMENT)


def _value_in(problem: Problem, values: tuple[str, ...]) -> str | None:
    """The one value that a sentence speaks of: the only one in quotes, or else the only one."""
    sentence = _IN_SENTENCE.sub(" ", problem.message)
    for words in (_QUOTED.findall(sentence), _WORD.findall(sentence)):
        named = [value for value in values if value in words]
        if len(named) == 1:
            return named[0]
    return None


def _plain(name: str) -> str:
    return _PARTS.sub(".", name.lower()).strip(".")
