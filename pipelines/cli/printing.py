"""Print lines that may hold what the service or a file says. The only place where the command line writes text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

_COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys instead of showing them: its commands, and those that turn the order of a line."""


def say(text: str, *, err: bool = False) -> None:
    """Print text; a character that would command the terminal is written as JSON escapes it."""
    click.echo(_COMMANDING.sub(_escaped, text), err=err)


def say_lines(lines: Iterable[str]) -> None:
    """Print each as one line: a line break in a text of the service, which would make up a line of ours, is a space."""
    for line in lines:
        say(" ".join(line.splitlines()))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
