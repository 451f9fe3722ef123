"""A service that takes less than is asked for: what is agreed on, and in how many requests."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from wms_sync.service.errors import Problem, Rejected, Unauthorized
from wms_sync.service.selection import Selection, parameters
from wms_sync.shipments.read.field_selection import agree

WHOLE = Selection.whole(include_addresses=False)
EVERYTHING = [parameter.name for parameter in parameters(include_addresses=False)]


class Service:
    """Refuses some parameters (``fields:order.brand``) and values (``fields:order=carrier``), and counts requests."""

    def __init__(self, *refused: str, status: int = 400) -> None:
        self.refused = set(refused)
        self.status = status
        self.requests = 0

    def ask(self, asked: Selection) -> str:
        self.requests += 1
        for name, values in asked.asked:
            if self.refused & {name, *(f"{name}={value}" for value in values)}:
                problems = (Problem("parameters", name, "Unknown."),)
                if self.status == 403:
                    raise Unauthorized("refused the token", status=self.status, problems=problems)
                raise Rejected(f"{name} was refused", status=self.status, problems=problems)
        return "answer"


@pytest.mark.parametrize(
    ("refused", "omitted", "status"),
    [
        (["fields:packages.gallery.items"], ["fields:packages.gallery.items"], 400),
        (["fields:order=carrier"], ["fields:order=carrier"], 400),
        (
            ["fields:order=status", "fields:order=automation_data"],
            ["fields:order=automation_data", "fields:order=status"],
            400,
        ),
        (
            ["fields:order.merchant"],
            ["fields:order.merchant", "fields:order.merchant.brands", "fields:order.merchant.default_brand"],
            400,
        ),
        (["fields:packages"], ["fields:packages"], 400),
        (["fields", "fields:warehouse"], ["fields", "fields:warehouse"], 400),
        (["fields:retailer=all"], [], 400),
        (["fields:retailer=all", "fields:retailer=dba"], ["fields:retailer=dba"], 400),
        (["fields:packing_solution=containers"], ["fields:packing_solution"], 400),
        *((["fields:order.tpb_group"], ["fields:order.tpb_group"], status) for status in (403, 404, 422)),
        ([*EVERYTHING], [*EVERYTHING], 400),
    ],
)
def test_only_what_is_refused_is_left_out(refused, omitted, status):
    service = Service(*refused, status=status)
    agreement = agree(service.ask, WHOLE)
    assert sorted(agreement.selection.omitted) == sorted(omitted)
    assert agreement.answer == "answer"
    assert agreement.said.keys() >= {name.split("=")[0] for name in refused}
    assert service.requests <= min(400, 4 + 26 * len(refused))


@pytest.mark.parametrize("status", [403, 413, 414, 431])
def test_an_address_that_is_too_long_is_shortened(status):
    def ask(asked: Selection) -> str:
        if len(urlencode(asked.params)) > 3000:
            raise Rejected("too long", status=status)
        return "answer"

    agreement = agree(ask, WHOLE)
    assert 2500 < len(urlencode(agreement.selection.params)) <= 2900  # a page has a longer address
    assert {one for one, _ in WHOLE.asked} - {one for one, _ in agreement.selection.asked} <= set(agreement.said)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_what_field_selection_cannot_mend_stays_an_error(status):
    def ask(asked: Selection) -> str:
        raise Rejected("the filter", status=status, problems=(Problem("parameters", "filter", "is wrong"),))

    with pytest.raises(Rejected, match="the filter"):
        agree(ask, WHOLE)


def test_the_address_of_a_request_stays_short():
    listed = [(one.name, ",".join(one.names)) for one in parameters(include_addresses=True)]
    for params in (
        Selection.whole(include_addresses=False).params,
        Selection.whole(include_addresses=True).params,
        listed,
    ):
        assert sum(len(name) + len(text) + text.count(",") * 2 + 6 for name, text in params) < 7500
