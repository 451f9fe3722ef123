"""Services that differ from the specification: the probe names each habit, and the sync that follows loses nothing.

The sync lands every shipment, or it ends with an error and nothing counts as covered. The doctor sums the probe up.
"""

from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.shipments.read.test_listing import INEXACT
from tests.shipments.read.test_undated import Ignores, asks_for_undated
from tests.test_deviations import BILLING_GROUP, DENIED, FEW, REFUSED, Deviate, answers, following, forbids, pages
from wms_sandbox.app import STATUS, Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.faults import Disconnect
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.transport import InProcess
from wms_sync.errors import WmsSyncError
from wms_sync.reports.doctor import examine
from wms_sync.reports.probe import HABITS, probe
from wms_sync.service.errors import FilterMisses, PagingBroken, Rejected, Unauthorized
from wms_sync.shipments.read.raw import WindowIncomplete

Page = dict[str, Any]


@dataclass(frozen=True)
class Includes(FieldTreatment):
    """The bounds of a filter on times belong to it."""

    def heard(self, parameters):
        return [
            (name, text.replace("gt:", "from:").replace("lt:", "to:") if "updated_at" in text else text)
            for name, text in super().heard(parameters)
        ]


def sets(**hooks: object) -> Deviate:
    """These hooks of the sandbox are set."""
    return lambda sandbox: vars(sandbox).update(hooks)


def refuses(asked: Callable[[Request], bool], status: int = 400) -> Deviate:
    """Requests like these are refused."""
    return answers(lambda request: JSONResponse(REFUSED, status) if asked(request) else None)


def sends(**headers: str) -> Deviate:
    """Every answer has these headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return sets(finish=lambda answer: answer.headers.update(named))


def filters(request: Request) -> str:
    return "".join(request.query_params.getlist("filter"))


def shipments(**fields: object) -> Deviate:
    """These fields of each shipment are these."""
    return pages(lambda page: [shipment.update(fields) for shipment in page["collection"]])


def cursor_moved(by: int) -> Deviate:
    """Page cursors are so many places off."""

    def deviate(sandbox: Sandbox) -> None:
        ids = sandbox._store.ids.tolist()

        def move(page: Page) -> None:
            if page["next"]:
                cursor = ids[min(ids.index(page["meta"]["cursor_start"]) + by, len(ids) - 1)]
                page["meta"]["cursor_start"], page["next"] = cursor, f"?cursor_start={cursor}"

        pages(move)(sandbox)

    return deviate


def second_time(sandbox: Sandbox) -> None:
    """Whoever asks for the same page again gets one shipment less."""
    asked: Counter[str] = Counter()

    def answer(request: Request) -> None:
        asked[query := request.url.query] += 1
        again = asked[query] > 1 and "fields" not in query and "limit=2" in query
        sandbox.rewrite = (lambda page: page | {"collection": page["collection"][1:]}) if again else None

    sandbox.intercept = answer


def end_with_an_empty_page(page: Page) -> None:
    if not page["has_more"] and page["collection"]:
        page |= {"has_more": True, "next": f"?cursor_start={page['collection'][-1]['id'] + 1}"}


def counts(change: Callable[[int], int | None]) -> Deviate:
    return pages(
        lambda page: page["meta"].update(count=change(page["meta"]["count"])) if "count" in page["meta"] else 0
    )


def capped(size: int) -> Deviate:
    """Pages have no more than this many shipments, whatever is asked for."""

    def cap(page: Page) -> None:
        if more := page["collection"][size:]:
            page |= {
                "collection": page["collection"][:size],
                "has_more": True,
                "next": f"?cursor_start={more[0]['id']}",
            }

    return pages(cap)


def by_reference(page: Page) -> None:
    """Packages are under ``included``."""
    held: list[Page] = []
    for shipment in page["collection"]:
        for at, package in enumerate(shipment.get("packages") or ()):
            held.append(package | {"type": "ShipmentPackage", "id": 10_000_000 + len(held)})
            shipment["packages"][at] = {"type": "ShipmentPackage", "id": held[-1]["id"]}
    if held:
        page["included"]["ShipmentPackage"] = held


def delete_one(page: Page) -> None:
    for shipment in page["collection"][:1]:
        kept = {key: shipment[key] for key in ("type", "id", "updated_at") if key in shipment}
        page["collection"][0] = kept | {"is_deleted": True}


@dataclass(frozen=True)
class Odd:
    """A service. The probe finds these habits: verdict, and what it observed. ``ends`` is the error of a sync."""

    deviate: Deviate
    habits: Mapping[str, tuple[str, str]]
    ends: type[WmsSyncError] | None = None


STOPS, WARNS, DIFFERS, FAILS, USUAL = "stops", "warns", "differs", "not observed", "as specified"
NUMBERS = count()
BY_TIME = "for that second does not find it"
ODD: dict[str, Odd] = {
    "as specified": Odd(sets(), {}),
    "filters compare minutes": Odd(
        sets(field_treatment=INEXACT["compares minutes"]),
        {
            "filter: exactness": (STOPS, BY_TIME),
            "filter: resolution": (STOPS, "by its minute"),
            "filter: zone": (STOPS, "nothing"),
        },
        FilterMisses,
    ),
    "filters compare dates": Odd(
        sets(field_treatment=INEXACT["compares dates"]),
        {
            "filter: exactness": (STOPS, BY_TIME),
            "filter: resolution": (STOPS, "by its date"),
            "filter: zone": (STOPS, "nothing"),
        },
        FilterMisses,
    ),
    "filters read times in another zone": Odd(
        sets(field_treatment=INEXACT["reads times five hours late"]),
        {
            "filter: exactness": (STOPS, BY_TIME),
            "filter: resolution": (STOPS, "by "),
            "filter: zone": (STOPS, "UTC-5"),
        },
        FilterMisses,
    ),
    "filters are by something else": Odd(
        sets(field_treatment=INEXACT["filters by something else"]),
        {
            "filter: exactness": (STOPS, BY_TIME),
            "filter: resolution": (STOPS, "nothing"),
            "filter: zone": (STOPS, "nothing"),
        },
        FilterMisses,
    ),
    "filters on times are refused": Odd(
        refuses(lambda request: "updated_at" in filters(request)),
        {"filter: exactness": (STOPS, "400"), "filter: zone": (STOPS, "400")},
        Rejected,
    ),
    "bounds belong to a filter": Odd(sets(field_treatment=Includes()), {"filter: bounds": (DIFFERS, "gt")}),
    "the filter for null is refused": Odd(refuses(asks_for_undated), {"filter: null": (WARNS, "refused or ignored")}),
    "the filter for null is ignored": Odd(
        sets(field_treatment=Ignores(filters="null")), {"filter: null": (WARNS, "ignored")}
    ),
    "the filter on updated_at is ignored": Odd(
        sets(field_treatment=Ignores(filters="updated_at{g")), {"counts: filter": (WARNS, "is counted")}
    ),
    "filters on ids are ignored": Odd(sets(field_treatment=Ignores(filters="id{")), {"filter: ids": (WARNS, "id{gt")}),
    "filters on ids are refused": Odd(
        refuses(lambda request: filters(request).startswith("id{")), {"filter: ids": (WARNS, "400")}
    ),
    "next is the address of another host": Odd(
        following(lambda path: f"http://wms.internal:8080{path}"), {"paging: next": (DIFFERS, "wms.internal")}
    ),
    "next has no leading slash": Odd(
        following(lambda path: path.removeprefix("/api/global/")), {"paging: next": (DIFFERS, "'v1/shipping")}
    ),
    "only meta has the cursor": Odd(following(lambda path: None), {"paging: next": (DIFFERS, "next is None")}),
    "has_more is left out": Odd(
        pages(lambda page: page.pop("has_more")), {"paging: next": (DIFFERS, "has_more is None")}
    ),
    "has_more is false although next leads on": Odd(
        pages(lambda page: page.update(has_more=False)), {"paging: next": (DIFFERS, "has_more is False")}
    ),
    "has_more is a number": Odd(
        pages(lambda page: page.update(has_more=int(page["has_more"]))), {"paging: next": (DIFFERS, "has_more is 1")}
    ),
    "pages overlap": Odd(cursor_moved(-1), {"paging: cursor": (STOPS, "overlap")}, PagingBroken),
    "a shipment between pages is left off": Odd(
        cursor_moved(1), {"paging: cursor": (STOPS, "3 of 4")}, WindowIncomplete
    ),
    "a page asked twice has less": Odd(second_time, {"paging: twice": (WARNS, "2 of 4")}),
    "lists and counts end early": Odd(
        sets(most_matches=15),
        {"paging: depth": (DIFFERS, "4 shipments follow"), "counts: limit": (WARNS, "counted as 15")},
    ),
    "an empty page follows the last": Odd(pages(end_with_an_empty_page), {"paging: end": (DIFFERS, "more follows")}),
    "a limit is refused": Odd(
        refuses(lambda request: int(request.query_params.get("limit", 1)) > 8),
        {"paging: limit": (WARNS, "400"), "pages": (USUAL, "of up to 5")},
    ),
    "pages are smaller than asked for": Odd(capped(6), {"paging: limit": (WARNS, "6 shipments")}),
    "nothing is counted": Odd(counts(lambda _: None), {"counts": (WARNS, "None")}),
    "counts ignore the filter": Odd(counts(lambda _: 30), {"counts: filter": (WARNS, "is counted")}),
    "counts end early": Odd(counts(lambda right: min(right, 20)), {"counts: limit": (WARNS, "counted as 20")}),
    "counts move": Odd(
        counts(lambda right: right and right + next(NUMBERS) % 2),  # every other one is one more
        {"counts: moving": (DIFFERS, "then")},
    ),
    "an empty day is a 404": Odd(sets(status_of_empty_list=404), {"empty day": (DIFFERS, "404")}),
    "an empty day is a 204": Odd(sets(status_of_empty_list=204), {"empty day": (DIFFERS, "204")}),
    "a name is refused": Odd(
        sets(field_treatment=FieldTreatment(frozenset({"fields:order.brand"}))),
        {"field selection": (WARNS, "37 of 38 names are accepted; fields:order.brand is refused")},
    ),
    "a name is forbidden": Odd(
        forbids(lambda: JSONResponse(DENIED, 403)), {"field selection": (WARNS, f"{BILLING_GROUP} is refused (403")}
    ),
    "included is left out": Odd(
        sets(field_treatment=FieldTreatment(drops_included=True)), {"objects: kinds": (WARNS, "no Order, to which 2")}
    ),
    "field selection is ignored": Odd(
        sets(field_treatment=FieldTreatment(ignored=True)), {"objects: kinds": (WARNS, "no Order")}
    ),
    "a list is never there": Odd(
        pages(lambda page: [order.pop("status_history") for order in page["included"].get("Order", ())]),
        {"objects: absent lists": (WARNS, "Order.status_history")},
    ),
    "packages come by reference": Odd(pages(by_reference), {"objects: kinds": (USUAL, "packages by reference")}),
    "an unknown key comes": Odd(shipments(gift_wrap="red"), {"objects: keys": (WARNS, "Shipment.gift_wrap")}),
    "times have no offset": Odd(
        shipments(packed_at="2026-03-04 23:30:00"), {"objects: forms": (WARNS, "Shipment.packed_at (a time without")}
    ),
    "a number is text": Odd(
        shipments(carrier_shipping_cost="a lot"), {"objects: forms": (WARNS, "carrier_shipping_cost (a number")}
    ),
    "deleted shipments stay in the list": Odd(pages(delete_one), {"objects: deleted": (DIFFERS, "is deleted")}),
    "addresses of 3 KB are refused": Odd(
        refuses(lambda request: len(str(request.url)) > 3000, 414),
        {"address of 4 KB": (WARNS, "414"), "pages": (STOPS, "414")},
        Rejected,
    ),
    "addresses of 8 KB are refused": Odd(
        refuses(lambda request: len(str(request.url)) > 8000, 414), {"address of 8 KB": (WARNS, "414")}
    ),
    "rates are limited": Odd(sends(RateLimit_Remaining="9"), {"rate limit": (USUAL, "ratelimit-remaining: 9")}),
    "the version is named": Odd(sends(X_API_Version="2026-01"), {"version": (USUAL, "x-api-version: 2026-01")}),
    "the end is announced": Odd(
        sends(Deprecation="@1688169599"), {"announcements": (WARNS, "Deprecation: @1688169599")}
    ),
    "answers have no date": Odd(sets(redate=lambda _: None), {"clock": (WARNS, "no Date")}),
    "the clock is ahead": Odd(
        sets(redate=lambda _: datetime.now(UTC) + timedelta(hours=3)), {"clock": (WARNS, "ahead of")}
    ),
    "an unknown filter is ignored": Odd(
        sets(field_treatment=Ignores(filters="wms_sync")), {"refusals": (DIFFERS, "is ignored")}
    ),
    "a refusal gives no reason": Odd(
        answers(lambda request: Response("no", 400) if "wms_sync" in filters(request) else None),
        {"refusals": (DIFFERS, "400")},
    ),
    "there is no status page": Odd(
        answers(lambda request: Response("", 404) if request.url.path == STATUS else None),
        {"status page": (DIFFERS, "404")},
    ),
    "the status page fails": Odd(
        answers(lambda request: Response("", 500) if request.url.path == STATUS else None),
        {"status page": (FAILS, "not observed: GET")},
    ),
}


@pytest.fixture
def service(in_process: InProcess) -> InProcess:
    """A service of a few shipments, whose clock is right."""
    in_process.sandbox = Sandbox(FEW)
    in_process.sandbox.redate = lambda _: datetime.now(UTC)
    return in_process


@pytest.mark.proof
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_each_habit_is_named_and_the_next_sync_loses_nothing(bench, service, settings_for, odd):
    odd.deviate(service.sandbox)
    bench.settings = settings_for(service, page_size=10)
    found = {habit.name: habit for habit in probe(bench.settings, transport=service)}
    assert {name: found[name].verdict for name in odd.habits} == {name: bad for name, (bad, _) in odd.habits.items()}
    assert [found[name].observed for name, (_, says) in odd.habits.items() if says not in found[name].observed] == []
    with nullcontext() if odd.ends is None else pytest.raises(odd.ends):
        bench.read()
    assert set(bench.landed_ids()) == (set() if odd.ends else set(service.sandbox._store.ids.tolist()))
    assert bool(bench.store.covered()) == (odd.ends is None)


FAILURES: dict[str, tuple[Callable[[Request], Response], str]] = {
    # how a request fails, and what is said
    "500": (lambda _: Response("down", 500), "not observed: GET"),
    "403": (lambda _: JSONResponse(DENIED, 403), "Access denied."),
    "no answer": (lambda _: Disconnect(), "not observed: No answer"),
    "no page": (lambda _: JSONResponse({"collection": "odd"}), "not observed: "),
    "nonsense": (lambda _: JSONResponse({"collection": [None, 7], "meta": [], "next": {}}), ""),
}


@pytest.mark.proof
@pytest.mark.parametrize(("answer", "says"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("asks", ["updated_at", "id{", "cursor_start", "fields", "limit=2&", "2000-01-02"])
def test_what_cannot_be_observed_is_said_and_the_rest_goes_on(bench, service, settings_for, asks, answer, says):
    failed = []

    def fail(request: Request) -> Response | None:
        query = unquote(request.url.query)
        failed.extend([query] if asks in query else [])
        return answer(request) if asks in query else None

    service.sandbox.intercept = fail
    found = list(probe(settings_for(service, page_size=10), transport=service))
    assert [habit.name for habit in found] == [name for name, *_ in HABITS]
    assert failed
    assert not says or any(says in habit.observed and habit.verdict != USUAL for habit in found)
    assert USUAL in {habit.verdict for habit in found}


@pytest.mark.parametrize("shipments", [0, 1, 3])
def test_a_service_with_few_shipments_has_little_to_observe(service, settings_for, shipments):
    service.sandbox = Sandbox(replace(FEW, shipments=shipments))
    service.sandbox.redate = lambda _: datetime.now(UTC)
    assert {habit.verdict for habit in list(probe(settings_for(service), transport=service))} == {USUAL, "no data"}


def test_a_service_that_lists_nothing_ends_the_probe(service, settings_for):
    with pytest.raises(Unauthorized, match="WMS_API_TOKEN"):
        list(probe(settings_for(service, api_token="wr0ng"), transport=service))
    assert len(service.sandbox.requests) == 1


def test_it_reads_beside_a_sync_and_writes_nothing(bench, service, settings_for):
    """About thirty requests, each a GET, while another run holds the lock."""
    bench.settings = settings_for(service, page_size=10)
    before = {path: path.stat().st_mtime_ns for path in bench.layout.root.rglob("*")}
    found = list(probe(bench.settings, transport=service))
    requests = service.sandbox.requests
    assert ({request.method for request in requests}, len(requests) <= 36) == ({"GET"}, True), len(requests)
    assert {path: path.stat().st_mtime_ns for path in bench.layout.root.rglob("*")} == before
    assert bench.store.refusals(bench.settings.base_url, "") == ()
    assert all(habit.specified and habit.handled for habit in found)


def test_no_secret_and_no_person_is_shown(service, settings_for):
    """Whatever the service repeats, in headers, addresses, refusals and pages."""
    sandbox = service.sandbox
    token, person = sandbox.config.token, "+1 555 0100"
    refusal = bad_parameters(ParameterError(token, token))

    def plant(page: Page) -> Page:
        for shipment in page["collection"]:
            shipment |= {"telephone": person, "packed_at": person, "carrier_shipping_cost": person}
        return page | {"next": f"{page['next']}&token={token}"}

    sandbox.rewrite = plant
    sandbox.intercept = lambda request: refusal if "wms_sync" in request.url.query else None
    sandbox.finish = lambda answer: answer.headers.update({"ratelimit-of": token, "deprecation": token})
    shown = "".join(map(str, probe(settings_for(service), transport=service)))
    assert (token in shown, person in shown, "(withheld)" in shown, "packed_at" in shown) == (False, False, True, True)


def test_the_doctor_sums_it_up(service, settings_for):
    settings = settings_for(service, page_size=10)
    well = {finding.name: finding for finding in examine(settings, transport=service)}
    assert f"{len(HABITS)} of {len(HABITS)} habits are as specified" in well["connection"].text
    service.sandbox.field_treatment = INEXACT["compares minutes"]
    service.sandbox.status_of_empty_list = 404
    service.sandbox.intercept = lambda request: Response("", 500) if request.url.path == STATUS else None
    ill = {finding.name: finding for finding in examine(settings, transport=service)}
    assert (ill["filter: exactness"].severity, BY_TIME in ill["filter: exactness"].text) == ("error", True)
    assert (ill["status page"].severity, "empty day" in ill) == ("warning", False)


@pytest.mark.parametrize("asks", ["fields", pytest.param("updated_at", marks=pytest.mark.proof), ""])
def test_the_doctor_fails_where_a_sync_would(service, settings_for, asks):
    service.sandbox.intercept = lambda request: Response("", 500) if asks in request.url.query else None
    assert "error" in {finding.severity for finding in examine(settings_for(service), transport=service)}


@pytest.mark.parametrize(("expires", "severity"), [("0", "error"), ("1e20", "note")])
def test_when_a_token_expires_is_found(service, settings_for, expires, severity):
    claims = urlsafe_b64encode(f'{{"exp": {expires}}}'.encode()).decode().rstrip("=")
    findings = examine(settings_for(service, api_token=f"head.{claims}.signature"))
    [found] = [finding for finding in findings if finding.name == "token"]
    assert (found.severity, "expir" in found.text) == (severity, True)
