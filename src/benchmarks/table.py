"""A Markdown table, as `docs/explanation/benchmarks.md` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Value = str | int | float
Row = Mapping[str, Value]


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows that have the same columns."""
    cells = [list(rows[0]), ["---"] * len(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    print(f"\n## {title}\n")
    for row in cells:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
