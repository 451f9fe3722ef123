"""Print lines that may hold what the service or a file says. The only place where the command line writes text.

Also how this program is called where it is installed: in a clone, in an environment of its own, or on the path.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from wms_sync.errors import WmsSyncError

PROGRAM = "wms-sync"

_COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys instead of showing them: its commands, and those that turn the order of a line."""


class NotPrinted(WmsSyncError):
    """Standard output takes nothing, such as a file on a full disk."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"What this command has to say could not be written to its standard output ({error.strerror}). What it did "
            "is done: `wms-sync status` shows it. Check where the output goes."
        )


def say(text: str, *, err: bool = False) -> None:
    """Print text; a character that would command the terminal is written as JSON escapes it.

    A log on a full disk or a terminal that is gone ends no run: what standard error does not take is given up. Raises
    ``NotPrinted`` for standard output, unless who reads it has read enough.
    """
    try:
        click.echo(_COMMANDING.sub(_escaped, text), err=err)
    except OSError as error:
        if err:
            return
        if error.errno == errno.EPIPE:  # click ends in silence
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries once more at its end
        raise NotPrinted(error) from None


def say_lines(lines: Iterable[str]) -> None:
    """Print each as one line: a line break in a text of the service, which would make up a line of ours, is a space."""
    for line in lines:
        say(" ".join(line.splitlines()))


def say_json(value: object) -> None:
    """Print values of any depth as JSON for other programs."""
    say(json.dumps(plain(value), indent=2, default=str))


def plain(value: Any) -> Any:  # noqa: ANN401 - any value, any depth
    """Return the value with dictionaries and lists in place of structs and tuples."""
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def command() -> str:
    """Return what to type for this program: `wms-sync` if the shell finds it there, else its path."""
    program = Path(sys.executable).with_name(PROGRAM)
    found = shutil.which(PROGRAM)
    return PROGRAM if found and Path(found).absolute() == program.absolute() else str(shown(program))


def shown(path: Path) -> Path:
    """Return a path as a person reads it best: relative below the present folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
