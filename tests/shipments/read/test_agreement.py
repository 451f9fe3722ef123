"""A service that takes less than is asked for: what is agreed on, and in how many requests."""

import pytest

from tests.conftest import NOW
from wms_sync.service.errors import Problem, Rejected, Unauthorized
from wms_sync.service.selection import Selection, parameters
from wms_sync.service.shipments import Counted
from wms_sync.shipments.read.listing import agree

WHOLE = Selection(include_addresses=False)
ANSWER = Counted(600, 0, NOW)


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
