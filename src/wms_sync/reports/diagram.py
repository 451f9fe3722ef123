"""Lay out a diagram of tables: boxes in columns, and a line from each table to every table that it refers to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

BOX_WIDTH, BOX_HEIGHT = 280, 26
ROW, COLUMN, MARGIN = 36, 420, 12
BEND = 70
"""The width in pixels of the curve of a line within a column."""


class Box(Struct, frozen=True):
    """A table: its name, and the upper left corner in pixels."""

    name: str
    x: int
    y: int
    lines: tuple[str, ...]
    """SVG paths from this box to the boxes that it refers to."""


class Diagram(Struct, frozen=True):
    """Boxes, and the size of the diagram in pixels."""

    boxes: tuple[Box, ...]
    width: int
    height: int
    box_width: int = BOX_WIDTH
    box_height: int = BOX_HEIGHT


def diagram(columns: Sequence[Sequence[str]], edges: Sequence[tuple[str, str]]) -> Diagram:
    """Place the names of each column below each other, centred vertically. ``edges`` are pairs (from, to).

    Return the boxes from right to left: drawn in this order, they cover the lines that pass behind them.
    """
    most = max(map(len, columns))
    places = {
        name: (MARGIN + at * COLUMN, MARGIN + row * ROW + (most - len(names)) * ROW // 2)
        for at, names in enumerate(columns)
        for row, name in enumerate(names)
    }
    boxes = tuple(
        Box(name, x, y, tuple(_line(places, name, to) for start, to in edges if start == name and to in places))
        for name, (x, y) in reversed(places.items())
    )
    return Diagram(boxes, MARGIN * 2 + (len(columns) - 1) * COLUMN + BOX_WIDTH + BEND, MARGIN * 2 + most * ROW)


def _line(places: Mapping[str, tuple[int, int]], start: str, end: str) -> str:
    (x1, y1), (x2, y2) = places[start], places[end]
    y1, y2 = y1 + BOX_HEIGHT // 2, y2 + BOX_HEIGHT // 2
    if x1 == x2:  # within a column the line leaves and enters on the right
        x = x1 + BOX_WIDTH
        return f"M{x},{y1} C{x + BEND},{y1} {x + BEND},{y2} {x},{y2 + (4 if start == end else 0)}"
    x2 += BOX_WIDTH
    middle = (x1 + x2) // 2
    return f"M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}"
