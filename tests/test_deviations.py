"""Services that are a little different where the specification leaves room, a line each.

A sync goes on, and says what it could not have. There are two kinds of lines, by what it takes to prove them:

- ``READ``: nothing but reading has to do with it. Each shipment and each related object lands as the service has it.
- ``FORMS``: content comes in another form. One sync reads all of them, a page each, and every table equals the service.

What an operator is told is looked for in what the command prints and in ``status``. What may break a transport is in
``test_transport.py``, content that does not fit in ``test_content.py``; lists and counts that end early are in
``shipments/read/test_rest.py``, empty lists in ``shipments/read/test_listing.py``, shipments without a date in
``shipments/read/test_undated.py``.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import cycle
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import CONFIG, Bench, ending, needs, opened_store, settings_in
from tests.landed import assert_landed, landed_contents, landed_ids
from tests.oracle import AS_JSON, differences, expected_tables
from tests.shipments.read.test_listing import DATES, HOUR, MINUTES, Compares
from tests.test_sync import published, synced
from wms_sandbox.app import STATUS, Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import tables

FEW = replace(CONFIG, shipments=30, families=20)
FREE_FORM = {"custom_fields", *AS_JSON}

Page = dict[str, Any]
Edit = Callable[[Page], object]
"""Is given a page, or a shipment of one, and changes it."""
Deviate = Callable[[Sandbox], object]
"""Teaches the service."""


@dataclass(frozen=True)
class Deviation:
    """``ends`` is the exit code, ``says`` what stands in the output or the status.

    ``omits`` is the name that cannot be asked for; ``settings`` are those of the installation.
    """

    name: str
    deviate: Deviate
    ends: int = 0
    says: tuple[str, ...] = ()
    omits: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """What comes otherwise on a page, ``edit``; what stands of it in quarantine, and which keys are listed as drift.

    ``lacks`` are columns of tables that need not equal the service in what the page shows.
    """

    name: str
    edit: Edit
    quarantined: Collection[str] = ()
    drift: Callable[[Page], Collection[str]] = lambda page: ()
    lacks: Collection[str] = ()


def pages(edit: Edit) -> Deviate:
    """Each page of shipments is changed before it is sent."""

    def edited(envelope: Page) -> Page:
        edit(envelope)
        return envelope

    return lambda sandbox: setattr(sandbox, "rewrite", edited)


def each_shipment(edit: Edit) -> Edit:
    """Each shipment of a page is changed."""
    return lambda page: [edit(shipment) for shipment in page["collection"]]


def first_shipment(edit: Edit) -> Edit:
    """The first shipment of a page is changed."""
    return lambda page: edit(page["collection"][0])


def each_value(edit: Callable[[str, object], object]) -> Edit:
    """Each value of a page is changed, but for free-form ones."""

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key in value.keys() - FREE_FORM:
                value[key] = edit(key, value[key])
                walk(value[key])
        elif isinstance(value, list):
            for element in value:
                walk(element)

    return walk


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


def without(key: str) -> Edit:
    return lambda page: page.pop(key, None)


def by_id(page: Page) -> None:
    page["included"] = {kind: {str(one["id"]): one for one in objects} for kind, objects in page["included"].items()}


def by_kind(page: Page) -> list[str]:
    return [f"included.{kind}" for kind, objects in page["included"].items() if objects]


def keys(*names: str) -> Callable[[Page], Collection[str]]:
    return lambda page: names


def in_turn(*edits: Edit) -> Deviate:
    """Each page of several shipments is changed by the next of these: the client reads each page for itself."""
    turns = cycle(edits)
    return pages(lambda page: next(turns)(page) if len(page["collection"]) > 1 else None)


def following(shape: Callable[[str], str | None]) -> Edit:
    """``next`` is written in another way."""
    return lambda page: page.update(next=shape(page["next"])) if page["next"] else None


IN_SILENCE = {"errors": [{"type": "parameters", "message": "The supplied parameters are invalid."}]}


def takes_no_more_than(largest: int, refusal: Callable[[], Response]) -> Deviate:
    return answers(lambda request: refusal() if int(request.query_params.get("limit", "1")) > largest else None)


def forbids(name: str, answer: Callable[[], Response]) -> Deviate:
    """Whoever asks for it gets this answer."""
    return answers(lambda request: answer() if name in request.query_params else None)


def denied() -> Response:
    return JSONResponse({"errors": [{"type": "acl", "message": "Access denied."}]}, 403)


def treats(treatment: FieldTreatment) -> Deviate:
    """Field selection is treated so."""
    return lambda sandbox: setattr(sandbox, "field_treatment", treatment)


def bare(sandbox: Sandbox) -> None:
    """What nothing depends on is left out."""
    pages(lambda page: (page.pop("previous", None), page["meta"].pop("processing_time")))(sandbox)
    answers(lambda request: Response("", 404) if request.url.path == STATUS else None)(sandbox)


def loosely_written(shipment: Page) -> None:
    if shipment.get("item_weight"):
        shipment["item_weight"] = shipment["item_weight"]["value"]
    if shipment.get("target_ship_date"):
        shipment["target_ship_date"] = f"{shipment['target_ship_date']}T09:00:00Z"


def stub(**says: object) -> Edit:
    """Of a shipment only what names it is left, and what it says."""

    def edit(shipment: Page) -> None:
        kept = {key: shipment[key] for key in ("type", "id", "updated_at")}
        shipment.clear()
        shipment.update(kept, **says)

    return edit


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if one is not None}
        return {key: one if key in FREE_FORM else without_nulls(one) for key, one in kept.items()}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


BILLING_GROUP = "fields:order.tpb_group"
READ = [
    Deviation(
        "next is an address of another scheme, of another host, has no leading slash, or only meta has the cursor",
        in_turn(
            following(lambda path: f"https://127.0.0.1{path}"),
            following(lambda path: f"http://wms.internal:8080{path}"),
            following(lambda path: path.removeprefix("/api/global/")),
            without("next"),
        ),
        settings={"page_size": 5},
    ),
    Deviation(
        "a limit is refused that the specification allows",
        takes_no_more_than(8, lambda: bad_parameters(ParameterError("limit", "Too large."))),
        ends=3,
        says=("Set WMS_PAGE_SIZE=5",),
    ),
    Deviation(
        "a limit is refused without a word of it",
        takes_no_more_than(8, lambda: JSONResponse(IN_SILENCE, 400)),
        ends=3,
        says=("Set WMS_PAGE_SIZE=5",),
    ),
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
    Deviation("there is no previous, no processing time and no system status", bare),
    Deviation("answers have no Date", dates(lambda _: None), says=("no Date",)),
    Deviation(
        "the clock is a day ahead",
        dates(lambda right: datetime.now(UTC) + timedelta(days=1)),
        ends=3,
        says=("WMS_CLOCK_TOLERANCE_SECONDS",),
    ),
    Deviation("the filter compares minutes", treats(MINUTES), says=("Each window is read 2 minutes wider",)),
    Deviation("the filter compares dates", treats(DATES), says=("Each window is read 2 days wider",)),
    Deviation("the filter reads times in another zone", treats(Compares(later=-7 * HOUR)), says=("in another zone",)),
    Deviation(
        "a name of field selection is refused without saying which",
        treats(FieldTreatment(frozenset({BILLING_GROUP}), told="nothing")),
        ends=3,
        says=(f"refuses {BILLING_GROUP}",),
        omits=BILLING_GROUP,
    ),
    Deviation(
        "a name of field selection is forbidden",
        forbids(BILLING_GROUP, denied),
        ends=3,
        says=(f"refuses {BILLING_GROUP} (403",),
        omits=BILLING_GROUP,
    ),
    Deviation(
        "a firewall blocks a name of field selection",
        forbids(BILLING_GROUP, lambda: Response("<html>Blocked</html>", 403)),
        ends=3,
        says=(f"refuses {BILLING_GROUP}", "It says: Blocked."),
        omits=BILLING_GROUP,
    ),
]
ABSENT = tuple(f"{table.slug} not" for table in tables() if table.root in {"shipments", "galleries"})
"""Their rows are not in the database."""
FORMS = [
    Form(
        "flags are text",
        each_value(lambda _, value: str(int(value)) if isinstance(value, bool) else value),
        lacks=("products options",),  # they are kept as they came
    ),
    Form("days that are null are MySQL's day zero", each_value(day_zero)),
    Form("the lists under included are objects by id, as PHP writes them", by_id, drift=by_kind),
    Form("ids are text", each_shipment(lambda shipment: shipment.update(id=str(shipment["id"])))),
    Form(
        "a page has more keys than the envelope of 2.6",
        lambda page: page.update(links={}, total=3),
        drift=keys("Page.links", "Page.total"),
    ),
    Form(
        "an unknown key in each shipment",
        each_shipment(lambda shipment: shipment.update(gift_wrap=True)),
        drift=keys("Shipment.gift_wrap"),
    ),
    Form(
        "a status that nobody has seen",
        each_shipment(lambda shipment: shipment.update(status="teleported")),
        lacks=("shipments status",),
    ),
    Form(
        "a time names its zone, in one shipment of a page",
        first_shipment(lambda shipment: shipment.update(packed_at="2026-01-01T00:00:00 EST")),
        quarantined=("$.collection[0].packed_at",),
        lacks=("shipments packed_at",),
    ),
    Form(
        "weights are bare numbers and dates have a time",
        each_shipment(loosely_written),
        drift=keys("Shipment.item_weight", "Shipment.target_ship_date"),
        lacks=("shipments item_weight", "shipments item_weight_unit"),
    ),
    Form(
        "a deleted shipment is a stub that says so",
        first_shipment(stub(is_deleted=True, deleted_at="2026-03-01T00:00:00Z")),
        quarantined=("$.collection[0]",),
        lacks=ABSENT,
    ),
    Form(
        "a deleted shipment is a stub without a word, among full records",
        first_shipment(stub()),
        quarantined=("$.collection[0]",),
        lacks=ABSENT,
    ),
    Form(
        "stubs without a word are all that a page has",
        each_shipment(stub()),
        quarantined=tuple(f"$.collection[{number}]" for number in range(5)),
        lacks=ABSENT,
    ),
    Form(
        "keys that are null are left out",
        lambda page: page.update({part: without_nulls(page[part]) for part in ("collection", "included")}),
        lacks=("products options",),  # they are kept as they came
    ),
]


@pytest.fixture
def bench(bench, in_process, settings_for):
    in_process.sandbox = Sandbox(FEW)
    bench.settings = settings_for(in_process, page_size=10, audit_pages=0)
    return bench


def said(bench: Bench, capsys: pytest.CaptureFixture[str]) -> str:
    return "\n".join([capsys.readouterr().out, *bench.needs])


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_a_read_lands_everything_and_says_what_lacks(case, in_process, bench, capsys):
    case.deviate(in_process.sandbox)
    bench.settings = bench.settings.model_copy(update=case.settings)
    assert ending(bench.settings, bench.read()) == case.ends
    told = said(bench, capsys)
    assert [text for text in case.says if text not in told] == []
    assert {tuple(window.omitted) for window in bench.store.windows()} == {(case.omits,) if case.omits else ()}
    if case.omits:
        assert len(landed_ids(bench)) == len(set(landed_ids(bench))) == FEW.shipments
    else:
        assert_landed(bench, InProcess(Sandbox(FEW)))


def test_a_sync_says_what_lacks(in_process, bench, capsys):
    """And every table that is not named equals the service."""
    refused = frozenset({"fields:packages.gallery.items", "fields:order=carrier"})
    in_process.sandbox.field_treatment = FieldTreatment(refused)
    assert ending(bench.settings, *synced(bench)) == 3
    in_process.sandbox.field_treatment = FieldTreatment()
    told = said(bench, capsys)
    for text in ("refuses fields:packages.gallery.items", "carrier of orders", "The service refuses fields:order"):
        assert text in told
    with published(bench) as connection:
        found = differences(connection, expected_tables(in_process))
    assert [line for line in found if line.split()[0].strip(":") not in {"gallery_items", "orders"}] == []


DIFFERENCE = re.compile(r"(\w+) \((\d+)[^)]*\):? ?(\w*)")
"""Table, first part of the key and column of what ``differences`` finds."""


@dataclass(frozen=True)
class Loaded:
    """What one sync of every form left behind."""

    shown: Mapping[str, Collection[int]]
    """All ids that stand on the page of a form."""
    drift: Mapping[str, Collection[str]]
    """The keys that must be listed for it."""
    found: Mapping[str, Mapping[str, Collection[str]]]
    """The paths that a table of findings has for it."""
    differing: Collection[str]
    """What differs from the service and is lacking in no form."""
    lines: Collection[str]
    """What is open."""
    ends: int
    """Its exit code."""


class Service(InProcess):
    """A sandbox with a page for each form, which bears its number, and some that are as they should be."""

    SIZE = 5

    def __init__(self) -> None:
        super().__init__(Sandbox(replace(FEW, shipments=self.SIZE * (len(FORMS) + 5))))
        self._numbers: dict[int, int] = {}
        self.sandbox.rewrite = self._formed

    def _formed(self, page: Page) -> Page:
        ids = [shipment["id"] for shipment in page["collection"]]
        if len(ids) == self.SIZE:
            self._numbers.setdefault(ids[0], len(self._numbers))
        number = self._numbers.get(ids[0]) if ids else None
        if number is not None and number < len(FORMS):
            FORMS[number].edit(page)
            page["meta"]["form"] = number
        return page


def ids_in(value: object) -> Iterator[int]:
    if isinstance(value, dict):
        if isinstance(value.get("id"), int | str):
            yield int(value["id"])
        value = [*value.values()]
    for element in value if isinstance(value, list) else ():
        yield from ids_in(element)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    service = Service()
    only: dict[str, object] = {"page_size": Service.SIZE, "max_parallel_requests": 1, "audit_pages": 0}
    settings = settings_in(tmp_path_factory.mktemp("forms"), service, **only)
    with closing(opened_store(settings)) as store:
        bench = Bench(settings, store, service)
        read, refreshed = synced(bench)
        landed = {place: json.loads(content) for place, content in landed_contents(bench)}
    service.sandbox.rewrite = None
    formed = {place: (FORMS[page["meta"]["form"]], page) for place, page in landed.items() if "form" in page["meta"]}
    found: dict[str, dict[str, set[str]]] = {form.name: defaultdict(set) for form in FORMS}
    with published(bench) as connection:
        for table in ("ops.quarantine", "ops.schema_drift"):
            for window, page, path in connection.execute(f"select _window_id, _page, path from {table}").fetchall():
                found[formed[window, page][0].name][table].add(path)
        differing = differences(connection, expected_tables(service))
    shown = {form.name: set(ids_in(page)) for form, page in formed.values()}
    excused = {(name, id_) for form in FORMS for name in form.lacks for id_ in shown[form.name]}
    return Loaded(
        shown,
        {form.name: set(form.drift(page)) for form, page in formed.values()},
        found,
        [line for line in differing if excused.isdisjoint(named(line))],
        needs(settings),
        ending(settings, read, refreshed),
    )


def named(line: str) -> set[tuple[str, int]]:
    """The table with the column and the id that a difference is of."""
    return {(f"{found[1]} {found[3]}", int(found[2])) for found in DIFFERENCE.finditer(line)}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_in_whatever_form_tables_equal_the_service(form, loaded):
    assert [line for line in loaded.differing if {id_ for _, id_ in named(line)} & loaded.shown[form.name]] == []
    assert loaded.found[form.name]["ops.quarantine"] == set(form.quarantined)
    assert loaded.found[form.name]["ops.schema_drift"] == loaded.drift[form.name]


def test_nothing_else_differs_and_casts_are_reported(loaded):
    assert loaded.differing == []
    assert loaded.ends == 3
    told = "\n".join(loaded.lines)
    assert "keys whose values were cast" in told
    assert "values or records did not fit and are left out" in told
    assert "Shipment.gift_wrap" in told
