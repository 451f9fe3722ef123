"""What a check found, as a sentence with a few values: ``3 statuses are unknown: teleported (shipments.status), …``.

Two headers of a check make it. ``wrong`` says what is wrong: ``{count}`` is the number of offending rows, any other
name in braces a numeric column of the first one, and ``[status is|statuses are]`` agrees with the number that
precedes it. ``named`` says what to call each offending row, by columns without personal data and without free text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from wms_sync.grammar import agreed

SHOWN = 3
LONGEST = 60
"""Characters of a value: a code may be any text that the service sent."""
_PART = re.compile(r"\{(?P<number>\w+)\}|\[(?P<one>[^|\]]*)\|(?P<many>[^|\]]*)\]")


def sentence(wrong: str, named: str, offending: int, rows: Sequence[Mapping[str, str]]) -> str:
    """Return what is wrong; ``rows`` are the first offending ones, as texts by column."""
    text = _with_numbers(wrong, {**(rows[0] if rows else {}), "count": str(offending)})
    names = list(dict.fromkeys(named.format_map({key: _cut(cell) for key, cell in row.items()}) for row in rows))
    if not named or not names:
        return f"{text}."
    has_more = len(names) > SHOWN or offending > len(rows)
    return f"{text}: {', '.join(names[:SHOWN])}{', …' if has_more else '.'}"


def _with_numbers(wrong: str, numbers: Mapping[str, str]) -> str:
    last = 0

    def part(found: re.Match[str]) -> str:
        nonlocal last
        if (column := found["number"]) is None:
            return agreed(last, found["one"], found["many"])
        last = int(numbers[column])
        return f"{last:,}"

    return _PART.sub(part, wrong)


def _cut(cell: str) -> str:
    plain = " ".join(cell.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
