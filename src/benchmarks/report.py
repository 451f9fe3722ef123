"""The result of a benchmark, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

Value = str | int | float
Row = Mapping[str, Value]


@dataclass(frozen=True)
class Figure:
    """One number of interest; `most` is the largest value hoped for."""

    name: str
    value: float
    unit: str = ""
    most: float | None = None

    @property
    def verdict(self) -> str:
        """Return whether the value is as hoped."""
        if self.most is None:
            return ""
        return f"{'as hoped' if self.value <= self.most else 'MORE THAN HOPED'} (at most {self.most:g})"


@dataclass(frozen=True)
class Section:
    """The result of one benchmark. `details` goes to the JSON only."""

    name: str
    title: str
    rows: Sequence[Row]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    details: Mapping[str, object] = field(default_factory=dict)


def show(section: Section, console: Console) -> None:
    """Print a section."""
    table = Table(title=section.title, title_justify="left")
    for number, column in enumerate(section.rows[0]):
        table.add_column(column, justify="right" if number else "left")
    for row in section.rows:
        table.add_row(*(_text(value) for value in row.values()))
    console.print(table)
    for figure in section.figures:
        console.print(f"  {figure.name}: {figure.value:.3g} {figure.unit} {figure.verdict}".rstrip(), highlight=False)
    for note in section.notes:
        console.print(f"  {note}", highlight=False)
    console.print()


def save(sections: Sequence[Section], folder: Path, arguments: Sequence[str]) -> Path:
    """Write all results to `results-<time>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    content = {
        "at": now.isoformat(timespec="seconds"),
        "arguments": list(arguments),
        "machine": {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()},
        "load_average": os.getloadavg(),
        "sections": [asdict(section) for section in sections],
    }
    path = folder / f"results-{now:%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
