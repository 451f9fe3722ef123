"""The files of SQL text: where they are, and how to read one.

In a clone they lie in ``sql/`` beside ``src/``; in an installed wheel in ``wms_sync/sql``. Paths are relative to that
folder, with forward slashes: ``read("flatten/orders.sql")``. What the files mean is known by ``catalogue``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HEADER_LINE = re.compile(r"--\s*([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"--\s{2,}(.*)")


@cache
def folder() -> Path:
    """The folder that holds all SQL text."""
    installed = Path(__file__).parent / "sql"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "sql"


@cache
def read(path: str) -> str:
    """The text of one file, by its path under the SQL folder, without a closing semicolon."""
    return (folder() / path).read_text(encoding="utf-8").rstrip().removesuffix(";")


def listed(path: str) -> tuple[str, ...]:
    """The files right under one folder, by path under the SQL folder, in order of name."""
    return tuple(f"{path}/{file.name}" for file in sorted((folder() / path).glob("*.sql")))


def stem(path: str) -> str:
    """The name of a file without folder and ending: ``flatten/orders.sql`` is ``orders``."""
    return Path(path).stem


def headers(text: str) -> dict[str, str]:
    """The header comments of a file (``-- grain: one row a shipment``) by their word; an indented line goes on."""
    found: dict[str, str] = {}
    word = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if header := _HEADER_LINE.fullmatch(line):
            word, found[header[1]] = header[1], header[2]
        elif word and (more := _CONTINUATION.fullmatch(line)):
            found[word] += f" {more[1]}"
    return found
