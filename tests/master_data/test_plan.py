"""Plans: what each row would become, made without any side effect, and said in the words that a push uses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import duckdb
import pytest
from msgspec import structs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import CONFIG, queried
from tests.master_data.conftest import MERCHANT
from wms_sandbox.app import Sandbox
from wms_sandbox.identities import retailer_code, retailer_id
from wms_sync.cli.views import plan_lines
from wms_sync.master_data.create import Outcome
from wms_sync.master_data.existing import KEYS_WITHOUT_PAGES
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import LOCATION_TAGS, RETAILERS
from wms_sync.master_data.plan import Action
from wms_sync.master_data.products import PRODUCTS
from wms_sync.master_data.records import Record, Reference, body, changes, content, digest
from wms_sync.state.ledger import Entry, State

TAGS = LOCATION_TAGS
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LENIENT = replace(CONFIG, takes_any_body=True)
"""A service that takes what the specification does not mention."""


def entry(desk, key: str, state: State, **values) -> Entry:
    text = json.dumps({"code": key, "name": key}, separators=(",", ":"))
    whole = Entry(
        service=desk.server.base_url,
        kind="retailers",
        key=key,
        state=state,
        body=text,
        body_sha256=digest(text),
        remote_id=None,
        run_id="before",
        attempts=1,
        message=None,
        intended_at=MOMENT,
        settled_at=None,
        seen_at=None,
    )
    return structs.replace(whole, **values)


def test_a_plan_says_what_each_row_becomes(desk):
    """With all reasons of rows that break rules. It sends and writes nothing."""
    plan = desk.plan(TAGS, desk.file("name,color,sort_order", "a,red1,1", "b,pink,1.5"))
    good, bad = plan.rows()
    assert good == {"line": 2, "key": "a", "action": "create", "why": ""}
    assert bad == {"line": 3, "key": "", "action": "rejected", "why": bad["why"]}
    assert re.match("color: .*sort_order: ", bad["why"])
    assert plan.summary == "2 rows of given.csv as location tags: 1 create, 1 rejected"
    assert (plan.sends, plan.exit_code) == (1, 3)
    assert desk.plan(RETAILERS, desk.file("code,name", "a,A")).exit_code == 0
    assert desk.plan(TAGS, desk.file("name,farbe", "a,red1")).exit_code == 2
    assert not desk.server.sandbox.requests
    assert desk.entries() == {}
    assert not (desk.settings.data_dir / "rejects").exists()


KNOWN: dict[Kind, dict[State, tuple[Action, bool, bool]]] = {
    # of an entry of the ledger: what a row like it becomes, whether it is sent, and whether with --resend
    RETAILERS: {
        State.CREATED: (Action.ALREADY_THERE, False, True),
        State.EXISTS: (Action.ALREADY_THERE, False, True),
        State.REFUSED: (Action.CREATE, True, True),
        State.UNDONE: (Action.CREATE, True, True),
        State.DOUBT: (Action.IN_DOUBT, True, True),
        State.INTENDED: (Action.IN_DOUBT, True, True),
    },
    PRODUCTS: {
        State.CREATED: (Action.CHANGED, False, False),
        State.DOUBT: (Action.IN_DOUBT, False, True),
        State.INTENDED: (Action.IN_DOUBT, False, True),
    },
}


@pytest.mark.parametrize("kind", KNOWN, ids=str)
def test_what_the_ledger_says_decides(desk, kind):
    known = {state.value: outcome for state, outcome in KNOWN[kind].items()}
    desk.record(*(entry(desk, state.value, state, kind=str(kind)) for state in KNOWN[kind]))
    path = desk.file(f"{kind.key},name", *(f"{key},{key}" for key in known))
    steps = desk.plan(kind, path).steps
    resent = {step.key: step.sends for step in desk.plan(kind, path, resend=True).steps}
    assert {step.key: (step.action, step.sends, resent[step.key]) for step in steps} == known
    assert kind is RETAILERS or "2026-03-01 12:00 UTC" in next(step.why for step in steps if step.key == "doubt")


def test_what_is_named_by_its_id_never_waits(desk):
    path = desk.file("code,name,parent_retailer_code,parent_retailer_id", "a,A,,101", "b,B,a,", "c,C,a,101")
    plan = desk.plan(RETAILERS, path)
    assert {step.key: step.action for step in plan.steps} == {
        "a": Action.CREATE,
        "b": Action.CREATE,
        "": Action.REJECTED,
    }
    assert "Fills the same field as parent_retailer_code; leave one of them empty." in plan.rows()[2]["why"]
    desk.push(RETAILERS, path)
    a, b = desk.server.sandbox.retailers()
    assert [one["parent_retailer"]["id"] for one in (a, b)] == [101, a["id"]]
    assert json.loads(desk.entries()["a"].body)["parent_retailer"] == {"type": "Retailer", "id": 101}
    assert desk.plan(RETAILERS, path).counts == {Action.ALREADY_THERE: 2, Action.REJECTED: 1}


def test_an_id_is_no_key_of_equal_digits(desk):
    """Neither a code in the same file nor a natural key in the same row."""
    path = desk.file("code,name,parent_retailer_id", "101,A,", "b,B,101", "104,C,104")
    assert desk.push(RETAILERS, path).counts == {Outcome.CREATED: 3}
    names = {one["name"]: one for one in desk.server.sandbox.retailers()}
    assert [names[name]["parent_retailer"]["id"] for name in "BC"] == [101, 104]
    lines = (
        "type,sku,name,container_options.associated_product_skus,container_options.allow_for_brand_ids",
        "Product,12,Twelve,,",
        "PackagingContainer,BOX,Box,12|INSERT,12",
        "PackagingInfill,INSERT,Insert,,",
    )
    assert desk.push(PRODUCTS, desk.file(*lines)).counts == {Outcome.CREATED: 3}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    assert made["BOX"]["container_options"] == {
        "associated_products": [
            {"type": "Product", "id": made["12"]["id"]},
            {"type": "PackagingInfill", "id": made["INSERT"]["id"]},
        ],
        "allow_for_brands": [{"type": "Merchant", "id": 12}],
    }


CHILD = "code,name,parent_retailer_code"
BOX = "type,sku,name,container_options.allow_for_warehouses"
UNNAMED = [
    # a row that names another object by a key, what becomes of it, and which column takes the object's id
    (RETAILERS, (CHILD, "a,A,nobody"), Action.REJECTED, "If you know its id there, use parent_retailer_id."),
    (RETAILERS, (CHILD, "a,A,p"), Action.WAITS, "If you know the id, use parent_retailer_id."),
    (
        PRODUCTS,
        (BOX, "PackagingContainer,a,A,nowhere"),
        Action.REJECTED,
        "If you know its id there, use container_options.allow_for_warehouse_ids.",
    ),
]


@pytest.mark.parametrize(("kind", "lines", "action", "says"), UNNAMED)
def test_a_plan_says_how_to_name_the_unknown(desk, kind, lines, action, says):
    """And that of a parent that was created, and whose id no answer brought."""
    desk.record(entry(desk, "p", State.CREATED))
    [step] = desk.plan(kind, desk.file(*lines)).steps
    assert (step.action, step.sends) == (action, False)
    assert step.why.endswith(says)
    assert ("wms-sync sync" in step.why) == (action is Action.REJECTED)


def test_what_shipments_have_shown_is_known(desk, shown):
    """It settles a doubt; and an archived parent is refused before it is sent."""
    [(archived,)] = queried(desk.sync_has_shown(shown), "select min(code) from retailers where status = 'archived'")
    code = retailer_code(0)
    desk.record(entry(desk, code, State.DOUBT), entry(desk, "b", State.DOUBT))
    path = desk.file("code,name", f"{code},{code}")
    assert desk.plan(RETAILERS, path).counts == {Action.ALREADY_THERE: 1}
    assert desk.entries()[code].state is State.DOUBT, "a plan writes nothing"
    assert desk.push(RETAILERS, path).applied.requests == 0
    known = {key: (entry.state, entry.remote_id) for key, entry in desk.entries().items()}
    assert known == {code: (State.CREATED, retailer_id(0)), "b": (State.DOUBT, None)}
    below = desk.file(CHILD, f"a,A,{code}", f"c,C,{archived}")
    steps = {step.key: step for step in desk.plan(RETAILERS, below).steps}
    assert (steps["c"].action, "archived" in steps["c"].why) == (Action.REJECTED, True)
    desk.push(RETAILERS, below)
    [made] = desk.server.sandbox.retailers()
    assert made["parent_retailer"] == {"type": "Retailer", "id": retailer_id(0)}


def test_what_the_service_has_otherwise_is_there(desk, shown):
    """And not compared with what was not created from here."""
    desk.sync_has_shown(shown)
    numbers = {retailer_code(number): number for number in range(3)}
    states = zip(numbers, (State.REFUSED, State.UNDONE, State.EXISTS), strict=True)
    desk.record(*(entry(desk, code, state) for code, state in states))
    path = desk.file("code,name", *(f"{code},Another" for code in numbers))
    assert desk.plan(RETAILERS, path).counts == {Action.ALREADY_THERE: 3}
    desk.push(RETAILERS, path)
    assert {code: (entry.state, entry.remote_id) for code, entry in desk.entries().items()} == {
        code: (State.EXISTS, retailer_id(number)) for code, number in numbers.items()
    }


def test_which_product_a_sku_names(desk, shown):
    """Of two merchants neither; else the one that was created from here or stands in the same file."""
    made(desk, shown, {"OURS": [MOMENT, MOMENT]})
    header = "type,sku,name,container_options.associated_product_skus"
    box = desk.file(header, "PackagingContainer,BOX,Box,OURS")
    [step] = desk.plan(PRODUCTS, box).steps
    assert step.action is Action.REJECTED
    assert re.search("has several.* of merchant m.* of merchant m", step.why)
    created = entry(desk, "OURS", State.CREATED, kind="products", remote_id=77)
    desk.record(structs.replace(created, body='{"type":"PackagingInfill"}'))
    [step] = desk.plan(PRODUCTS, box).steps
    assert step.ids == {("Product", "OURS"): {"type": "PackagingInfill", "id": 77}}
    made(desk, shown, {"OURS": [MOMENT]})
    desk.record(structs.replace(created, settled_at=MOMENT))
    both = desk.file(header, "PackagingContainer,BOX,Box,OURS", ",OURS,Ours,")
    steps = {step.key: step for step in desk.plan(PRODUCTS, both).steps}
    assert steps["BOX"].ids == {("Product", "OURS"): {"type": "Product", "id": 77}}


def made(desk, shown, skus: dict[str, list[datetime]]) -> None:
    """Let the published file show products of these skus, made at these moments."""
    moments = [(sku, moment) for sku, all_ in skus.items() for moment in all_]
    with duckdb.connect(desk.sync_has_shown(shown)) as connection:
        ids = connection.execute("select id from products where type = 'Product' limit ?", [len(moments)]).fetchall()
        for (id_,), (sku, moment) in zip(ids, moments, strict=True):
            connection.execute("update products set sku = ?, created_at = ? where id = ?", [sku, moment, id_])


PROVEN: dict[str, tuple[tuple[int, ...], bool]] = {
    # a sku: on which days after the create was sent the products of this sku were made, and whether that is proof
    "BEFORE": ((-1,), False),
    "BOTH": ((-1, 1), True),
    "TWICE": ((1, 2), False),
    "AFTER": ((1,), True),
    "MUCH LATER": ((100_000,), False),
}


def test_a_doubt_is_proven_by_one_product_since(desk, shown):
    """The only one that was made since it was sent."""
    made(desk, shown, {sku: [MOMENT + timedelta(days=day) for day in days] for sku, (days, _) in PROVEN.items()})
    bodies = {sku: json.dumps({"name": "Ours", "sku": sku, "type": "Product"}) for sku in PROVEN}
    desk.record(*(entry(desk, sku, State.DOUBT, kind="products", body=body) for sku, body in bodies.items()))
    path = desk.file("sku,name", *(f"{sku},Ours" for sku in PROVEN))
    steps = {step.key: step for step in desk.plan(PRODUCTS, path).steps}
    proven = {sku for sku, (_, is_proof) in PROVEN.items() if is_proof}
    assert {sku for sku, step in steps.items() if step.proven is not None} == proven
    assert {sku: step.action for sku, step in steps.items() if not step.sends} == {
        sku: Action.ALREADY_THERE if sku in proven else Action.IN_DOUBT for sku in PROVEN
    }
    assert {sku for sku, step in steps.items() if "but this may be another one" not in step.why} == proven
    assert {step.key for step in desk.plan(PRODUCTS, path, resend=True).steps if not step.sends} == proven


def test_a_product_known_by_its_sku_is_told(desk, shown):
    made(desk, shown, {"100": [MOMENT]})
    path = desk.file("sku,name", "100,Ours")
    report = desk.push(PRODUCTS, path)
    assert report.counts == {Outcome.ALREADY_THERE: 1}
    assert "1 row counts as already there only because the service has the sku (line 2)" in "\n".join(report.lines())
    assert "of merchant m" in report.rows()[0]["why"]
    desk.record(entry(desk, "Q", State.DOUBT, kind="products"))
    both = desk.file("sku,name", "100,Ours", "Q,Q", name="both.csv")
    assert [step.key for step in desk.plan(PRODUCTS, both, resend=True).steps if step.sends] == ["Q"]
    assert desk.push(PRODUCTS, path, resend=True).counts == {Outcome.CREATED: 1}
    assert desk.push(PRODUCTS, path, resend=True).counts == {Outcome.ALREADY_THERE: 1}


@pytest.mark.parametrize(("login", "calls", "logins"), [("basic", 1, 0), ("session", 2, 1)])
def test_the_merchant_api_is_asked_last(desk, login, calls, logins):
    desk.set(**MERCHANT, merchant_login=login)
    path = desk.file("code,name,parent_retailer_code", f"a,A,{retailer_code(0)}", "b,B,")
    assert desk.push(RETAILERS, path).counts == {Outcome.CREATED: 2}
    asked = [served for served in desk.server.sandbox.requests if served.path == "/api/jsonrpc"]
    assert (len(asked), desk.server.sandbox.logins) == (calls, logins)


def rpc_error(code: int, message: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Response("", 401), "WMS_MERCHANT_API_KEY"),
        (Response("", 403), "WMS_MERCHANT_API_KEY"),
        (Response("<html>", 404), "answered 404"),
        (Response("<html>", 503), "answered 503"),
        (Response("<html>"), "not the JSON-RPC answer"),
        (rpc_error(2, "Access denied."), "Access denied."),
        (rpc_error(-32601, "Method not found."), "Method not found."),
        (rpc_error(108, "Invalid filters given."), "Invalid filters given."),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": "none"}), "an unknown shape"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": [["a", 1]]}), "an unknown shape"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": [{"retailerCode": "a"}]}), "rows that have no code"),
    ],
)
def test_a_silent_merchant_api_holds_dependent_rows_up(desk, answer, told):
    desk.set(**MERCHANT)
    desk.server.sandbox.intercept = lambda request: answer if request.url.path == "/api/jsonrpc" else None
    path = desk.file("code,name,parent_retailer_code", f"a,A,{retailer_code(0)}", "b,B,", "c,C,b")
    report = desk.push(RETAILERS, path)
    assert {one.key: one.outcome for one in report.applied.results} == {
        "a": Outcome.WAITS,
        "b": Outcome.CREATED,
        "c": Outcome.CREATED,
    }
    assert report.exit_code == 3
    [note] = [note for note in report.plan.notes if note.startswith("Warning: the Merchant API could not be called")]
    assert told in note
    desk.server.sandbox.intercept = None
    assert desk.push(RETAILERS, path).exit_code == 0


def test_a_merchant_api_without_paging_is_asked_without(desk):
    desk.set(**MERCHANT)

    async def no_options(request: Request) -> Response | None:
        if request.url.path != "/api/jsonrpc" or len(json.loads(await request.body())["params"][2]) == 1:
            return None
        return rpc_error(-32602, "Invalid params.")

    path = desk.file("code,name,parent_retailer_code", *(f"a{at},A,{retailer_code(at)}" for at in range(12)))
    with_pages = desk.plan(RETAILERS, path)
    desk.server.sandbox.intercept = no_options
    without = desk.plan(RETAILERS, path)
    assert (without.counts, without.unasked) == (with_pages.counts, ())
    assert without.counts[Action.CREATE] > KEYS_WITHOUT_PAGES


def test_the_merchant_api_is_read_page_after_page(desk):
    path = desk.file("sku,name", *(f"P{number},P" for number in range(100)))
    desk.push(PRODUCTS, path)
    desk.set(data_dir=desk.folder / "elsewhere")
    desk.push(PRODUCTS, desk.file("sku,name", "P0,P", name="again.csv"))
    desk.set(data_dir=desk.folder / "third", **MERCHANT)
    skus = "|".join(f"P{number}" for number in range(100))
    header = "type,sku,name,container_options.associated_product_skus"
    [step] = desk.plan(PRODUCTS, desk.file(header, f"PackagingContainer,BOX,Box,{skus}")).steps
    assert step.why.startswith(
        "Refers to Product P0 (container_options.associated_product_skus), but the service has several"
    )


def rpc_row(id_: object, code: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": [{"id": id_, "code": code}]})


IMPOSSIBLE = (2**70, str(2**70), "9" * 5000, -1, True)
PAGES: dict[str, tuple[list[tuple[object, str]], dict[Action, int], str]] = {
    # the id and the code on each page of the Merchant API, what becomes of p1 and two children, what is said
    "shorter pages": ([(71, "p1"), (72, "p2")], {Action.ALREADY_THERE: 1, Action.CREATE: 2}, ""),
    "no end": (
        [(1, f"other{page}") for page in range(1000)],
        {Action.IN_DOUBT: 1, Action.CREATE: 1, Action.WAITS: 1},
        "more than 100 pages",
    ),
    **{
        f"an impossible id: {type(id_).__name__} {str(id_)[:9]}": (
            [(id_, "p1")] * 1000,
            {Action.ALREADY_THERE: 1, Action.WAITS: 1, Action.REJECTED: 1},
            "",
        )
        for id_ in IMPOSSIBLE
    },
}


@pytest.mark.parametrize(("listed", "counts", "says"), PAGES.values(), ids=PAGES)
def test_what_pages_of_the_merchant_api_prove(desk, listed, counts, says):
    """An id that cannot be is as unknown as none."""
    desk.set(**MERCHANT)
    desk.record(entry(desk, "p1", State.DOUBT))
    pages = iter(listed)
    desk.server.sandbox.intercept = lambda request: (
        rpc_row(*next(pages)) if request.url.path == "/api/jsonrpc" else None
    )
    path = desk.file(CHILD, "p1,p1,", "a,A,p1", "b,B,p2")
    plan = desk.plan(RETAILERS, path)
    assert plan.counts == counts
    assert says in "".join(plan.unasked)
    if Action.REJECTED in counts:
        desk.push(RETAILERS, path)
        assert (desk.entries()["p1"].state, desk.entries()["p1"].remote_id) == (State.CREATED, None)


def test_a_doubtful_row_is_sent_with_a_warning(desk):
    path = desk.file("code,name,default_shipping_method", "a,A,ups_ground", "b,B,ups_GROUND", "c,C,pickup")
    plan = desk.plan(RETAILERS, path)
    assert (plan.counts, plan.exit_code) == ({Action.CREATE: 3}, 0)
    assert [bool(step.warnings) for step in plan.steps] == [True, False, True]
    assert plan.rows()[0]["why"].startswith("Warning: default_shipping_method: Is not of the form")
    shown = [line.split()[1:4] for line in plan_lines(plan, limit=10) if " line" in line]
    assert shown == [["2", "a", "Warning:"], ["3", "b"], ["4", "c", "Warning:"]]
    assert [line.split()[1] for line in plan_lines(plan, limit=10, most=2) if " line" in line] == ["2", "4"]

    strict = desk.push(RETAILERS, path)
    assert (strict.counts, strict.exit_code) == ({Outcome.CREATED: 1, Outcome.REJECTED: 2}, 3)
    desk.server.sandbox = Sandbox(LENIENT)
    desk.push(RETAILERS, desk.file("code,name", "z,Z", name="z.csv"))  # this service is new: it takes the id that b has
    report = desk.push(RETAILERS, path)
    assert (report.counts, report.exit_code) == ({Outcome.CREATED: 2, Outcome.ALREADY_THERE: 1}, 0)
    first, *others = (line for line in report.lines() if line.startswith("line"))
    assert "Warning: default_shipping_method" in first
    assert others == ["line 4: created c: as line 2"]
    assert {step.warnings for step in desk.plan(RETAILERS, path).steps} == {()}, "nothing of them is sent any more"


def test_json_is_shown_sent_and_remembered(desk):
    desk.server.sandbox = Sandbox(LENIENT)

    def with_json(said: str):
        return desk.file("sku,name,merchant_id,weight.value,resource_json", f'A,Alpha,12,1.5,"{said}"')

    path = with_json('{""weight"": {""unit"": ""kg""}, ""season"": null, ""tags"": []}')
    body: dict[str, object] = {
        "merchant": {"id": 12, "type": "Merchant"},
        "name": "Alpha",
        "season": None,
        "sku": "A",
        "tags": [],
        "type": "Product",
        "weight": {"unit": "kg", "value": 1.5},
    }
    [step] = desk.plan(PRODUCTS, path).steps
    assert json.loads(step.row["why"].split("Sends ")[1]) == body
    assert desk.push(PRODUCTS, path).counts == {Outcome.CREATED: 1}
    [made] = desk.server.sandbox.products()
    assert {name: made[name] for name in body} == body
    assert json.loads(desk.entries()["A"].body) == body
    assert desk.plan(PRODUCTS, path).counts == {Action.ALREADY_THERE: 1}
    [step] = desk.plan(PRODUCTS, with_json('{""weight"": null}')).steps
    assert step.action is Action.CHANGED
    assert [str(one) for one in step.changes] == [
        "season: null -> nothing",
        "tags: [] -> nothing",
        "weight: nothing -> null",
        'weight.unit: "kg" -> nothing',
        "weight.value: 1.5 -> nothing",
    ]


def test_a_parent_in_json_is_sent_as_given(desk):
    said = '"{""parent_retailer"": {""type"": ""Retailer"", ""id"": 101}}"'
    path = desk.file("code,name,parent_retailer_code,resource_json", f"a,A,nobody,{said}")
    assert desk.push(RETAILERS, path).counts == {Outcome.CREATED: 1}
    assert desk.server.sandbox.retailers()[0]["parent_retailer"] == {"type": "Retailer", "id": 101}


def test_a_row_with_json_shows_sent_ids(desk, shown):
    desk.sync_has_shown(shown)
    rows = f"a,A,{retailer_code(0)},{{}}", "b,B,a,{}", '"c",C,,{}'
    said = '"{""dba"": null}"'
    path = desk.file(f"{CHILD},resource_json", *(row.replace("{}", said) for row in rows))
    told = [json.loads(row["why"].split("Sends ")[1]) for row in desk.plan(RETAILERS, path).rows()]
    assert [one.get("parent_retailer") for one in told] == [
        {"type": "Retailer", "id": retailer_id(0)},
        {"type": "Retailer", "id": "the one that a gets"},
        None,
    ]


def record(path: str = "options.items", *, many: bool = True) -> Record:
    reference = Reference(path, "items", "Product", ("x", "y") if many else ("x",), many)
    return Record(2, "a", {"sku": "a", "options": {"z": 1}}, (reference,))


def test_a_content_depends_on_neither_ids_nor_order():
    assert content(record()) == '{"options":{"items":["x","y"],"z":1},"sku":"a"}'
    assert content(record(many=False)) == '{"options":{"items":"x","z":1},"sku":"a"}'
    turned = Record(9, "a", {"options": {"z": 1}, "sku": "a"}, record().references)
    assert digest(content(turned)) == digest(content(record()))


def test_a_body_has_ids_in_place_of_keys():
    x, y = {"type": "Product", "id": 1}, {"type": "PackagingInfill", "id": 2}
    ids = {("Product", "x"): x, ("Product", "y"): y}
    one = record()
    assert body(one, ids)["options"] == {"z": 1, "items": [x, y]}
    assert body(record(many=False), ids)["options"]["items"] == x
    assert one.body == {"sku": "a", "options": {"z": 1}}, "the record stays as it was"


def fields(*codes: str) -> dict[str, list[dict[str, object]]]:
    """Custom fields of a product, in the order of their columns; a ledger may have them so."""
    return {"custom_fields": [{"code": code, "value": 1} for code in codes]}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": 2}, ["a: 1 -> 2"]),
        ({"a": {"b": "x"}}, {"a": {"b": "y"}}, ['a.b: "x" -> "y"']),
        ({"k": 1}, {"k": 1, "a": "x"}, ['a: nothing -> "x"']),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: [1, 2] -> [2, 1]"]),
        ({"k": 1, "a": {"b": 1}}, {"k": 1}, ["a.b: 1 -> nothing"]),
        ({"a": True}, {"a": False}, ["a: true -> false"]),
        ({"a": 1}, {"a": True}, ["a: 1 -> true"]),
        ({"a": "x"}, {"a": None}, ['a: "x" -> null']),
        ({"k": 1}, {"k": 1, "a": None}, ["a: nothing -> null"]),
        ({"custom_fields": [1]}, {"custom_fields": [{"code": 2}]}, ['custom_fields: [1] -> [{"code": 2}]']),
        (fields("b", "a"), fields("a", "b"), []),
        (fields("b"), fields("a"), ["custom_fields.a.value: nothing -> 1", "custom_fields.b.value: 1 -> nothing"]),
    ],
)
def test_changes_name_the_field_and_both_values(old, new, told):
    assert [str(one) for one in changes(json.dumps(old), json.dumps(new))] == told
