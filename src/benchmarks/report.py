"""The result of a benchmark: Markdown tables for `docs/explanation/benchmarks.md`, and JSON for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

Value = str | int | float
Row = Mapping[str, Value]


@dataclass(frozen=True)
class Figure:
    """One number of interest."""

    name: str
    value: float
    unit: str = ""

    @property
    def text(self) -> str:
        """Return the value with its unit."""
        return f"{_text(self.value)} {self.unit}".rstrip()


@dataclass(frozen=True)
class Section:
    """The result of one benchmark. `details` goes to the JSON only, `command` is what measures it again."""

    name: str
    title: str
    rows: Sequence[Row]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    command: str = ""


def show(section: Section) -> None:
    """Print a section."""
    print(f"## {section.title}\n\n`{section.command}`\n")
    print(_table(section.rows))
    for figure in section.figures:
        print(f"- {figure.name}: {figure.text}")
    for note in section.notes:
        print(f"- {note}")
    print(flush=True)


def machine_in_words() -> str:
    """Say what was measured on."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return (
        f"Machine: {os.cpu_count()} processors ({model or platform.machine()}), {memory / 2**20:.0f} GiB, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"load {os.getloadavg()[2]:.1f} over the last quarter of an hour."
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _table(rows: Sequence[Row]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [columns, *([_text(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells]
    lines = ["| " + " | ".join(row) + " |" for row in (padded[0], ["-" * width for width in widths], *padded[1:])]
    return "\n".join([*lines, ""])


def save(sections: Sequence[Section], folder: Path, arguments: Sequence[str]) -> Path:
    """Write all results to `results-<time>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    content = {
        "at": now.isoformat(timespec="seconds"),
        "arguments": list(arguments),
        "machine": machine_in_words(),
        "sections": [asdict(section) for section in sections],
    }
    path = folder / f"results-{now:%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
