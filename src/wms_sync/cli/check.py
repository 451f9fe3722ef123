"""``wms-sync check``: show the results of the checks on the published tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wms_sync.cli.printing import say_lines
from wms_sync.cli.views import open_lines
from wms_sync.reports.finding import exit_code
from wms_sync.reports.findings import findings_of
from wms_sync.reports.published import CheckFound, check_whole_tables, last_checks
from wms_sync.settings import Settings


def show_checks(settings: Settings, *, full: bool) -> int:
    """Print the results of the checks and every open finding; return the exit code."""
    found = check_whole_tables(settings) if full else last_checks(settings)
    findings = findings_of(settings, checks=found)
    say_lines(_lines(found, "whole tables, now" if full else "at the last load"))
    say_lines(open_lines(findings))
    return exit_code(findings)


def _lines(found: Sequence[CheckFound], scope: str) -> Iterator[str]:
    for check in found:
        if check.offending:
            yield f"check     {check.severity}: {check.finding} ({check.name})"
            yield from (f"          {line}" for line in check.sample.lines)
    yield f"checks    {sum(not check.offending for check in found)} of {len(found)} passed ({scope})"
