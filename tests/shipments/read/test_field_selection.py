"""Reading from a service that takes less of field selection than is asked for, and takes it again."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.bench import NOW
from tests.shipments.read.conftest import SHIPMENTS
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.service.errors import Problem, Rejected, Unauthorized
from wms_sync.service.selection import Selection, parameters
from wms_sync.service.shipments import Counted
from wms_sync.shipments.read.listing import agree, remembered

BRAND = "fields:order.brand"
WHOLE = Selection(include_addresses=False)
ANSWER = Counted(600, 0, NOW)


def refuse(sandbox, *refused: str) -> None:
    sandbox.sandbox.field_treatment = FieldTreatment(frozenset(refused))


def a_day_passes(bench, days: int = 1) -> None:
    """What was tried was tried a day ago; or so long ago as a clock says that was ahead, in days below zero."""
    whose = bench.settings.base_url, ""
    bench.store.replace_refusals(
        *whose,
        [replace(known, tried_at=known.tried_at - timedelta(days=days)) for known in bench.store.refusals(*whose)],
    )


@pytest.mark.parametrize("days", [1, -40])
def test_a_refused_name_is_tried_once_a_day_and_what_was_omitted_is_read_once_it_is_back(bench, sandbox, days):
    """Each night warns until then."""
    refuse(sandbox, BRAND)
    first = bench.read()
    [window, *_] = bench.store.windows("landed")
    assert (BRAND in first.warnings[0], window.omitted.keys()) == (True, {BRAND})
    assert remembered(bench.settings, bench.store).omitted == window.omitted, "for audits"
    a_day_passes(bench, days)
    for tries in (1, 0):
        sandbox.sandbox.advance(seconds=60)
        sandbox.sandbox.requests.clear()
        assert bench.read().warnings == first.warnings
        assert any("order.brand" in request.query for request in sandbox.sandbox.requests) == bool(tries)

    refuse(sandbox)
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=60)
    again = bench.read()
    assert (again.intervals[0].start, again.progress.records) == (first.intervals[0].start, SHIPMENTS)
    assert again.warnings == ()
    a_day_passes(bench)
    sandbox.sandbox.advance(seconds=3600)
    assert bench.read().progress.records < 10, "it is read again once"


@pytest.mark.parametrize(
    ("refused", "below", "status"),
    [
        ([], [], 400),
        (["fields:packages.gallery.items"], [], 400),
        (["fields:order.merchant"], ["fields:order.merchant.brands", "fields:order.merchant.default_brand"], 400),
        (["fields:packages"], [], 400),
        (["fields", "fields:warehouse"], [], 400),
        *((["fields:order.tpb_group"], [], status) for status in (403, 404, 422)),
        ([*[parameter.name for parameter in parameters(include_addresses=False)]], [], 400),
    ],
)
def test_only_what_is_refused_is_left_out(refused, below, status):
    asked = []

    def ask(selection: Selection) -> Counted:
        asked.append(selection)
        if any(name in refused for name, _ in selection.params):
            error = Unauthorized if status == 403 else Rejected
            raise error("refused", status=status, problems=(Problem("parameters", "fields", "Unknown."),))
        return ANSWER

    selection, answer = agree(ask, WHOLE)
    assert sorted(selection.omitted) == sorted([*refused, *below])
    assert all(selection.omitted.values())
    assert answer == ANSWER
    assert len(asked) <= 1 + 8 * len(refused)


@pytest.mark.parametrize("status", [400, 404, 414, 422])
def test_what_field_selection_cannot_mend_stays_an_error(status):
    def ask(asked: Selection) -> Counted:
        raise Rejected("the filter", status=status, problems=(Problem("parameters", "filter", "is wrong"),))

    with pytest.raises(Rejected, match="the filter"):
        agree(ask, WHOLE)


@pytest.mark.parametrize("include_addresses", [False, True])
def test_the_address_of_a_request_stays_short(include_addresses):
    params = Selection(include_addresses=include_addresses).params
    assert sum(len(name) + len(text) + text.count(",") * 2 + 6 for name, text in params) < 6000
