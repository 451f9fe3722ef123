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
    """Print each as one line: a line break of the service, with which it could make up lines of ours, is escaped."""
    for line in lines:
        say(line.replace("\n", "\\u000a").replace("\t", "\\u0009"))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
