"""Find and read the SQL files.

In a clone they are in ``sql/`` next to ``src/``; in an installed wheel in ``wms_sync/sql``. Paths are relative to that
folder, with forward slashes: ``read("flatten/orders.sql")``. ``catalogue`` interprets the files.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HEADER_LINE = re.compile(r"--\s*([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"--\s{2,}(.*)")


@cache
def folder() -> Path:
    """Return the folder with all SQL files."""
    installed = Path(__file__).parent / "sql"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "sql"


@cache
def read(path: str) -> str:
    """Return the text of a file by its path under the SQL folder, without a trailing semicolon."""
    return (folder() / path).read_text(encoding="utf-8").rstrip().removesuffix(";")


def body(path: str) -> str:
    """Return the statement of a file without its header comments, for statements shown to users."""
    return "\n".join(line for line in read(path).splitlines() if not line.startswith("--"))


def listed(path: str) -> tuple[str, ...]:
    """Return the paths of the SQL files directly in a folder, relative to the SQL folder, sorted by name."""
    return tuple(f"{path}/{file.name}" for file in sorted((folder() / path).glob("*.sql")))


def stem(path: str) -> str:
    """Return the name of a file without folder and suffix: ``orders`` for ``flatten/orders.sql``."""
    return Path(path).stem


def headers(text: str) -> dict[str, str]:
    """Return the header comments (``-- grain: one row per shipment``) by keyword.

    An indented comment line continues the previous one.
    """
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
