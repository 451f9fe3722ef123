"""A service that takes less than is asked for: what is agreed on, and in how many requests."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from wms_sync.service.errors import Problem, Rejected, Unauthorized
from wms_sync.service.selection import Selection, parameters
from wms_sync.shipments.read.field_selection import Agreement, agree

WHOLE = Selection.whole(include_addresses=False)


class Service:
    """Refuses some parameters (``fields:order.brand``) and values (``fields:order=carrier``), and counts requests."""

    def __init__(self, *refused: str, status: int = 400) -> None:
        self.refused = set(refused)
        self.status = status
        self.requests = 0

    def ask(self, asked: Selection) -> str:
        self.requests += 1
        for name, values in asked.asked:
            for value in ("", *values):
                if (f"{name}={value}" if value else name) in self.refused:
                    self.refuse(name, value)
        return "answer"

    def refuse(self, name: str, value: str) -> None:
        problems = (Problem("parameters", name, f"Unknown value {value}." if value else "Unknown parameter."),)
        if self.status == 403:
            raise Unauthorized("refused the token", status=self.status, problems=problems)
        raise Rejected(f"{name} was refused", status=self.status, problems=problems)


def agreed(service: Service) -> Agreement[str]:
    return agree(service.ask, WHOLE)


@pytest.mark.parametrize(
    ("refused", "omitted"),
    [
        (["fields:packages.gallery.items"], ["fields:packages.gallery.items"]),
        (["fields:order=carrier"], ["fields:order=carrier"]),
        (
            ["fields:order=status", "fields:order=automation_data"],
            ["fields:order=automation_data", "fields:order=status"],
        ),
        (
            ["fields:order.merchant"],
            ["fields:order.merchant", "fields:order.merchant.brands", "fields:order.merchant.default_brand"],
        ),
        (["fields:packages"], ["fields:packages"]),
        (["fields", "fields:warehouse"], ["fields", "fields:warehouse"]),
        (["fields:retailer=all"], []),
        (["fields:retailer=all", "fields:retailer=dba"], ["fields:retailer=dba"]),
        (["fields:packing_solution=containers"], ["fields:packing_solution"]),
    ],
)
def test_only_what_is_refused_is_left_out(refused, omitted):
    service = Service(*refused)
    agreement = agreed(service)
    assert sorted(agreement.selection.omitted) == sorted(omitted)
    assert agreement.answer == "answer"
    for name in {one.split("=")[0] for one in refused}:
        assert agreement.said[name] == f"{name} was refused"
    assert service.requests <= 4 + 26 * len(refused)


def test_all_is_requested_only_where_specified():
    asked = dict(Selection.whole(include_addresses=True).params)
    names = {name for name, text in asked.items() if text != "all"}
    assert names == {"fields", "fields:order", "fields:items", "fields:order.items", "fields:packing_solution"}


def test_a_service_without_field_selection_is_still_read():
    service = Service(*(one.name for one in parameters(include_addresses=False)))
    assert agreed(service).selection.asked == ()
    assert service.requests < 400


@pytest.mark.parametrize("status", [403, 404, 422])
def test_a_name_may_be_refused_with_another_status(status):
    service = Service("fields:order.tpb_group", status=status)
    agreement = agreed(service)
    assert tuple(agreement.selection.omitted) == ("fields:order.tpb_group",)
    assert "token" not in agreement.said["fields:order.tpb_group"]


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
