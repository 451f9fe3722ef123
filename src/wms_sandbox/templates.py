"""Objects serialised in advance: a family's JSON, compiled once for a selection, then filled with numbers per shipment.

Selecting fields and writing JSON takes about a millisecond for a family; filling a template takes microseconds. So
serving a page costs little more than its bytes, and benchmarks measure the reader. Texts are written in both ways a
service might use: some families with `\\u` escapes and `\\/`, the others as plain UTF-8.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from wms_sandbox.slots import FORMATS, POSITION

_MARK = re.compile(r'"\{\{#(\w+)\}\}"|\{\{(\w+)\}\}')

Row = tuple[object, ...]


@dataclass(frozen=True)
class Template:
    """Bytes with %-slots, and a function that picks their values from a row."""

    body: bytes
    values: Callable[[Row], Any]

    def fill(self, row: Row) -> bytes:
        """Return the JSON of one shipment."""
        filled: bytes = self.body % self.values(row)
        return filled


def _nothing(row: Row) -> Row:
    return ()


def compile_json(things: Iterable[dict[str, Any]], *, writes_ascii: bool) -> Template:
    """Return one template for several objects, with commas between them."""
    text = ",".join(write_json(thing, writes_ascii=writes_ascii) for thing in things)
    positions: list[int] = []

    def slot(mark: re.Match[str]) -> str:
        name = mark[1] or mark[2]
        positions.append(POSITION[name])
        return FORMATS[name]

    body = _MARK.sub(slot, text.replace("%", "%%")).encode()
    return Template(body, itemgetter(*positions) if positions else _nothing)


def write_json(thing: dict[str, Any], *, writes_ascii: bool) -> str:
    """Return one object as compact JSON."""
    text = json.dumps(thing, ensure_ascii=writes_ascii, separators=(",", ":"))
    return text.replace("/", "\\/") if writes_ascii else text
