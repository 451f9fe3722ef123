"""What headers of answers announce reaches whoever runs a read or the doctor, once, and clean."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.conftest import FEWER, IMPATIENT, NOW, needs
from wms_sandbox.app import STATUS, Sandbox
from wms_sync.intervals import Interval
from wms_sync.reports.doctor import examine
from wms_sync.runs import Operation
from wms_sync.service.client import GlobalApi


def announce(sandbox, *headers):
    """Add headers to every answer of the service; `{}` in a header is the number of the request."""

    async def answer(request):
        right = await sandbox.sandbox._serve(request)
        for name, value in headers:
            right.headers.append(name, value.format(len(sandbox.sandbox.requests)))
        return right

    sandbox.sandbox.intercept = answer


def heard(bench, requests: int = 3) -> list[str]:
    """What is reported of the answers, without the address."""
    said = []
    with GlobalApi.from_settings(
        bench.settings, policy=IMPATIENT, warn=lambda _, text: said.append(text), transport=bench.transport
    ) as api:
        for _ in range(requests):
            api.get(STATUS, read=bytes)
    return [sentence.partition(" answers with ")[2] for sentence in said]


USED = "This interface, which wms-sync uses,"


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        # the headers of each answer, and how what is reported begins
        ([("Deprecation", "@1688169599")], [f"Deprecation: @1688169599. {USED} will be withdrawn"]),
        (
            [("Sunset", "Sat, 31 Dec 2026 23:59:59 GMT")],
            [f"Sunset: Sat, 31 Dec 2026 23:59:59 GMT. {USED} stops working then"],
        ),
        (
            [("Warning", '110 proxy "Response is stale"')],
            ['Warning: 110 proxy "Response is stale". If the code is 110'],
        ),
        ([("Warning", '299 - "Use v2\x85 of <b>this</b>"')], ['Warning: 299 - "Use v2 of this ".']),
        ([("Warning", "odd")], ["Warning: odd."]),
        (
            [("Warning", '299 a "One"'), ("Warning", '299 a "Two of sandbox-token"')],
            ['Warning: 299 a "One".', 'Warning: 299 a "Two of (withheld)".'],
        ),
    ],
)
def test_a_header_is_reported_once_with_its_meaning(bench, sandbox, headers, says):
    announce(sandbox, *headers)
    assert [sentence[: len(begins)] for sentence, begins in zip(heard(bench), says, strict=True)] == says


def test_a_changing_text_is_not_reported_for_ever(bench, sandbox):
    announce(sandbox, ("Warning", '299 - "Request {}"'))
    assert len(heard(bench, 50)) == 20


def test_what_is_announced_is_kept_and_shown(sandbox, settings_for):
    settings = settings_for(sandbox)
    sandbox.sandbox = Sandbox(replace(FEWER, shipments=60))
    announce(sandbox, ("Sunset", "Sat, 31 Dec 2026 23:59:59 GMT"))
    Operation(settings, source="test", transport=sandbox).backfill(Interval(NOW - timedelta(days=30), NOW))
    assert "Sunset: Sat" in "\n".join(needs(settings))
    [found] = [finding for finding in examine(settings, transport=sandbox) if finding.name == "announcements"]
    assert (found.severity, "Sunset: Sat" in found.text) == ("warning", True)
