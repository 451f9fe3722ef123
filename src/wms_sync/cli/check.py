"""``wms-sync check``: what the checks find in the published tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wms_sync.cli.printing import say_lines
from wms_sync.reports.checks import Found, found_in_whole_tables, found_last
from wms_sync.settings import Settings

PASSED, ERRORS, ONLY_WARNINGS = 0, 1, 3


def show_checks(settings: Settings, *, full: bool) -> int:
    """Print what the checks found; return the exit code."""
    found = found_in_whole_tables(settings) if full else found_last(settings)
    say_lines(_lines(found, "whole tables, asked now" if full else "at the last load"))
    severities = {one.severity for one in found if one.offending}
    return PASSED if not severities else ERRORS if "error" in severities else ONLY_WARNINGS


def _lines(found: Sequence[Found], asked: str) -> Iterator[str]:
    for one in found:
        if one.offending:
            yield f"check     {one.severity}: {one.finding} ({one.name})"
            yield from (f"          {line}" for line in one.sample.lines)
    yield f"checks    {sum(not one.offending for one in found)} of {len(found)} passed ({asked})"
