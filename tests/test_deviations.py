"""Services that are a little different where the specification leaves room, a line each, for a whole sync.

A sync goes on, and says what it could not have. Either every table equals the service in the end, or the case names
what is lacking; what an operator is told is looked for in what the command prints and in ``status``. What may break a
transport is in ``test_transport.py``, and content that does not fit in ``test_content.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import cycle
from typing import Any

import duckdb
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pipelines.cli.runs import report
from tests.conftest import CONFIG, Bench
from tests.extract.test_widening import DATES, HOUR, MINUTES, Compares
from tests.oracle import AS_JSON, Tables, differences, expected_tables
from tests.test_sync import synced
from wms_sandbox.app import STATUS, Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.store import NO_TIME
from wms_sandbox.transport import InProcess
from wms_sync.api.filters import UNDATED
from wms_sync.catalogue import tables
from wms_sync.reports.status import status
from wms_sync.runs.operation import RunReport

PAGE_SIZE = 20
FEW = replace(CONFIG, shipments=60, families=20)

FREE_FORM = {"custom_fields", *AS_JSON}

Page = dict[str, Any]
Deviate = Callable[[Sandbox], object]


@dataclass(frozen=True)
class Deviation:
    """``deviate`` teaches the service. ``ends`` is the exit code, ``says`` what stands in the output or the status.

    A text of ``says`` may have alternatives (``one|other``). ``lacks`` are tables that need not equal the service;
    ``settings`` are those of the installation. ``has_other_data``: its shipments differ from those of other cases.
    """

    name: str
    deviate: Deviate
    ends: int = 0
    says: tuple[str, ...] = ()
    lacks: Collection[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    has_other_data: bool = False


def pages(edit: Callable[[Page], object]) -> Deviate:
    """Each page of shipments is changed before it is sent."""

    def edited(envelope: Page) -> Page:
        edit(envelope)
        return envelope

    return lambda sandbox: setattr(sandbox, "rewrite", edited)


def each_shipment(edit: Callable[[Page], object]) -> Deviate:
    """Each shipment is changed before it is sent."""
    return pages(lambda page: [edit(one) for one in page["collection"]])


def each_value(edit: Callable[[str, object], object]) -> Deviate:
    """Each value of a shipment and of what is included is changed before it is sent, but for free-form ones."""

    def walk(one: object) -> None:
        if isinstance(one, dict):
            for key in one.keys() - FREE_FORM:
                one[key] = edit(key, one[key])
                walk(one[key])
        elif isinstance(one, list):
            for each in one:
                walk(each)

    return pages(walk)


def day_zero(key: str, value: object) -> object:
    if value is not None:
        return value
    return "0000-00-00 00:00:00" if key.endswith("_at") else "0000-00-00" if key.endswith("_date") else None


def answers(answer: Callable[[Request], Response | None]) -> Deviate:
    """Some requests are answered otherwise."""
    return lambda sandbox: setattr(sandbox, "intercept", answer)


def dates(redate: Callable[[datetime], datetime | None]) -> Deviate:
    """Each answer has another Date than it should."""
    return lambda sandbox: setattr(sandbox, "redate", redate)


def without(key: str) -> Callable[[Page], object]:
    return lambda one: one.pop(key, None)


def by_id(page: Page) -> None:
    page["included"] = {kind: {str(one["id"]): one for one in objects} for kind, objects in page["included"].items()}


def as_text(one: Page) -> None:
    one["id"] = str(one["id"])


def in_turn(*edits: Callable[[Page], object]) -> Deviate:
    """Each page of several shipments is changed by the next of these: the client reads each page for itself."""
    turns = cycle(edits)
    return pages(lambda page: next(turns)(page) if len(page["collection"]) > 1 else None)


def following(shape: Callable[[str], str | None]) -> Callable[[Page], object]:
    """``next`` is written in another way."""
    return lambda page: page.update(next=shape(page["next"])) if page["next"] else None


def takes_no_more_than(largest: int) -> Deviate:
    def refuse(request: Request) -> Response | None:
        too_large = int(request.query_params.get("limit", "1")) > largest
        return bad_parameters(ParameterError("limit", "Too large.")) if too_large else None

    return answers(refuse)


def limits_in_silence(largest: int) -> Deviate:
    told = {"errors": [{"type": "parameters", "message": "The supplied parameters are invalid."}]}
    return answers(
        lambda request: JSONResponse(told, 400) if int(request.query_params.get("limit", "1")) > largest else None
    )


def loosely_written(one: Page) -> None:
    if one.get("item_weight"):
        one["item_weight"] = one["item_weight"]["value"]
    if one.get("target_ship_date"):
        one["target_ship_date"] = f"{one['target_ship_date']}T09:00:00Z"


def forbids(name: str) -> Deviate:
    """Whoever asks for it is told that he may not."""
    told = {"errors": [{"type": "acl", "message": "Access denied."}]}
    return answers(lambda request: JSONResponse(told, 403) if name in request.query_params else None)


def treats(treatment: FieldTreatment) -> Deviate:
    """Field selection is treated so."""
    return lambda sandbox: setattr(sandbox, "field_treatment", treatment)


def bare(sandbox: Sandbox) -> None:
    """What nothing depends on is left out."""
    pages(lambda page: (page.pop("previous", None), page["meta"].pop("processing_time")))(sandbox)
    answers(lambda request: Response("", 404) if request.url.path == STATUS else None)(sandbox)


def undated(share: int) -> Deviate:
    """Of each ``share`` shipments the first has no updated_at yet."""
    return lambda sandbox: sandbox._store.updated.__setitem__(slice(None, None, share), NO_TIME)


def asks_for_undated(request: Request) -> bool:
    return UNDATED in request.query_params.getlist("filter")


def refuses_null(sandbox: Sandbox) -> None:
    """The filter for a null updated_at is refused."""
    undated(4)(sandbox)
    refusal = bad_parameters(ParameterError("filter.updated_at.null", "Unknown operator."))
    answers(lambda request: refusal if asks_for_undated(request) else None)(sandbox)


def finds_no_null(sandbox: Sandbox) -> None:
    """Nothing matches the filter for a null updated_at."""
    undated(4)(sandbox)
    nothing = {"collection": [], "included": {}, "has_more": False, "next": None, "meta": {"count": 0}}
    answers(lambda request: JSONResponse(nothing) if asks_for_undated(request) else None)(sandbox)


def ends_lists_at(most: int) -> Deviate:
    return lambda sandbox: setattr(sandbox, "most_matches", most)


def stub_each(share: int, **says: object) -> Deviate:
    """Of each ``share`` shipments the first is a stub, by its id, so that each request gets the same."""
    bare = ("type", "id", "updated_at")

    def edit(one: Page) -> None:
        if one["id"] % share == 0:
            kept = {key: one[key] for key in bare}
            one.clear()
            one.update(kept, **says)

    return each_shipment(edit)


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if one is not None}
        return {key: one if key in FREE_FORM else without_nulls(one) for key, one in kept.items()}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


PUT_ASIDE = "did not fit and are left out"
STUBBED = tuple(one.slug for one in tables() if one.root in {"shipments", "galleries"})
EVERYTHING_INCLUDED = tuple(one.slug for one in tables() if one.schema == "main" and one.slug != "shipments")
DEVIATIONS = [
    Deviation(
        "next is an address of another scheme, of another host, has no leading slash, or only meta has the cursor",
        in_turn(
            following(lambda path: f"https://127.0.0.1{path}"),
            following(lambda path: f"http://wms.internal:8080{path}"),
            following(lambda path: path.removeprefix("/api/global/")),
            without("next"),
        ),
        settings={"page_size": 10},
    ),
    Deviation(
        "a limit is refused that the specification allows", takes_no_more_than(8), ends=3, says=("Set WMS_PAGE_SIZE=5",)
    ),
    Deviation("a limit is refused without a word of it", limits_in_silence(8), ends=3, says=("Set WMS_PAGE_SIZE=5",)),
    Deviation(
        "flags are text",
        each_value(lambda _, value: str(int(value)) if isinstance(value, bool) else value),
        lacks=("products",),
    ),
    Deviation("days that are null are MySQL's day zero", each_value(day_zero)),
    Deviation("has_more is left out", pages(without("has_more"))),
    Deviation(
        "has_more is false although next leads on, and nothing is counted",
        pages(lambda page: (page.update(has_more=False), page["meta"].pop("count", None))),
        ends=3,
        says=("no counts",),
    ),
    Deviation("has_more is null at the end", pages(lambda page: page.update(has_more=page["has_more"] or None))),
    Deviation("has_more is a number", pages(lambda page: page.update(has_more=int(page["has_more"])))),
    Deviation("nothing is counted", pages(lambda page: page["meta"].pop("count", None)), ends=3, says=("no counts",)),
    Deviation(
        "counts are beyond 64 bits",
        pages(lambda page: page["meta"].update(count=10**30) if "count" in page["meta"] else None),
        ends=3,
        says=("no counts",),
    ),
    Deviation("there is no meta", pages(without("meta")), ends=3, says=("no counts",)),
    Deviation(
        "an empty collection is null",
        pages(lambda page: page.update(collection=page["collection"] or None)),
        settings={"start_date": date(2026, 2, 1)},
    ),
    Deviation(
        "the lists under included are objects by id, as PHP writes them",
        pages(by_id),
        ends=3,
        says=("keys whose values were cast",),
    ),
    Deviation("ids are text", each_shipment(as_text)),
    Deviation(
        "a page has more keys than the envelope of 2.6", pages(lambda page: page.update(links={}, total=3)), ends=3
    ),
    Deviation("there is no previous, no processing time and no system status", bare),
    Deviation(
        "an unknown key in each shipment",
        each_shipment(lambda one: one.update(gift_wrap=True)),
        ends=3,
        says=("Shipment.gift_wrap|unknown keys",),
    ),
    Deviation(
        "a status that nobody has seen",
        each_shipment(lambda one: one.update(status="teleported")),
        lacks=("shipments",),
    ),
    Deviation("answers have no Date", dates(lambda _: None), says=("no Date",)),
    Deviation(
        "the clock is a day ahead",
        dates(lambda right: datetime.now(UTC) + timedelta(days=1)),
        ends=3,
        says=("WMS_CLOCK_TOLERANCE_SECONDS",),
    ),
    Deviation(
        "a time names its zone, in one shipment of a page",
        pages(lambda page: [one.update(packed_at="2026-01-01T00:00:00 EST") for one in page["collection"][:1]]),
        ends=3,
        says=("values or records did not fit and are left out",),
        lacks=("shipments",),
    ),
    Deviation(
        "weights are bare numbers and dates have a time",
        each_shipment(loosely_written),
        ends=3,
        says=("keys whose values were cast",),
        lacks=("shipments",),
    ),
]


DEVIATIONS += [
    Deviation("updated_at is null until the first change", undated(4), has_other_data=True),
    Deviation("updated_at is null in every shipment", undated(1), has_other_data=True),
    Deviation(
        "updated_at is null until the first change, and the filter for it is refused",
        refuses_null,
        ends=3,
        says=("15 shipments match no filter on updated_at",),
        has_other_data=True,
    ),
    Deviation(
        "updated_at is null until the first change, and the filter for it finds nothing",
        finds_no_null,
        ends=3,
        says=("15 shipments match no filter on updated_at",),
        has_other_data=True,
    ),
    Deviation("lists and counts end at 20 in silence, as long as a page", ends_lists_at(20)),
    Deviation("lists and counts end at 13 in silence, within a page", ends_lists_at(13)),
    Deviation("lists and counts end at 45 in silence, within the third page", ends_lists_at(45)),
    Deviation("lists and counts end at 1 in silence", ends_lists_at(1)),
    Deviation("the filter compares minutes", treats(MINUTES), says=("Each window is read 2 minutes wider",)),
    Deviation("the filter compares dates", treats(DATES), says=("Each window is read 2 days wider",)),
    Deviation("the filter reads times in another zone", treats(Compares(later=-7 * HOUR)), says=("in another zone",)),
    Deviation("an empty list is answered with 404", lambda sandbox: setattr(sandbox, "status_of_empty_list", 404)),
    Deviation("an empty list is answered with 204", lambda sandbox: setattr(sandbox, "status_of_empty_list", 204)),
    Deviation(
        "names of field selection are refused",
        treats(FieldTreatment(frozenset({"fields:packages.gallery.items", "fields:order=carrier"}))),
        ends=3,
        says=("refuses fields:packages.gallery.items", "carrier of orders", "check     warn: The service refuses"),
        lacks=("gallery_items", "orders"),
    ),
    Deviation(
        "a name of field selection is refused without saying which",
        treats(FieldTreatment(frozenset({"fields:order.tpb_group"}), told="nothing")),
        ends=3,
        says=("refuses fields:order.tpb_group",),
        lacks=("third_party_billing_groups",),
    ),
    Deviation(
        "a name of field selection is forbidden",
        forbids("fields:order.tpb_group"),
        ends=3,
        says=("refuses fields:order.tpb_group (403",),
        lacks=("third_party_billing_groups",),
    ),
    Deviation(
        "a firewall blocks a name of field selection",
        answers(
            lambda request: (
                Response("<html>Blocked</html>", 403) if "fields:order.tpb_group" in request.query_params else None
            )
        ),
        ends=3,
        says=("refuses fields:order.tpb_group", "It says: Blocked."),
        lacks=("third_party_billing_groups",),
    ),
    Deviation(
        "field selection is ignored",
        treats(FieldTreatment(ignored=True)),
        ends=3,
        says=("objects of kind Order", "objects of kind Warehouse", "check     warn: Most objects of"),
        lacks=EVERYTHING_INCLUDED,
    ),
    Deviation(
        "included is absent",
        treats(FieldTreatment(drops_included=True)),
        ends=3,
        says=("objects of kind Order", "fields:retailer was asked for"),
        lacks=EVERYTHING_INCLUDED,
    ),
]


DEVIATIONS += [
    Deviation(
        "deleted shipments are stubs that say so",
        stub_each(5, is_deleted=True, deleted_at="2026-03-01T00:00:00Z"),
        ends=3,
        says=(PUT_ASIDE,),
        lacks=STUBBED,
    ),
    Deviation(
        "deleted shipments are stubs without a word, among full records",
        stub_each(5),
        ends=3,
        says=(PUT_ASIDE,),
        lacks=STUBBED,
    ),
    Deviation("a deleted shipment is all that a page has", stub_each(1), ends=3, says=(PUT_ASIDE,), lacks=STUBBED),
    Deviation(
        "keys that are null are left out",
        pages(lambda page: page.update({part: without_nulls(page[part]) for part in ("collection", "included")})),
        lacks=("products",),  # their options are kept as they came
    ),
]


@pytest.fixture(scope="module")
def expected() -> Tables:
    """What the tables hold of a service as the specification has it."""
    return expected_tables(InProcess(Sandbox(FEW)))


@pytest.mark.parametrize("case", DEVIATIONS, ids=lambda case: case.name)
def test_a_sync_goes_on_and_says_what_it_could_not_have(case, in_process, settings_for, bench, expected, capsys):
    in_process.sandbox = Sandbox(FEW)
    case.deviate(in_process.sandbox)
    bench.settings = settings_for(in_process, **{"page_size": PAGE_SIZE, "audit_pages": 0, **case.settings})
    read, refreshed = synced(bench)
    assert report(RunReport("test", read, refreshed)) == case.ends
    told = [*capsys.readouterr().out.splitlines(), *status(bench.settings, bench.store).needs_a_hand]
    assert [says for says in case.says if not any(part in line for part in says.split("|") for line in told)] == []
    if case.has_other_data:
        in_process.sandbox.intercept = None
        expected = expected_tables(in_process)
    assert [one for one in found(bench, expected) if one.split()[0].strip(":") not in case.lacks] == []


def found(bench: Bench, expected: Tables) -> list[str]:
    with duckdb.connect(bench.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return differences(connection, expected)
